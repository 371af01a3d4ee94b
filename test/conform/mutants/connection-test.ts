/** Bugs of agents that can't be listed, or disappear from it. */
import type { Mutant } from './mutant.ts'

export const conn: readonly Mutant[] = [
  { bug: 'answers-202', kills: 'conn.endpoint-200', beside: ['http.ack-200'] },
  { bug: 'least-price', kills: 'conn.price-zero' },
  { bug: 'ignores-tests', kills: 'conn.callback-arrives' },
  { bug: 'signs-tests-with-their-id', kills: 'conn.callback-signature' },
  { bug: 'works-on-tests', kills: 'conn.test-is-quiet' },
  { bug: 'a-test-replaces-the-task', kills: 'conn.test-beside-work' },
  { bug: 'two-tests', kills: 'conn.test-twice' },
  { bug: 'five-tests-a-day', kills: 'conn.heartbeat-day' },
  { bug: 'keeps-old-secrets', kills: 'conn.new-secret' },
]
