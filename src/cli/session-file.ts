/** Stores the sessions of `marketplace login`: one file per address, in the user's configuration folder. Source: A-51. */
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configFolder } from '../config.ts'

export interface SavedSession {
  url: string
  email: string
  /** The cookie `session=…`, as the marketplace has set it. */
  cookie: string
  /** The id of the database that made it; null if the marketplace has none. */
  instance: string | null
}

const folder = () => join(configFolder(), 'sessions')

/** The name is a hash, because an address can be longer than a file name may be. */
const pathOf = (url: string) => join(folder(), `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`)

/** Returns undefined if nobody has signed in there, or if the file can't be read. */
export function savedSession(url: string): SavedSession | undefined {
  try {
    const saved: SavedSession = JSON.parse(readFileSync(pathOf(url), 'utf8'))
    return saved.url === url && typeof saved.cookie === 'string' ? saved : undefined
  } catch {
    return undefined
  }
}

/** Writes the file atomically, readable only by this user. */
export function saveSession(session: SavedSession): void {
  const path = pathOf(session.url)
  const draft = `${path}.${process.pid}`
  mkdirSync(folder(), { recursive: true, mode: 0o700 })
  // An existing folder may be readable by others.
  chmodSync(folder(), 0o700)
  try {
    writeFileSync(draft, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

export const forgetSession = (url: string): void => rmSync(pathOf(url), { force: true })
