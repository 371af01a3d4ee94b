/**
 * Decides which files of a database fit together, and what to do with them. Start, snapshot, backup, check and `db snapshot`
 * all use this one table. It looks only at the positions of the files in the history.
 *
 * The history is a line. The sealed journal begins where the snapshot was when the journal began, and the current journal
 * begins where the sealed one ends. A snapshot that takes a journal in moves along that line, from the journal's beginning to
 * its end. The journal is removed only afterwards. So after a crash one of these states is found:
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
 * Any other combination was never written by this program and is refused. An unfinished snapshot and a journal that was not
 * begun have nothing that was acknowledged, so they are ignored.
 */
import { type Position, same } from './frame.ts'

export type Part = 'sealed' | 'current'

/**
 * The positions where a journal begins and ends.
 * @internal Tests make them up.
 */
export interface Span {
  start: Position
  end: Position
  /** True if it ends in its mark, which is written when all before it is durable. */
  marked: boolean
}

export interface Found {
  /** The snapshot's position: the beginning of the history if there is no snapshot yet. */
  snapshot: Position
  /** True if another program has changed the snapshot. */
  edited: boolean
  sealed: Span | undefined
  current: Span | undefined
}

/** Why the files of a database don't fit together. */
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
  /** Stamps a snapshot that another program has changed, at its position. */
  | 'write snapshot again'
  | 'write snapshot at the end'

export interface State {
  name: string
  /** The journals that the snapshot has not taken in, in order. */
  follow: readonly Part[]
  /** The journals that the snapshot has taken in. */
  takenIn: readonly Part[]
  /** Where the history ends. */
  end: Position
}

/** Returns the state of the files. Throws what `misfit` returns if they don't fit together. */
export const stateOf = (found: Found, misfit: (what: Misfit) => Error): State => {
  const { snapshot, edited, sealed, current } = found
  // A sealed journal was closed with a mark and synced before it got its name.
  if (sealed && !sealed.marked) throw misfit({ why: 'sealed has no mark' })
  if (sealed && current && !same(sealed.end, current.start)) {
    throw misfit({ why: 'apart', parts: ['sealed', 'current'] })
  }
  const parts = (['sealed', 'current'] as const).filter(part => found[part])
  const last = found[parts.at(-1)!]
  const positions = [...parts.map(part => found[part]!.start), last?.end ?? snapshot]
  const folded = positions.findIndex(position => same(position, snapshot))
  if (folded < 0) throw misfit({ why: 'apart', parts: ['snapshot', parts.at(-1)!] })
  const [takenIn, follow] = [parts.slice(0, folded), parts.slice(folded)]
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
 * The steps of a start, before any request can read. The files may be only in the system's memory: written by a process that
 * was killed, or left by a failed sync, after which the next sync would report success. A mark proves that a journal is
 * durable; one without a mark is copied to a new file. Names are made durable before the files that they replace are removed.
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

/** The steps that fold the sealed journal into the snapshot while the current one is written. */
export const stepsOfFold = ({ follow, takenIn }: State): Step[] => {
  if (follow.includes('sealed')) return ['write snapshot at the end', 'remove sealed', 'sync names']
  // A snapshot that was interrupted after its rename left this journal. The rename may not be durable yet.
  return takenIn.includes('sealed') ? ['sync names', 'remove sealed', 'sync names'] : []
}

/**
 * The steps that fold everything into the snapshot, so that it is the only file. The journal must be durable first; otherwise
 * the snapshot could have more than the journal on the disk. The sealed journal is removed first, because no other file ends
 * where it begins.
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
