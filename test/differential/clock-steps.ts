/** How time goes by: mostly a little, sometimes to the very moment at which something changes. */
import type { Scene } from './plan.ts'

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

const pauses = [
  [1, 3],
  [1_500, 4],
  [20_000, 4],
  [61_000, 4],
  [600_000, 3],
  [hourMs, 3],
  [4 * hourMs, 2],
  [23 * hourMs, 0.5],
] as const

const longPauses = [
  [48 * hourMs, 4],
  [50 * hourMs, 2],
  [8 * dayMs, 0.5],
  [31 * dayMs, 0.2],
] as const

/** How long the next pause is, in ms. */
export function pauseOf(scene: Scene): number {
  const { random } = scene
  if (random.often(0.08)) return edgeOf(scene)
  return random.weighted(random.often(0.04) ? longPauses : pauses)
}

/** To the end of a day, of 48 hours since a completion, of 20 or 24 hours since a test; exactly, or a millisecond beside. */
function edgeOf({ model, random, now }: Scene): number {
  const after = (time: unknown, ms: number) => (typeof time === 'string' ? Date.parse(time) + ms : 0)
  const moments = [
    now - (now % dayMs) + dayMs,
    now - (now % dayMs) + dayMs,
    ...model.all('task').map(({ completedAt }) => after(completedAt, 2 * dayMs)),
    ...model.all('agt').flatMap(({ lastCheckPassedAt: at }) => [after(at, dayMs), after(at, 20 * hourMs)]),
  ]
  const near = moments.filter(moment => moment > now && moment - now <= 2 * dayMs)
  return random.pick(near) - now + random.pick([0, 0, 0, -1, 1])
}
