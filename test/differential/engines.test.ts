// engines: postgres; process: own
/**
 * Two marketplaces, one on the embedded engine and one on Postgres, are asked the same, step by step: same answers, same
 * webhooks, same rows. In greater numbers: npm run test:differential. Each opens a database of `freshDatabase`.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { walk } from './walk.ts'

/** What no engine holds: exchanges and the stream of the log, which are only asked for in vain here. */
const IN_MEMORY = new Set(['getExchange', 'watchEvents'])

test('5,000 random steps over all endpoints: both engines answer, send and keep the same', async () => {
  const { answers } = await walk({ seed: 'the same each time', steps: 5_000, tablesEvery: 1_000 })
  const unanswered = [...answers].filter(([name, { good }]) => good === 0 && !IN_MEMORY.has(name)).map(([name]) => name)
  const unrefused = [...answers].filter(([, { bad }]) => bad === 0).map(([name]) => name)
  assert.equal(unanswered, [], 'every endpoint was answered with 2xx')
  assert.equal(unrefused, [], 'every endpoint was answered with 4xx')
})

test.run()
