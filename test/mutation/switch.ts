/** Stands in every changed file: which mutant is on in this process, and which of them it came to. A browser has none on, and imports nothing of Node. */
const node = (globalThis as { process?: NodeJS.Process }).process
const active = Number(node?.env.MUTANT ?? -1)
const reachFile = node?.env.MUTANT_REACH
const reached = new Set<number>()
const shared = globalThis as { mutantsReached?: Set<number> }

/** True for the mutant that is on. Also tells where a run came by: a number that is no mutant is a function's. */
export function on(place: number): boolean {
  if (reachFile !== undefined) note(place, reachFile)
  return place === active
}

/** A process that runs tests looks by itself, after each. Any other notes it at once, as it may be killed at any moment. */
function note(place: number, file: string): void {
  if (shared.mutantsReached) shared.mutantsReached.add(place)
  else if (!reached.has(place)) {
    reached.add(place)
    // A test may have taken away its room for files.
    try {
      node?.getBuiltinModule('node:fs').appendFileSync(file, `${place}\n`)
    } catch {}
  }
}
