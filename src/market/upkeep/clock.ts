/** The simulator's clock. Source: A-44. */
import { refuse } from '../../api/failures.ts'
import { durations, lastClockMs } from '../../api/limits.ts'
import type { Reader } from '../../store/db.ts'
import { setSetting, settingNamed } from '../../store/tables/settings.ts'
import type { World } from '../../world/world.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'

const OFFSET = 'clock_offset_ms'

/** How far the clock was ahead of the machine's when it was moved last, in this process or an earlier one. */
export const clockOffset = async (q: Reader) => Number((await settingNamed(q, OFFSET)) ?? 0)

const clockOf = (world: World) => ({ now: iso(world.now()), offsetMs: world.now() - world.realNow() })
const getClock: Verb<'getClock'> = async ({ world }) => clockOf(world)
const moveClock: Verb<'moveClock'> = async ({ db, world }, { body }) => {
  const to = body.to ? Date.parse(body.to) : world.now() + (body.advanceMs ?? 0)
  if (to < world.now()) throw refuse('clock_backwards')
  if (to > lastClockMs) throw refuse('clock_too_far', iso(lastClockMs))
  world.advance(to)
  await db.write(tx => setSetting(tx, OFFSET, String(world.now() - world.realNow())))
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
