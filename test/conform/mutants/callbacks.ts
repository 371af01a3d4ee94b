/** Bugs of agents that call back wrongly, or too often, or give up. */
import type { Mutant } from './mutant.ts'

export const cb: readonly Mutant[] = [
  { bug: 'address-without-query', kills: 'cb.url' },
  { bug: 'signs-another-spelling', kills: 'cb.signature' },
  {
    bug: 'time-in-seconds',
    kills: 'cb.time-form',
    beside: ['conn.heartbeat-day', 'life.smallest', 'life.price-is-free', 'rel.alive'],
  },
  { bug: 'clock-two-minutes-off', kills: 'cb.clock' },
  { bug: 'clock-ten-minutes-off', kills: 'cb.signature', also: ['cb.clock'] },
  { bug: 'digest-in-base64', kills: 'cb.digest-form' },
  { bug: 'no-content-type', kills: 'cb.json' },
  { bug: 'unknown-action', kills: 'cb.action', also: ['life.delivers'] },
  { bug: 'no-task-id', kills: 'cb.task-id' },
  { bug: 'time-in-whole-seconds', kills: 'cb.unique', also: ['cb.task-id'] },
  { bug: 'gives-up-when-cut', kills: 'cb.lost-accept' },
  { bug: 'works-anew-when-cut', kills: 'cb.lost-deliver' },
  { bug: '502-is-final', kills: 'cb.bad-gateway' },
  { bug: '503-is-final', kills: 'cb.not-committed' },
  { bug: 'ignores-retry-after', kills: 'cb.retry-after' },
  { bug: 'three-second-timeout', kills: 'cb.slow' },
  { bug: 'gives-up-when-down', kills: 'cb.down' },
  { bug: 'repeats-at-once', kills: 'cb.no-storm' },
  // The scenario of the check is left out: what was seen before counts.
  { bug: 'accepts-in-a-loop', kills: 'cb.no-storm', declared: { work: 'manual' } },
  { bug: 'repeats-a-400', kills: 'cb.stops-at-400' },
  { bug: 'repeats-a-401', kills: 'cb.stops-at-401' },
  { bug: 'repeats-a-409', kills: 'cb.lost-race' },
  { bug: 'follows-redirects', kills: 'cb.no-redirect' },
]
