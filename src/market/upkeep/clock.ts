/** The simulator's clock. Source: A-44. */
import { refuse } from '../../api/failures.ts'
import { lastClockMs } from '../../api/limits.ts'
import type { Market } from '../market.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { moveClockTo } from './clock-moves.ts'
import { ClockScale } from './clock-scale.ts'
import { dueThings, nextMoment } from './timetable.ts'

export const clockOf = ({ world, memory }: Pick<Market, 'world' | 'memory'>) => ({
  now: iso(world.now()),
  offsetMs: world.now() - world.realNow(),
  scale: memory.of(ClockScale).scale,
})

const getClock: Verb<'getClock'> = async (ctx, { query: { limit = 1 } }) => {
  const { tx, world } = ctx
  const [next, due] = await Promise.all([nextMoment(tx, ctx, world.now(), 1), dueThings(tx, ctx, world.now(), limit)])
  return { ...clockOf(ctx), due, next: next && { at: iso(next.at), ...next.things[0]!, alike: next.total - 1 } }
}

const moveClock: Verb<'moveClock'> = async (ctx, { body }) => {
  const { world, log, caller } = ctx
  const from = world.now()
  const to = body.to ? Date.parse(body.to) : from + (body.advanceMs ?? 0)
  if (to < from) throw refuse('clock_backwards')
  if (to > lastClockMs) throw refuse('clock_too_far', iso(lastClockMs))
  const move = await moveClockTo(ctx, to, { steps: body.steps, jump: body.jump, gone: caller?.gone })
  const clock = clockOf(ctx)
  log({ type: 'clock', now: clock.now, byMs: world.now() - from })
  return { ...clock, ...move }
}

const scaleClock: Verb<'scaleClock'> = async (ctx, { body }) => {
  ctx.memory.of(ClockScale).set(ctx, body.scale)
  return clockOf(ctx)
}

export const clockVerbs = { getClock, moveClock, scaleClock }
