/**
 * Which files of a database fit together, and what is to be done with them: one table for start, snapshot, backup, check
 * and `db snapshot`. It knows the files by their places in the history alone.
 *
 * The history is a line: the sealed journal goes on where the snapshot stood when it was begun, and the current journal
 * where the sealed one ends. A snapshot that takes journals in moves along that line, from the beginning of one to its
 * end; the journal is removed only afterwards. So of each pair of moments, before and after a step, one is found:
 *
 *     snapshot stands                  sealed     current    state
 *     anywhere                         -          -          snapshot alone
 *     where current begins             -          yes        current follows
 *     where current ends               -          yes        current taken in
 *     where sealed begins              yes        -          sealed follows
 *     where sealed ends                yes        -          sealed taken in
 *     where sealed begins              yes        yes        both follow
 *     where sealed ends                yes        yes        sealed taken in, current follows
 *     where current ends               yes        yes        both taken in
 *
 * Whatever else is found was never written so: it is refused. A snapshot that was not finished and a journal that was not
 * begun hold nothing that anybody was told of, so they count for nothing.
 */
import { type Position, same } from './frame.ts'

export type Part = 'sealed' | 'current'

/**
 * Where a journal begins and ends in the history.
 * @internal Tests make them up.
 */
export interface Span {
  start: Position
  end: Position
  /** True if it ends in its mark, which is written when all before it is durable. */
  marked: boolean
}

export interface Found {
  /** The beginning of the history if there is no snapshot yet. */
  snapshot: Position
  /** True if another program has changed the snapshot. */
  edited: boolean
  sealed: Span | undefined
  current: Span | undefined
}

/** Why the files of a database don't make one history. */
export type Misfit =
  | { why: 'sealed has no mark' }
  | { why: 'apart'; parts: readonly ['sealed', 'current'] | readonly ['snapshot', Part] }
  | { why: 'edited below newer records' }

export type Step =
  | 'remove what was not finished'
  | 'sync snapshot'
  | 'sync names'
  | 'remove sealed'
  | 'remove current'
  | 'begin current'
  | 'write current anew'
  /** As our own again, where it stands. */
  | 'write snapshot again'
  | 'write snapshot at the end'

export interface State {
  name: string
  /** The journals that the snapshot has not taken in, in their order. */
  follow: readonly Part[]
  /** The journals that it has taken in. */
  takenIn: readonly Part[]
  /** Where the history ends. */
  end: Position
}

/** The state of the files. `misfit` makes the error that is thrown if they don't fit together. */
export const stateOf = (found: Found, misfit: (what: Misfit) => Error): State => {
  const { snapshot, edited, sealed, current } = found
  // It was closed with a mark, and synced, before it got its name.
  if (sealed && !sealed.marked) throw misfit({ why: 'sealed has no mark' })
  if (sealed && current && !same(sealed.end, current.start)) {
    throw misfit({ why: 'apart', parts: ['sealed', 'current'] })
  }
  const parts = (['sealed', 'current'] as const).filter(part => found[part])
  const last = found[parts.at(-1)!]
  const places = [...parts.map(part => found[part]!.start), last?.end ?? snapshot]
  const taken = places.findIndex(place => same(place, snapshot))
  if (taken < 0) throw misfit({ why: 'apart', parts: ['snapshot', parts.at(-1)!] })
  const [takenIn, follow] = [parts.slice(0, taken), parts.slice(taken)]
  if (edited && follow.some(part => found[part]!.end.seq > found[part]!.start.seq)) {
    throw misfit({ why: 'edited below newer records' })
  }
  return { name: nameOf(takenIn, follow), follow, takenIn, end: last?.end ?? snapshot }
}

const nameOf = (takenIn: readonly Part[], follow: readonly Part[]) =>
  [
    ...(takenIn.length > 0 ? [`${together(takenIn)} taken in`] : []),
    ...(follow.length > 0 ? [together(follow) + (follow.length > 1 ? ' follow' : ' follows')] : []),
  ].join(', ') || 'snapshot alone'

const together = (parts: readonly Part[]) => (parts.length > 1 ? 'both' : parts[0]!)

/**
 * Before anybody is shown what was found. What is there may be only in the system's memory: written by a process that was
 * killed, or left by a sync that failed, after which the next would say that all is well. A mark tells that the journal is
 * durable; one without is copied to a new file. Names are made durable before anything is removed that they replace.
 */
export const stepsOfStart = ({ follow, takenIn }: State, { edited, current }: Found, anew = false): Step[] => [
  'remove what was not finished',
  'sync snapshot',
  'sync names',
  ...(takenIn.includes('sealed') ? (['remove sealed', 'sync names'] as const) : []),
  ...(follow.includes('current')
    ? anew || !current!.marked
      ? (['write current anew'] as const)
      : []
    : (['begin current'] as const)),
  ...(edited ? (['write snapshot again'] as const) : []),
]

/** Taking the sealed journal into the snapshot while the current one is being written. */
export const stepsOfFold = ({ follow, takenIn }: State): Step[] => {
  if (follow.includes('sealed')) return ['write snapshot at the end', 'remove sealed', 'sync names']
  // Left by one that was interrupted, or failed, behind the rename: which may not be durable yet.
  return takenIn.includes('sealed') ? ['sync names', 'remove sealed', 'sync names'] : []
}

/**
 * Taking everything into the snapshot, so that it stands alone. The journal must be durable first: a snapshot that has
 * taken in more than the medium has of it would fit nowhere. The sealed one goes first, as no other file ends where it begins.
 */
export const stepsOfSnapshot = ({ follow, takenIn }: State, found: Found): Step[] => {
  const parts = [...takenIn, ...follow]
  return [
    'remove what was not finished',
    'sync snapshot',
    'sync names',
    ...(follow.includes('current') && !found.current!.marked ? (['write current anew'] as const) : []),
    ...(follow.length > 0 || found.edited ? (['write snapshot at the end'] as const) : []),
    ...parts.flatMap(part => [`remove ${part}`, 'sync names'] as const),
  ]
}
