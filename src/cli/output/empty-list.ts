/** What an empty list says: of what there is none, and what comes next. */

export interface Emptiness {
  /** In the plural, as people call them. */
  readonly things: string
  /** The flags that left others out, as they were typed. */
  readonly filters?: readonly string[]
  /** How all are shown, if flags left others out. */
  readonly all?: string | undefined
  /** A sentence on how the first is made. */
  readonly first?: string | undefined
}

export function noneOf({ things, filters = [], all, first }: Emptiness): string {
  const isPart = filters.length > 0
  const none = `There are no ${things}${isPart ? ` with ${filters.join(' ')}` : ''}.`
  const next = isPart ? all && `All: ${all}` : first
  return next ? `${none} ${next}` : none
}
