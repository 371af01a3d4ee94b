/** Which checks a command line is about: all, or those that it names. */

import { checks } from '../../conform/checks/index.ts'
import type { History } from '../../conform/history/history.ts'
import type { Check } from '../../conform/judging/check.ts'
import { selected, unknownIn } from '../../conform/judging/selection.ts'
import { UsageError } from '../../settings/config.ts'
import { areSimilar } from '../../shared/similar.ts'

export interface ChoiceFlags {
  only?: string[]
  skip?: string[]
}

/** `played`: what there is to choose from where nobody says --only. */
export function chosenChecks({ only, skip }: ChoiceFlags, played: readonly Check[] = checks): readonly Check[] {
  const kept = only ? selected(checks, namesIn(only)) : played
  const left = skip ? selected(checks, namesIn(skip)) : []
  const chosen = kept.filter(check => !left.includes(check))
  if (chosen.length === 0)
    throw new UsageError(`No check is left: --skip names all that ${only ? '--only does' : 'there are'}.`)
  return chosen
}

/** The checks that a run was asked for, as its history says. The file may be of anybody, and of a version with other checks. */
export function checksOf(history: History | null): readonly Check[] {
  const ids: unknown = history?.begin.chosen
  const those = Array.isArray(ids) ? checks.filter(({ id }) => ids.includes(id)) : []
  return those.length > 0 ? those : checks
}

/** Says that a run was asked for some checks alone, and so its report is of no others; null: it was asked for all, or --only names some. */
export function partInWords({ only }: ChoiceFlags, played: readonly Check[]): string | null {
  if (only || played.length === checks.length) return null
  return `The run was asked for ${played.length} of ${checks.length} checks, and the report is about those: --only names others.`
}

function namesIn(lists: readonly string[]): string[] {
  const names = lists.flatMap(list => list.split(',')).filter(name => name !== '')
  if (names.length === 0)
    throw new UsageError('--only and --skip take ids of checks, or areas, such as sig or dup.retry.')
  const [unknown] = unknownIn(checks, names)
  if (unknown !== undefined) throw noCheck(unknown)
  return names
}

export function checkNamed(wanted: string): Check {
  const check = checks.find(({ id }) => id === wanted)
  if (!check) throw noCheck(wanted)
  return check
}

function noCheck(name: string): UsageError {
  const areas = [...new Set(checks.map(({ id }) => id.split('.', 1)[0]!))]
  const near = checks.map(({ id }) => id).find(id => isNear(id, name)) ?? null
  const advice = near === null ? `The areas: ${areas.join(', ')}; --list shows all.` : `Did you mean ${near}?`
  return new UsageError(`There is no check ${name}. ${advice}`)
}

/** Whether one is the other but for some letters, or for its area. */
const isNear = (id: string, name: string) => id.endsWith(`.${name}`) || areSimilar(id, name)
