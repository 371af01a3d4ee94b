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

/** By more than a day every agent was hidden until its test is through: whoever moved the clock finds them again, unless one is slow. */
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
