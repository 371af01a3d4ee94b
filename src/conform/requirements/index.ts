/**
 * Sets of checks that decide about a run, each frozen on its day with the levels of its checks: what is added or becomes a must later runs
 * and is shown, and breaks no pipeline that names an older set. What becomes milder stays in an older set as it was.
 */
import type { Level } from '../judging/check.ts'
import { of2026November } from './2026-11.ts'
import { of2026December } from './2026-12.ts'

/** Ids of checks, by their level. */
type RequirementSet = Readonly<Record<Level, readonly string[]>>

/** By the name of the set; the newest last. A test knows the hash of each. */
export const requirements: Readonly<Record<string, RequirementSet>> = {
  '2026-11': of2026November,
  '2026-12': of2026December,
}

/** A set by its name, with the ids of its checks, and their levels. */
interface Required {
  readonly name: string
  readonly ids: readonly string[]
  readonly levels: Readonly<Record<string, Level>>
}

/** Returns the set, the newest unless one is named; null: every check decides. Throws a RangeError if there is no such set. */
export function requiredIn(name: string | undefined): Required | null {
  const newest = Object.keys(requirements).at(-1)
  const wanted = name ?? newest
  if (wanted === undefined) return null
  const set = requirements[wanted]
  if (!set) throw new RangeError(`There is no set ${wanted}. The sets: ${Object.keys(requirements).join(', ')}.`)
  const levels = levelsIn(set)
  return { name: wanted, ids: Object.keys(levels), levels }
}

/** @internal A test compares one set with the next. */
export const levelsIn = (set: RequirementSet): Readonly<Record<string, Level>> =>
  Object.fromEntries((Object.keys(set) as Level[]).flatMap(level => set[level].map(id => [id, level])))
