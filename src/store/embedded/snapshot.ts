/**
 * The snapshot is an ordinary SQLite file with everything up to a position in the history. A worker replaces it as a whole:
 * temporary file, sync, rename, sync of the folder. Only then is the journal that it has taken in removed.
 *
 * SQLite reserves twenty bytes in the head of its file. This program stores there a checksum of the file, and the value of
 * SQLite's change counter. If the counter has not changed, the file must be exactly the one that was written. If it has,
 * another program has changed the file.
 *
 * It is read and written page by page, so a snapshot of any size needs only the memory of SQLite's page cache.
 */
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { StoreError } from '../db.ts'
import { type Disk, type DiskFile, piecesOf, type ReadableFile, readFully, writeFully } from './disk.ts'
import type { Position } from './frame.ts'
import { restore } from './replay.ts'
import { Engine } from './statements.ts'

export interface Snapshot extends Position {
  engine: Engine
  /** 0 if there is no file yet. */
  bytes: number
  /** True if another program has written to the file since. */
  edited: boolean
}

const STAMP = 72 // where SQLite's reserved bytes begin
const RESERVED = 20
const CHANGE_COUNTER = 24
/** Where the change counter stands a second time; if it is another, SQLite takes the head for an old program's. */
const VALID_FOR = 92
const SIGN = 0x53_4d_41_31

export const temporaryPath = (file: string) => `${file}.tmp`
/** The copy of a draft that had many free pages. */
export const packedPath = (file: string) => `${file}.packed`
/** The suffixes of SQLite's own journals: changes of other programs that are not in the file yet, or are to be undone. */
export const walPath = (file: string) => `${file}-wal`
export const rollbackPath = (file: string) => `${file}-journal`

/** Opens the snapshot in `file`, or an empty database if there is none. Throws a StoreError if it is damaged. */
export const readSnapshot = async (disk: Disk, file: string): Promise<Snapshot> => {
  await refuseUnfinished(disk, file)
  const source = await disk.openToRead(file)
  try {
    if (!source?.size) return { engine: await Engine.open(), seq: 0, chain: 0, bytes: 0, edited: false }
    const edited = !isStamped(source)
    if (!edited) proveWhole(source, file)
    const engine = await Engine.load(source).catch(error => {
      throw damaged(file, (error as Error).message)
    })
    return { engine, ...positionOf(engine, file, edited), bytes: source.size, edited }
  } finally {
    await source?.close()
  }
}

/** Closes the engine if its position can't be read. */
const positionOf = (engine: Engine, file: string, edited: boolean) => {
  try {
    return positionIn(engine, file, edited)
  } catch (error) {
    engine.close()
    throw error instanceof StoreError ? error : damaged(file, (error as Error).message)
  }
}

/** Refuses a file with changes of another program in SQLite's own journals, which the file alone does not have. */
const refuseUnfinished = async (disk: Disk, file: string) => {
  if ((await beginningOf(disk, walPath(file))).length > 0) throw unfinished(walPath(file), file)
  // Some programs keep the journal with zeros at its beginning. Then nothing is to be undone.
  if ((await beginningOf(disk, rollbackPath(file))).some(byte => byte !== 0)) throw unfinished(rollbackPath(file), file)
}

const beginningOf = async (disk: Disk, path: string) => {
  const file = await disk.openToRead(path)
  try {
    const bytes = Buffer.alloc(Math.min(8, file?.size ?? 0))
    if (file) readFully(file, bytes, 0)
    return bytes
  } finally {
    await file?.close()
  }
}

const unfinished = (beside: string, file: string) =>
  new StoreError(
    `${beside} holds changes that another program has not finished. Close that program; if it is gone, run ` +
      `sqlite3 "${file}" .tables, which takes them in or undoes them. Then start again.`,
  )

const isStamped = (file: ReadableFile) => {
  if (file.size <= STAMP + RESERVED) return false
  const head = headOf(file)
  return head.readUInt32LE(STAMP) === SIGN && head.readUInt32LE(STAMP + 8) === head.readUInt32LE(CHANGE_COUNTER)
}

const headOf = (file: ReadableFile) => {
  const head = Buffer.alloc(STAMP + RESERVED)
  readFully(file, head, 0)
  return head
}

/** Throws a StoreError if a stamped file has changed. Calls `use` with each chunk. */
const proveWhole = (source: ReadableFile, file: string, use?: Use) => {
  const expected = headOf(source).readUInt32LE(STAMP + 4)
  if (checksum(source, source.size, use) !== expected) throw damaged(file, 'its checksum is wrong')
}

