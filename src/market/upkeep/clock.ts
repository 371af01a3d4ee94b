/** The simulator's clock. Source: A-44. */
import { refuse } from '../../api/failures.ts'
import { lastClockMs } from '../../api/limits.ts'
import type { World } from '../../world/world.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { moveClockTo } from './clock-moves.ts'
import { nextMoment } from './timetable.ts'

const clockOf = (world: World) => ({ now: iso(world.now()), offsetMs: world.now() - world.realNow() })

const getClock: Verb<'getClock'> = async ({ tx, world, config }) => {
  const next = await nextMoment(tx, { world, config }, world.now(), 1)
  return { ...clockOf(world), next: next && { at: iso(next.at), ...next.things[0]!, alike: next.total - 1 } }
}

const moveClock: Verb<'moveClock'> = async (ctx, { body }) => {
  const { world, log, caller } = ctx
  const from = world.now()
  const to = body.to ? Date.parse(body.to) : from + (body.advanceMs ?? 0)
  if (to < from) throw refuse('clock_backwards')
  if (to > lastClockMs) throw refuse('clock_too_far', iso(lastClockMs))
  const move = await moveClockTo(ctx, to, { steps: body.steps, jump: body.jump, gone: caller?.gone })
  const clock = clockOf(world)
  log({ type: 'clock', now: clock.now, byMs: world.now() - from })
  return { ...clock, ...move }
}

export const clockVerbs = { getClock, moveClock }
