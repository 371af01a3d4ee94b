/** The simulator's clock. Source: A-44. */
import { refuse } from '../../api/failures.ts'
import { durations, lastClockMs } from '../../api/limits.ts'
import type { World } from '../../world/world.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'

const clockOf = (world: World) => ({ now: iso(world.now()), offsetMs: world.now() - world.realNow() })
const getClock: Verb<'getClock'> = async ({ world }) => clockOf(world)
const moveClock: Verb<'moveClock'> = async ({ db, world }, { body }) => {
  const to = body.to ? Date.parse(body.to) : world.now() + (body.advanceMs ?? 0)
  if (to < world.now()) throw refuse('clock_backwards')
  if (to > lastClockMs) throw refuse('clock_too_far', iso(lastClockMs))
  world.advance(to)
  await db.write(tx =>
    tx.run(
      `INSERT INTO settings (name, value) VALUES ('clock_offset_ms', $1)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [String(world.now() - world.realNow())],
    ),
  )
  await caughtUp(world)
  return clockOf(world)
}

/**
 * Waits until the heartbeats that fell due are done, for a bounded time. After more than a day agents are hidden until
 * their test passes.
 */
function caughtUp(world: World): Promise<void> {
  return new Promise(resolve => {
    const enough = world.after(durations.clockMoveMs, resolve)
    const done = () => {
      enough.cancel()
      resolve()
    }
    void (world.caughtUp?.() ?? Promise.resolve()).then(done)
  })
}

export const clockVerbs = { getClock, moveClock }
