/** Where a dev keeps its state: its database, and the folder of its credentials. Source: A-6. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { UsageError, version } from '../../settings/config.ts'
import { type Database, nameOf } from '../../settings/values.ts'
import { accepts } from '../../sim/agents/agent-watch.ts'
import { type Credentials, people } from '../../sim/seed.ts'
import { makeFolders } from '../../store/folders.ts'
import { nextSteps } from '../connection/next-steps.ts'
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
  /** Of the program that wrote this. */
  version?: string
  /** Where agents elsewhere reach it, if that is another address. */
  publicUrl?: string
  /** The port of the HTTPS front. Webhook URLs have it, so it stays the same. */
  frontPort?: number
}

/**
 * Where the credentials lie; null if there is no folder for them. Commands read `credentials.json`, which is of the first database of a
 * folder as long as that is there: another one has a file of its own beside it.
 */
export function credentialsPath(state: StateFolder): string | null {
  const { folder, db } = state
  if (folder === null) return null
  const usual = join(folder, 'credentials.json')
  const own = join(folder, `credentials-${createHash('sha256').update(db).digest('hex').slice(0, 8)}.json`)
  return existsSync(own) || isOfAnother(usual, state, folder) ? own : usual
}

function isOfAnother(path: string, state: StateFolder, folder: string): boolean {
  const owner = databaseIn(path)
  if (owner === undefined || isSame(owner, state)) return false
  const file = join(folder, basename(owner))
  // Before its first snapshot a database is its journal alone.
  return isOnServer(owner) || [file, `${file}.journal`].some(path => existsSync(path))
}

/** The database whose credentials a file has; undefined if none can be read. */
function databaseIn(path: string): string | undefined {
  try {
    const { db } = JSON.parse(readFileSync(path, 'utf8'))
    return typeof db === 'string' ? db : undefined
  } catch {
    return undefined
  }
}

/** Files have many names, and lie beside their credentials. */
const isSame = (owner: string, { db, file }: StateFolder) =>
  owner === db || (file !== null && !isOnServer(owner) && basename(owner) === basename(file))

const isOnServer = (db: string) => /^postgres(?:ql)?:/.test(db)

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
    return isSame(kept.db, state) && isWhole(kept) ? kept : null
  } catch {
    return null
  }
}

/** Whether something listens where the dev of this state did: what asks it for more would first load fetch. */
export async function mayRun(state: StateFolder): Promise<boolean> {
  const kept = readCredentials(state)
  return kept?.instance !== undefined && accepts(new URL(kept.url))
}

/** The same, for what needs them. */
export function neededCredentials(state: StateFolder): Kept {
  const kept = readCredentials(state)
  if (kept) return kept
  throw new UsageError(`There is no dev in this folder yet. Start one: \`${nextSteps.startDev()}\``)
}

/** Somebody may have changed the file by hand. */
const isWhole = ({ accounts, agents }: Kept) =>
  people.every(person => typeof accounts[person].apiKey === 'string') && agents.every(({ slug }) => slug)

/** Writes the address and the keys where commands in the same folder look for them. */
export function keepCredentials(state: StateFolder, made: Kept): void {
  const path = credentialsPath(state)
  if (path === null) return
  const { url, instance, ...credentials } = made
  writeWhole(path, `${JSON.stringify({ url, instance, version, db: state.db, ...credentials }, null, 2)}\n`)
}
