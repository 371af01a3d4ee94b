/**
 * Sets of checks that decide about a run, each frozen on its day: a check that is added later runs and is shown, and breaks no pipeline
 * that names an older set.
 */
import { of2026November } from './2026-11.ts'

/** Ids of checks, by the name of the set; the newest last. A test knows the hash of each. */
export const requirements: Readonly<Record<string, readonly string[]>> = { '2026-11': of2026November }

/** Returns the set, the newest unless one is named; null: every check decides. Throws a RangeError if there is no such set. */
export function requiredIn(name: string | undefined): { name: string; ids: readonly string[] } | null {
  const newest = Object.keys(requirements).at(-1)
  const wanted = name ?? newest
  if (wanted === undefined) return null
  const ids = requirements[wanted]
  if (!ids) throw new RangeError(`There is no set ${wanted}. The sets: ${Object.keys(requirements).join(', ')}.`)
  return { name: wanted, ids }
}
