/**
 * Backs up a database that may be in use: into one plain SQLite file as of one moment, with the delivered files next to it. The
 * file has its name only when all of it is durable. Source.
 */
import { access, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { addName, noNames, type SomeNames } from '../../shared/some-names.ts'
import { type Reader, StoreError } from '../db.ts'
import { realPath } from './database.ts'
import { type BackupDisk, type Disk, realDisk } from './disk.ts'
import { type Position, same } from './frame.ts'
import { journalPath, sealedPath } from './journal.ts'
import { type Recovered, recover } from './recovery.ts'
import { rollbackPath, temporaryPath, walPath, writeSnapshot } from './snapshot.ts'
import { Unit } from './unit.ts'

export interface Backup {
  /** The size of the copied database in bytes. */
  bytes: number
  /** How many delivered files were copied. */
  files: number
  /** Files that a row has and the folder has not. */
  missing: SomeNames
}

/** Where delivered files are, and the names of those that the rows of a database have. */
export interface FilesToCopy {
  readonly folder: string
  named(q: Reader): AsyncIterable<string>
}

const TRIES = 20
const PAUSE_MS = 50

/** The database of a backup that is not whole yet. While it is there, the folder of files beside it belongs to no other. */
export const partialPath = (file: string) => `${file}.partial`
const folderOf = (file: string) => `${file}.files`

/**
 * Copies the database at `from`, with its journals, to the new file `to`, and changes nothing at `from`. The copy has every
 * write that was acknowledged before the call. One that was cut off is made anew. Throws a StoreError if `to` exists or `from` is
 * damaged. `files` null: they are kept apart.
 */
export const backupFile = async (from: string, to: string, files: FilesToCopy | null): Promise<Backup> => {
  const [source, target] = [await realPath(from), await realPath(to)]
  // A new database is only a journal, so the journal of `to` must not exist either; nor may other files of that name.
  for (const path of [target, journalPath(target), sealedPath(target), walPath(target), rollbackPath(target)]) {
    if (await exists(path)) throw taken(path)
  }
  const folder = folderOf(target)
  if (!(await exists(partialPath(target))) && (await readdir(folder).catch(() => [])).length > 0) throw taken(folder)
  return backupOn(realDisk, source, target, files).catch(async error => {
    // The database last: it says whose the folder is.
    for (const path of [folder, temporaryPath(partialPath(target)), partialPath(target)])
      await rm(path, { force: true, recursive: true }).catch(() => {})
    throw error
  })
}

const taken = (path: string) => new StoreError(`${path} exists already: name a new file for the backup.`)

/** @internal Tests give it a disk that fails. */
export const backupOn = async (
  disk: BackupDisk,
  from: string,
  to: string,
  files: FilesToCopy | null,
): Promise<Backup> => {
  const recovered = await recoverLive(disk, from)
  try {
    const bytes = await writeSnapshot(disk, partialPath(to), recovered.engine, recovered)
    // Behind the database: a file is stored before its row, and stays, so every row of the copy finds its file.
    const copied = await copyFiles(disk, files, new Unit(recovered.engine, false), folderOf(to))
    await disk.rename(partialPath(to), to)
    await disk.syncFolder(dirname(to))
    return { bytes, ...copied }
  } finally {
    recovered.engine.close()
  }
}

/** The folder is made even if there are no files, so that a restore always takes the same steps. */
async function copyFiles(disk: BackupDisk, from: FilesToCopy | null, q: Reader, to: string) {
  await disk.makeFolder(to)
  const missing = noNames()
  let files = 0
  if (from) {
    for await (const name of from.named(q)) {
      if (await disk.copy(join(from.folder, name), join(to, name))) files++
      else addName(missing, name)
    }
  }
  await disk.syncFolder(to)
  await disk.syncFolder(dirname(to))
  return { files, missing }
}

/**
 * Reads a database while another process writes to it. The files are not read at the same moment, so they may look as if
 * they were damaged; a second read decides. Between two journals there is none for a moment, and a journal may be sealed
 * after it was looked for. So two reads in a row must find the same files.
 * @internal Tests give it a disk that changes between two looks.
 */
export const recoverLive = async (disk: Disk, file: string): Promise<Recovered> => {
  let seen: Position | undefined
  for (let tries = 1; ; tries++) {
    try {
      const found = await recover(disk, file)
      if (found.current || (seen && same(seen, found))) return found
      found.engine.close()
      seen = { seq: found.seq, chain: found.chain }
    } catch (error) {
      if (!(error instanceof StoreError) || tries >= TRIES) throw error
    }
    await wait(PAUSE_MS)
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
