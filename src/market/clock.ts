/** The simulator's clock. Source: D44. */
import { refuse } from '../api/failures.ts'
import type { World } from '../world/world.ts'
import { iso } from './time.ts'
import type { Verb } from './verb.ts'

const clockOf = (world: World) => ({ now: iso(world.now()), offsetMs: world.now() - world.realNow() })
const getClock: Verb<'getClock'> = async ({ world }) => clockOf(world)
const moveClock: Verb<'moveClock'> = async ({ db, world }, { body }) => {
  const to = body.to ? Date.parse(body.to) : world.now() + (body.advanceMs ?? 0)
  if (to < world.now()) throw refuse('clock_backwards')
  world.advance(to)
  await db.write(tx =>
    tx.run(
      `INSERT INTO settings (name, value) VALUES ('clock_offset_ms', $1)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [String(world.now() - world.realNow())],
    ),
  )
  return clockOf(world)
}
export const clockVerbs = { getClock, moveClock }
