/**
 * Backs up a database that may be in use: into one plain SQLite file as of one moment, with the delivered files next to it.
 */
import { constants } from 'node:fs'
import { access, copyFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { StoreError } from '../db.ts'
import { makeFolders } from '../folders.ts'
import { realPath } from './database.ts'
import { type Disk, realDisk } from './disk.ts'
import { type Position, same } from './frame.ts'
import { journalPath, sealedPath } from './journal.ts'
import { type Recovered, recover } from './recovery.ts'
import { rollbackPath, temporaryPath, walPath, writeSnapshot } from './snapshot.ts'

export interface Backup {
  /** The size of the copied database in bytes. */
  bytes: number
  /** How many delivered files were copied. */
  files: number
}

const TRIES = 20
const PAUSE_MS = 50

/**
 * Copies the database at `from`, with its journals, to the new file `to`, and changes nothing at `from`. The copy has every
 * write that was acknowledged before the call. Throws a StoreError if `to` exists or `from` is damaged.
 */
export const backupFile = async (from: string, to: string): Promise<Backup> => {
  const [source, target] = [await realPath(from), await realPath(to)]
  // A new database is only a journal, so the journal of `to` must not exist either; nor may other files of that name.
  for (const path of [target, journalPath(target), sealedPath(target), walPath(target), rollbackPath(target)]) {
    if (await exists(path)) throw new StoreError(`${path} exists already: name a new file for the backup.`)
  }
  const bytes = await backupOn(realDisk, source, target).catch(async error => {
    await rm(temporaryPath(target), { force: true }).catch(() => {})
    throw error
  })
  // Files are copied after the database. A file is stored before its row, so every row of the copy finds its file.
  return { bytes, files: await copyFiles(`${source}.files`, `${target}.files`) }
}

/**
 * The database alone. Resolves with the copy's size in bytes.
 * @internal Tests give it a disk that fails.
 */
export const backupOn = async (disk: Disk, from: string, to: string): Promise<number> => {
  const recovered = await recoverLive(disk, from)
  try {
    return await writeSnapshot(disk, to, recovered.engine, recovered)
  } finally {
    recovered.engine.close()
  }
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

async function copyFiles(from: string, to: string): Promise<number> {
  const entries = await readdir(from, { withFileTypes: true }).catch(() => [])
  const names = entries.filter(entry => entry.isFile() && !ofTheFolder(entry.name)).map(({ name }) => name)
  // The folder is made even if there are no files, so that a restore always takes the same steps.
  makeFolders(to, 0o700)
  let count = 0
  for (const name of names) if (await copyOne(join(from, name), join(to, name))) count++
  return count
}

/** The files that identify the folder. They are not copied, because the copy is another folder. */
const ofTheFolder = (name: string) => name.startsWith('folder.')

/** Copies one file. Returns false if it was removed meanwhile; then no row has it. */
async function copyOne(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
