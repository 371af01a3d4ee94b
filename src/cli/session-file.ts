/** The sessions of `marketplace login`: one file for each address, in the user's own configuration. Source: A-51. */
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configFolder } from '../config.ts'

export interface SavedSession {
  url: string
  email: string
  /** `session=…`, as the marketplace set it. */
  cookie: string
  /** The database that made it; null if the marketplace does not say. */
  instance: string | null
}

const folder = () => join(configFolder(), 'sessions')

/** An address can be longer than a file's name may be. */
const pathOf = (url: string) => join(folder(), `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`)

/** undefined: nobody has signed in there, or the file can't be read. */
export function savedSession(url: string): SavedSession | undefined {
  try {
    const saved: SavedSession = JSON.parse(readFileSync(pathOf(url), 'utf8'))
    return saved.url === url && typeof saved.cookie === 'string' ? saved : undefined
  } catch {
    return undefined
  }
}

/** For this user's eyes alone; whoever reads meanwhile finds the old session or the new one. */
export function saveSession(session: SavedSession): void {
  const path = pathOf(session.url)
  const draft = `${path}.${process.pid}`
  mkdirSync(folder(), { recursive: true, mode: 0o700 })
  // A folder that was there before may be open to others.
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
