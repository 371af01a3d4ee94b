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
 * A sealed journal was closed with a mark and synced before it got its name: one that doesn't end in its mark is damaged.
 * A new journal is durable before it gets its name: one without an intact head is damaged.
 */
import { dirname } from 'node:path'
import { StoreError } from './db.ts'
import type { Disk } from './disk.ts'
import type { Engine } from './engine.ts'
import { type Position, same } from './frame.ts'
import { Journal, journalPath, nextPath, sealedPath } from './journal.ts'
import { damagedAt, type JournalContent, readJournal, replay, restore } from './replay.ts'
import { readSnapshot, temporaryPath } from './snapshot.ts'

export interface Recovered extends Position {
  engine: Engine
  snapshotSeq: number
  snapshotBytes: number
  /** True if another program has changed the snapshot. */
  edited: boolean
  sealed: JournalContent | undefined
  current: JournalContent | undefined
}

/** Reads `file` and its journals and changes nothing on the disk. Throws a StoreError if anything durable is damaged. */
export const recover = async (disk: Disk, file: string): Promise<Recovered> => {
  const sealed = await readJournal(disk, sealedPath(file))
  if (sealed && !sealed.marked) throw damagedAt(sealed.path, sealed.end.offset)
  const current = await readJournal(disk, journalPath(file))
  const journals = [sealed, current].filter(journal => journal !== undefined)
  if (sealed && current && !same(sealed.end, current.start)) throw unrelated(sealed.path, current.path)
  const { engine, edited, bytes, ...snapshot } = await readSnapshot(disk, file)
  try {
    if (edited && journals.some(({ records }) => records > 0)) throw editedBelow(file)
    const newer = newerThan(snapshot, journals, file)
    for (const journal of newer) replay(engine, journal)
    const { seq, chain } = newer.at(-1)?.end ?? current?.end ?? sealed?.end ?? snapshot
    return { engine, seq, chain, snapshotSeq: snapshot.seq, snapshotBytes: bytes, edited, sealed, current }
  } catch (error) {
    engine.close()
    throw error
  }
}

/** The journals that the snapshot has not taken in. */
const newerThan = (snapshot: Position, journals: readonly JournalContent[], file: string) => {
  const from = journals.findIndex(({ start }) => same(start, snapshot))
  if (from >= 0) return journals.slice(from)
  const last = journals.at(-1)
  if (last && !same(last.end, snapshot)) throw unrelated(file, last.path)
  return []
}

/** Makes the disk agree with what was recovered, and opens the journal where writing goes on. */
export const resumeJournal = async (disk: Disk, file: string, { current, seq, chain }: Recovered) => {
  await disk.remove(temporaryPath(file))
  await disk.remove(nextPath(file))
  if (!current) return Journal.create(disk, file, { seq, chain })
  const end = { ...current.end }
  if (current.tornBytes) {
    const handle = await disk.open(current.path)
    await handle.truncate(end.offset)
    await handle.close()
    end.length = end.offset
  }
  // A crash may have come between a rename and the sync of the folder: what is built upon must be durable.
  await disk.syncFolder(dirname(file))
  return Journal.resume(disk, file, current.start.seq, end)
}

const unrelated = (a: string, b: string) =>
  new StoreError(`${a} and ${b} don't belong together: one does not begin where the other ends. ${restore}`)

const editedBelow = (file: string) =>
  new StoreError(`${file} was changed by another program, or damaged, while its journal held newer records. ${restore}`)
