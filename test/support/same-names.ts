/** Compares long lists by what differs: a failure prints the missing rows alone, and not all that are there. */
import * as assert from 'uvu/assert'

/** In any order, each as often as it is expected. `advice` says what to do about a difference. */
export function sameNames(actual: Iterable<string>, expected: Iterable<string>, advice?: string): void {
  const [given, wanted] = [[...actual], [...expected]]
  const said = Object.entries({ missing: without(wanted, given), 'too much': without(given, wanted) })
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what}: ${names.join(', ')}`)
  if (said.length > 0) assert.unreachable([...said, ...(advice ? [advice] : [])].join('; '))
}

/** What is left of `all` when each of `others` has taken one away. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...all]
  for (const name of others) {
    const at = left.indexOf(name)
    if (at !== -1) left.splice(at, 1)
  }
  return left
}
