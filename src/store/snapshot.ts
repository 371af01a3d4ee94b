/**
 * The snapshot: an ordinary SQLite file that holds everything up to a position in the history. It is replaced as a whole
 * (temporary file, sync, rename, sync of the folder), aside in a worker, and only then is the journal that it has taken
 * in removed.
 *
 * SQLite keeps twenty bytes of its file's head in reserve. A checksum of the file stands there, with SQLite's own change
 * counter as it was: if the counter still agrees, the file must be byte for byte the one that was written; if not,
 * another program has changed it since.
 */
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { StoreError } from './db.ts'
import { type Disk, writeFully } from './disk.ts'
import { Engine } from './engine.ts'
import type { Position } from './frame.ts'
import { sealedPath } from './journal.ts'
import { readJournal, replay, restore } from './replay.ts'

export interface Snapshot extends Position {
  engine: Engine
  /** 0 if there is no file yet. */
  bytes: number
  /** True if another program has written to the file since. */
  edited: boolean
}

const STAMP = 72 // where SQLite's reserve begins
const RESERVED = 20
const CHANGE_COUNTER = 24
const SIGN = 0x53_4d_41_31

export const temporaryPath = (file: string) => `${file}.tmp`
/** Where other programs of SQLite keep what is not in the file yet, and what is to be undone in it. */
export const walPath = (file: string) => `${file}-wal`
export const rollbackPath = (file: string) => `${file}-journal`

/** The snapshot in `file`, or an empty database at the beginning of history. Throws a StoreError if it is damaged. */
export const readSnapshot = async (disk: Disk, file: string): Promise<Snapshot> => {
  await refuseUnfinished(disk, file)
  const bytes = await disk.read(file)
  if (!bytes?.length) return { engine: await Engine.open(), seq: 0, chain: 0, bytes: 0, edited: false }
  const edited = !isStamped(bytes)
  if (!edited && bytes.readUInt32LE(STAMP + 4) !== checksum(bytes)) throw damaged(file, 'its checksum is wrong')
  const engine = await Engine.open(bytes).catch(error => {
    throw damaged(file, (error as Error).message)
  })
  try {
    return { engine, ...positionIn(engine, file, edited), bytes: bytes.length, edited }
  } catch (error) {
    engine.close()
    throw error instanceof StoreError ? error : damaged(file, (error as Error).message)
  }
}

/** Another program's changes that SQLite would find beside the file, and that the file alone does not have. */
const refuseUnfinished = async (disk: Disk, file: string) => {
  const wal = await disk.read(walPath(file))
  if (wal?.length) throw unfinished(walPath(file), file)
  const rollback = await disk.read(rollbackPath(file))
  // Kept by some programs, with zeros where it would begin: nothing is to be undone then.
  if (rollback?.subarray(0, 8).some(byte => byte !== 0)) throw unfinished(rollbackPath(file), file)
}

const unfinished = (beside: string, file: string) =>
  new StoreError(
    `${beside} holds changes that another program has not finished. Close that program; if it is gone, run ` +
      `sqlite3 "${file}" .tables, which takes them in or undoes them. Then start again.`,
  )

const isStamped = (bytes: Buffer) =>
  bytes.length > STAMP + RESERVED &&
  bytes.readUInt32LE(STAMP) === SIGN &&
  bytes.readUInt32LE(STAMP + 8) === bytes.readUInt32LE(CHANGE_COUNTER)

const checksum = (bytes: Buffer) => crc32(bytes.subarray(STAMP + RESERVED), crc32(bytes.subarray(0, STAMP)))

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

const damaged = (file: string, what: string) => new StoreError(`${file} is damaged: ${what}. ${restore}`)

/** Writes the engine's state as the snapshot that stands at `position`. Answers its size in bytes. */
export const writeSnapshot = async (disk: Disk, file: string, engine: Engine, { seq, chain }: Position) => {
  engine.column(`CREATE TABLE IF NOT EXISTS store_position (
    one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, chain INTEGER NOT NULL) STRICT;
    INSERT OR REPLACE INTO store_position VALUES (1, ${seq}, ${chain})`)
  const bytes = stamped(engine.bytes())
  const temporary = temporaryPath(file)
  await disk.remove(temporary)
  const handle = await disk.open(temporary)
  try {
    writeFully(handle, bytes, 0)
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await disk.rename(temporary, file)
  await disk.syncFolder(dirname(file))
  return bytes.length
}

const stamped = (array: Uint8Array) => {
  const bytes = Buffer.from(array.buffer, array.byteOffset, array.length)
  bytes.fill(0, STAMP, STAMP + RESERVED)
  bytes.writeUInt32LE(SIGN, STAMP)
  bytes.writeUInt32LE(bytes.readUInt32LE(CHANGE_COUNTER), STAMP + 8)
  bytes.writeUInt32LE(checksum(bytes), STAMP + 4)
  return bytes
}

/** Takes the sealed journal of `file` into its snapshot, then removes the journal. Answers the snapshot's size in bytes. */
export const foldSealed = async (disk: Disk, file: string) => {
  const snapshot = await readSnapshot(disk, file)
  try {
    const sealed = await readJournal(disk, sealedPath(file))
    if (!sealed) return snapshot.bytes
    if (snapshot.edited) throw new StoreError(`${file} was changed by another program while this one used it.`)
    let { bytes } = snapshot
    if (snapshot.seq !== sealed.end.seq) {
      replay(snapshot.engine, sealed)
      bytes = await writeSnapshot(disk, file, snapshot.engine, sealed.end)
    }
    await disk.remove(sealedPath(file))
    await disk.syncFolder(dirname(file))
    return bytes
  } finally {
    snapshot.engine.close()
  }
}