type Use = (bytes: Buffer, position: number) => void

const checksum = (file: ReadableFile, size: number, use: Use = () => {}) => {
  let sum = 0
  for (const { bytes, position } of piecesOf(file, size)) {
    use(bytes, position)
    sum = position === 0 ? crc32(bytes.subarray(STAMP + RESERVED), crc32(bytes.subarray(0, STAMP))) : crc32(bytes, sum)
  }
  return sum
}

const positionIn = (engine: Engine, file: string, edited: boolean): Position => {
  const [problem] = edited ? engine.column('PRAGMA integrity_check') : ['ok']
  if (problem !== 'ok') throw damaged(file, String(problem))
  const [astray] = edited ? engine.column('PRAGMA foreign_key_check') : []
  if (astray !== undefined) throw damaged(file, `a row of ${astray} refers to one that is not there`)
  const [known] = engine.column(`SELECT COUNT(*) FROM sqlite_schema WHERE name = 'store_position'`)
  if (!known) throw new StoreError(`${file} is an SQLite file, but not one of this program: it has no store_position.`)
  const [seq, chain] = engine.column('SELECT seq FROM store_position UNION ALL SELECT chain FROM store_position')
  return { seq: Number(seq), chain: Number(chain) }
}

const damaged = (file: string, what: string) => new StoreError(`${file} is damaged: ${what}. ${restore(file)}`)

/**
 * A copy of the snapshot in its draft, and an engine that works there: of no use but to be changed and written. While
 * the database is in memory once, the process need not have room for it a second time.
 */
export const copySnapshot = async (disk: Disk, file: string, draft: DiskFile): Promise<Snapshot> => {
  await refuseUnfinished(disk, file)
  const source = await disk.openToRead(file)
  try {
    if (!source?.size) {
      return { engine: await Engine.openOn(draft, 0), seq: 0, chain: 0, bytes: 0, edited: false }
    }
    if (!isStamped(source)) throw new StoreError(`${file} was changed by another program while this one used it.`)
    proveWhole(source, file, (bytes, position) => writeFully(draft, bytes, position))
    const engine = await Engine.openOn(draft, source.size)
    return { engine, ...positionOf(engine, file, false), bytes: source.size, edited: false }
  } finally {
    await source?.close()
  }
}

/** The temporary file of the next snapshot, until it replaces the last one. */
export const openDraft = async (disk: Disk, file: string, path = temporaryPath(file)) => {
  await disk.remove(path)
  return disk.open(path)
}

/** Writes the engine's state as the snapshot that stands at `position`. Returns its size in bytes. Source: A-297. */
export const writeSnapshot = async (disk: Disk, file: string, engine: Engine, position: Position) => {
  if (engine.file && !engine.isSparse) {
    return finish(disk, file, { engine, draft: engine.file, path: temporaryPath(file), position })
  }
  const path = engine.file ? packedPath(file) : temporaryPath(file)
  const draft = await openDraft(disk, file, path)
  let isWritten = false
  try {
    const copy = await Engine.packed(engine, draft)
    try {
      const size = await finish(disk, file, { engine: copy, draft, path, position })
      isWritten = true
      return size
    } finally {
      copy.close()
    }
  } finally {
    await draft.close()
    // Where the disk is full, others need its room.
    if (!isWritten) await disk.remove(path).catch(() => {})
  }
}

interface Finished {
  engine: Engine
  draft: DiskFile
  path: string
  position: Position
}

/** Has a draft say where it stands; it is durable before it takes its place. */
const finish = async (disk: Disk, file: string, { engine, draft, path, position }: Finished) => {
  engine.column(`CREATE TABLE IF NOT EXISTS store_position (
    one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, chain INTEGER NOT NULL) STRICT;
    INSERT OR REPLACE INTO store_position VALUES (1, ${position.seq}, ${position.chain})`)
  const size = engine.fileBytes
  stamp(draft, size, position)
  await draft.datasync()
  await disk.rename(path, file)
  await disk.syncFolder(dirname(file))
  return size
}

/** Another program that writes the file anew counts from one, so the counter is a number that it does not come to by chance. */
const stamp = (draft: DiskFile, size: number, { chain }: Position) => {
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(chain)
  for (const at of [CHANGE_COUNTER, VALID_FOR]) writeFully(draft, counter, at)
  const bytes = Buffer.alloc(RESERVED)
  bytes.writeUInt32LE(SIGN)
  counter.copy(bytes, 8)
  bytes.writeUInt32LE(checksum(draft, size), 4)
  writeFully(draft, bytes, STAMP)
}
