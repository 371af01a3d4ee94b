/** Where a dev keeps its state: its database, and the folder of its credentials. Source: A-6. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Database, nameOf } from '../../settings/values.ts'
import { type Credentials, people } from '../../sim/seed.ts'
import { makeFolders } from '../../store/folders.ts'
import { writeWhole } from '../output/whole-file.ts'

export interface StateFolder {
  /** The database file; null if nothing is kept, or if the database is on a server. */
  readonly file: string | null
  /** The folder of the credentials; null if nothing is kept. */
  readonly folder: string | null
  /** The database in words. */
  readonly db: string
}

export function stateFolderOf(db: Database, ephemeral: boolean): StateFolder {
  if (ephemeral) return { file: null, folder: null, db: ':memory:' }
  return { file: db.file, folder: db.file === null ? FOLDER : dirname(db.file), db: nameOf(db) }
}

const FOLDER = '.marketplace'

/** What a start finds of the one before. */
export interface Kept extends Credentials {
  url: string
  /** The id of the database. */
  instance: string
  /** Where agents elsewhere reach it, if that is another address. */
  publicUrl?: string
  /** The port of the HTTPS front. Webhook URLs have it, so it stays the same. */
  frontPort?: number
}

/** Where the credentials lie; null if there is no folder for them. */
export const credentialsPath = ({ folder }: StateFolder) => folder && join(folder, 'credentials.json')

export function makeFolder({ folder }: StateFolder): void {
  if (folder === null) return
  makeFolders(folder, 0o700)
  // It has keys. A file that stayed empty where the disk is full would let git take them.
  const ignore = join(folder, '.gitignore')
  if (basename(folder) === FOLDER && !existsSync(ignore)) writeWhole(ignore, '*\n', 0o644)
}

/** Returns null if there is no readable file of this database. New credentials are made then. */
export function readCredentials(state: StateFolder): Kept | null {
  const path = credentialsPath(state)
  if (path === null) return null
  try {
    const kept: Kept & { db: string } = JSON.parse(readFileSync(path, 'utf8'))
    return kept.db === state.db && isWhole(kept) ? kept : null
  } catch {
    return null
  }
}

/** Somebody may have changed the file by hand. */
const isWhole = ({ accounts, agents }: Kept) =>
  people.every(person => typeof accounts[person].apiKey === 'string') && agents.every(({ slug }) => slug)

/** Writes the address and the keys where commands in the same folder look for them. */
export function keepCredentials(state: StateFolder, made: Kept): void {
  const path = credentialsPath(state)
  if (path === null) return
  const { url, instance, ...credentials } = made
  writeWhole(path, `${JSON.stringify({ url, instance, db: state.db, ...credentials }, null, 2)}\n`)
}
