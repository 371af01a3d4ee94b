/**
 * Starting again: the snapshot, then every record of the journals that is newer.
 *
 * A journal is read frame by frame, each naming the checksum of the one before. Where the next frame isn't intact the
 * file ends, one way or the other:
 *
 * - an intact frame stands further on: it was written only when all before it was durable, so what is broken here was
 *   damaged later. The start is refused, for a history with a hole in it would be another history;
 * - none stands further on: the write was under way when the machine stopped. Nobody was told of it (a batch is told of
 *   after its sync), so it is cut off.
 *
 * One case can't be told apart: a last batch that was durable and told of, that no mark follows yet (the mark comes some
 * milliseconds later, or was lost with the machine), and that is damaged afterwards, looks like a torn write. Two faults
 * at once, a crash in those milliseconds and damage to just those bytes, are beyond one copy on one disk.
 *
 * A new journal is durable before it gets its name: one without an intact head is damaged. Which files fit together, and
 * what is done with them, is said in file-state.ts.
 */
import { dirname } from 'node:path'
import { StoreError } from '../db.ts'
import type { Disk } from './disk.ts'
import { type Found, type Misfit, type Part, type State, type Step, stateOf } from './file-state.ts'
import type { Position } from './frame.ts'
import { Journal, journalPath, nextPath, sealedPath } from './journal.ts'
import { damagedAt, type JournalContent, readJournal, replay, restore } from './replay.ts'
import { readSnapshot, type Snapshot, temporaryPath, writeSnapshot } from './snapshot.ts'
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

/** Which journals are read, and how the snapshot is: in memory, or in a copy of its file. */
export interface Ways {
  parts?: readonly Part[]
  snapshot?: (disk: Disk, file: string) => Promise<Snapshot>
}

/** Reads `file` and its journals and changes nothing in them. Throws a StoreError if anything durable is damaged. */
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

/** What taking the steps has led to. */
export interface Settled {
  /** Where writing goes on, if a step has opened it. */
  journal: Journal | undefined
  snapshotBytes: number
}

/** Takes the steps one by one; each is durable before the next. */
export const takeSteps = async (
  disk: Disk,
  file: string,
  { steps, recovered }: { steps: readonly Step[]; recovered: Recovered },
): Promise<Settled> => {
  const { engine, seq, chain, found, current, snapshotBytes } = recovered
  const settled: Settled = { journal: undefined, snapshotBytes }
  const actions: Record<Step, () => Promise<unknown>> = {
    'remove what was not finished': async () => {
      await disk.remove(temporaryPath(file))
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

/** Somebody may have copied it here a moment ago. */
const syncFile = async (disk: Disk, file: string, bytes: number) => {
  if (bytes === 0) return
  const handle = await disk.open(file)
  try {
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

/** The error for files that don't fit together. */
const refusalOf = (file: string, sealed: JournalContent | undefined) => (misfit: Misfit) => {
  const paths = { snapshot: file, sealed: sealedPath(file), current: journalPath(file) }
  if (misfit.why === 'sealed has no mark') return damagedAt(paths.sealed, sealed!.end.offset)
  if (misfit.why === 'edited below newer records') return editedBelow(file)
  const [a, b] = misfit.parts
  return unrelated(paths[a], paths[b])
}

const unrelated = (a: string, b: string) =>
  new StoreError(`${a} and ${b} don't belong together: one does not begin where the other ends. ${restore}`)

const editedBelow = (file: string) =>
  new StoreError(`${file} was changed by another program, or damaged, while its journal held newer records. ${restore}`)
