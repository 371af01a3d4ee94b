/** Of many names, the first and how many there are. */

/** So many names are told, however many there are. */
const MOST_NAMES = 20

export interface SomeNames {
  count: number
  names: string[]
}

export const noNames = (): SomeNames => ({ count: 0, names: [] })

export function addName(some: SomeNames, name: string): void {
  some.count++
  if (some.names.length < MOST_NAMES) some.names.push(name)
}
