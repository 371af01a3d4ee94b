/** A copy of a database that may be in use: one plain SQLite file as of one moment, and the delivered files beside it. */
import { constants } from 'node:fs'
import { access, copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { StoreError } from '../db.ts'
import { realPath } from './database.ts'
import { type Disk, realDisk } from './disk.ts'
import { type Position, same } from './frame.ts'
import { journalPath, sealedPath } from './journal.ts'
import { type Recovered, recover } from './recovery.ts'
import { rollbackPath, walPath, writeSnapshot } from './snapshot.ts'

export interface Backup {
  /** Size of the copied database. */
  bytes: number
  /** Delivered files that were copied. */
  files: number
}

const TRIES = 20
const PAUSE_MS = 50

/**
 * Copies the database at `from`, journals included, to the new file `to`, and changes nothing at `from`. Everything that
 * was answered before the call is in the copy. Throws a StoreError if `to` exists or `from` is damaged.
 */
export const backupFile = async (from: string, to: string): Promise<Backup> => {
  const [source, target] = [await realPath(from), await realPath(to)]
  // A young database is a journal alone: the copy of another must not stand before it. Nor beside what is not its own.
  for (const path of [target, journalPath(target), sealedPath(target), walPath(target), rollbackPath(target)]) {
    if (await exists(path)) throw new StoreError(`${path} exists already: name a new file for the backup.`)
  }
  const bytes = await backupOn(realDisk, source, target)
  // After the database: a file is kept before the row that names it, so every row of the copy finds its own.
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
 * Reads a database while another process writes to it. The files are not read at one moment, so they may not fit
 * together, just as if they were damaged; a later look tells the two apart. For a moment between two journals there is
 * none, and the one just sealed may have been looked for before: two looks must have found the same.
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
  // Also for none at all, so that a restore is the same steps whatever was delivered.
  await mkdir(to, { recursive: true, mode: 0o700 })
  let count = 0
  for (const name of names) if (await copyOne(join(from, name), join(to, name))) count++
  return count
}

/** What says whose the folder is: a copy of it is another. */
const ofTheFolder = (name: string) => name.startsWith('folder.')

/** False if the file is gone by now: then nothing names it. */
async function copyOne(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
