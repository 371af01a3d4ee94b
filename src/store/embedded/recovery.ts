/**
 * Recovery reads the snapshot, then every newer record of the journals.
 *
 * A journal is read frame by frame. Each frame has the checksum of the one before. If the next frame is not intact, the
 * history ends there, in one of two ways:
 *
 * - An intact frame follows later. It was written only when everything before it was durable, so the broken part was damaged
 *   afterwards. The start is refused, because committed transactions would be missing.
 * - No intact frame follows. The last write was under way when the machine stopped. It was never acknowledged, because a
 *   batch is acknowledged after its sync. So it is cut off.
 *
 * One case looks like a torn write but is not: the last batch was acknowledged, no mark follows yet (it comes some
 * milliseconds later, or was lost with the machine), and the batch is damaged afterwards. That takes two faults at once, a
 * crash in those milliseconds and damage to just those bytes. One copy on one disk can't survive that.
 *
 * A new journal is durable before it gets its name, so one without an intact head is damaged. file-state.ts says which files
 * fit together and what is done with them.
 */
import { dirname } from 'node:path'
import { StoreError } from '../db.ts'
import type { Disk } from './disk.ts'
import { type Found, type Misfit, type Part, type State, type Step, stateOf } from './file-state.ts'
import type { Position } from './frame.ts'
import { Journal, journalPath, nextPath, sealedPath } from './journal.ts'
import { damagedAt, type JournalContent, readJournal, replay, restore } from './replay.ts'
import { packedPath, readSnapshot, type Snapshot, temporaryPath, writeSnapshot } from './snapshot.ts'
import type { Engine } from './statements.ts'

export interface Recovered extends Position {
  engine: Engine
  found: Found
  state: State
  snapshotSeq: number
  snapshotBytes: number
  sealed: JournalContent | undefined
  current: JournalContent | undefined
}

/** Which journals to read, and where to open the snapshot: in memory, or in a copy of its file. */
export interface Ways {
  parts?: readonly Part[]
  snapshot?: (disk: Disk, file: string) => Promise<Snapshot>
}

/** Reads `file` and its journals without changing them. Throws a StoreError if anything durable is damaged. */
export const recover = async (
  disk: Disk,
  file: string,
  { parts = ['sealed', 'current'], snapshot = readSnapshot }: Ways = {},
): Promise<Recovered> => {
  const read: JournalContent[] = []
  const journalIn = async (part: Part, path: string) => {
    const journal = parts.includes(part) ? await readJournal(disk, path) : undefined
    if (journal) read.push(journal)
    return journal
  }
  try {
    const sealed = await journalIn('sealed', sealedPath(file))
    const current = await journalIn('current', journalPath(file))
    return replayed(await snapshot(disk, file), file, { sealed, current })
  } finally {
    for (const journal of read) await journal.close()
  }
}

const replayed = (
  { engine, edited, bytes, ...snapshot }: Snapshot,
  file: string,
  { sealed, current }: Pick<Recovered, 'sealed' | 'current'>,
): Recovered => {
  try {
    const found = { snapshot, edited, sealed, current }
    const state = stateOf(found, refusalOf(file, sealed))
    for (const part of state.follow) replay(engine, { sealed, current }[part]!)
    return { engine, ...state.end, found, state, snapshotSeq: snapshot.seq, snapshotBytes: bytes, sealed, current }
  } catch (error) {
    engine.close()
    throw error
  }
}

/** The result of the steps. */
export interface Settled {
  /** The journal to continue, if a step has opened one. */
  journal: Journal | undefined
  snapshotBytes: number
}

/** Runs the steps in order. Each is durable before the next. */
export const runSteps = async (
  disk: Disk,
  file: string,
  { steps, recovered }: { steps: readonly Step[]; recovered: Recovered },
): Promise<Settled> => {
  const { engine, seq, chain, found, current, snapshotBytes } = recovered
  const settled: Settled = { journal: undefined, snapshotBytes }
  const actions: Record<Step, () => Promise<unknown>> = {
    'remove what was not finished': async () => {
      await disk.remove(temporaryPath(file))
      await disk.remove(packedPath(file))
      await disk.remove(nextPath(file))
    },
    'sync snapshot': () => syncFile(disk, file, snapshotBytes),
    'sync names': () => disk.syncFolder(dirname(file)),
    'remove sealed': () => disk.remove(sealedPath(file)),
    'remove current': () => disk.remove(journalPath(file)),
    'begin current': async () => {
      settled.journal = await Journal.create(disk, file, { seq, chain })
    },
    'write current anew': async () => {
      settled.journal = await Journal.renew(disk, file, current!)
    },
    'write snapshot again': async () => {
      settled.snapshotBytes = await writeSnapshot(disk, file, engine, found.snapshot)
    },
    'write snapshot at the end': async () => {
      settled.snapshotBytes = await writeSnapshot(disk, file, engine, { seq, chain })
    },
  }
  try {
    for (const step of steps) await actions[step]()
  } catch (error) {
    await settled.journal?.close().catch(() => {})
    throw error
  }
  return settled
}

/** Syncs a file that may have been copied here a moment ago. */
const syncFile = async (disk: Disk, file: string, bytes: number) => {
  if (bytes === 0) return
  const handle = await disk.open(file)
  try {
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

/** Makes the error for files that don't fit together. */
const refusalOf = (file: string, sealed: JournalContent | undefined) => (misfit: Misfit) => {
  const paths = { snapshot: file, sealed: sealedPath(file), current: journalPath(file) }
  if (misfit.why === 'sealed has no mark') return damagedAt(paths.sealed, sealed!.end.offset)
  if (misfit.why === 'edited below newer records') return editedBelow(file)
  const [a, b] = misfit.parts
  return unrelated(paths[a], paths[b])
}

const unrelated = (a: string, b: string) =>
  new StoreError(`${a} and ${b} don't belong together: one does not begin where the other ends. ${restore(a)}`)

const editedBelow = (file: string) =>
  new StoreError(
    `${file} was changed by another program, or damaged, while its journal held newer records. ${restore(file)}`,
  )
