/** Selects the checks of a run. */
import type { Check, Level } from './check.ts'

/** `wanted`: ids, or areas. Returns the checks in the order of the census. */
export function selected(checks: readonly Check[], wanted: readonly string[]): readonly Check[] {
  return checks.filter(({ id }) => wanted.some(one => id === one || id.startsWith(`${one}.`)))
}

/** Returns the names that no check has. */
export const unknownIn = (checks: readonly Check[], wanted: readonly string[]): string[] =>
  wanted.filter(one => selected(checks, [one]).length === 0)

/** The checks with the same ids, as this census has them. */
export const those = (census: readonly Check[], some: readonly Check[]): readonly Check[] =>
  census.filter(({ id }) => some.some(one => one.id === id))

/** The ids of some checks, for the history of a run that was asked for no others; nothing where it was asked for all. */
export const chosenAmong = (all: readonly Check[], some: readonly Check[]): { readonly chosen?: readonly string[] } =>
  some.length === all.length ? {} : { chosen: some.map(({ id }) => id) }

/** The checks with the levels that a set of requirements gives them; those that it does not have stay as they are. */
export const withLevels = (checks: readonly Check[], levels: Readonly<Record<string, Level>> = {}): readonly Check[] =>
  checks.map(check => ({ ...check, level: levels[check.id] ?? check.level }))

/** The checks together with those that they depend on. */
export function withPrerequisites(all: readonly Check[], some: readonly Check[]): readonly Check[] {
  const needed = new Set<string>()
  const add = ({ id, after = [] }: Check) => {
    if (needed.has(id)) return
    needed.add(id)
    for (const before of after) all.filter(check => check.id === before).forEach(add)
  }
  some.forEach(add)
  return all.filter(({ id }) => needed.has(id))
}
