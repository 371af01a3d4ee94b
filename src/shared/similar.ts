/** Whether somebody may have meant another word than he wrote. */

const MOST = 2

/** Whether one is the other but for two letters at most. */
export const areSimilar = (one: string, other: string) => distance(one, other) <= MOST

/** How many letters have to be changed, added or left out. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (let to = 1; to <= other.length; to++)
      next[to] = Math.min(row[to]! + 1, next[to - 1]! + 1, row[to - 1]! + (letter === other[to - 1] ? 0 : 1))
    row = next
  }
  return row[other.length]!
}
