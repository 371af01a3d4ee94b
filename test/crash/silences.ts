/** How long a server that is well gave no answer although it was asked: it hung, or it refused. */

/** One request, by the clock of this process. */
export interface Asked {
  target: string
  from: number
  to: number
  /** Neither cut off nor refused for a fault of the server. */
  isAnswered: boolean
}

/** The longest time between two answers of one server in which a request to it was under way, or failed. */
export function longestSilence(asked: readonly Asked[], since: number): number {
  const targets = new Set(asked.map(({ target }) => target))
  const silences = [...targets].map(name => silenceOf(asked.filter(({ target }) => target === name)))
  return Math.max(0, ...silences)

  function silenceOf(all: readonly Asked[]): number {
    const ends = all.filter(({ isAnswered, to }) => isAnswered && to > since).map(({ to }) => to)
    const points = [since, ...ends.sort((a, b) => a - b)]
    return Math.max(...points.map((at, i) => silenceAfter(all, at, points[i + 1])))
  }
}

function silenceAfter(all: readonly Asked[], at: number, next: number | undefined): number {
  const later = all.filter(({ to }) => to > at)
  if (later.length === 0) return 0
  const end = next ?? Math.max(...later.map(({ to }) => to))
  return end - Math.max(at, Math.min(...later.map(({ from }) => from)))
}

/** The longest that one request took. */
export const slowestOf = (asked: readonly Asked[], since: number): number =>
  Math.max(0, ...asked.filter(({ to }) => to > since).map(({ from, to }) => to - Math.max(since, from)))
