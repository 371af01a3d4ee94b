/** Stands in every changed file: which mutant is on in this process, and which of them it came to. */
import { appendFileSync } from 'node:fs'

const active = Number(process.env.MUTANT ?? -1)
const reachFile = process.env.MUTANT_REACH
const reached = new Set<number>()

/** True for the mutant that is on. Also tells where a run came by: a number that is no mutant is a function's. */
export function on(place: number): boolean {
  if (reachFile !== undefined && !reached.has(place)) note(place, reachFile)
  return place === active
}

/** At once, as a process of a test may be killed at any moment. */
function note(place: number, file: string): void {
  reached.add(place)
  appendFileSync(file, `${place}\n`)
}
