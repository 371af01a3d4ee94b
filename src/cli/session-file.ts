/** Stores the sessions of `marketplace login`: one file per address or profile, in the user's configuration folder. Source: A-51. */
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configFolder, UsageError } from '../config.ts'

export interface SavedSession {
  /** The name that `--profile` gives to an address and an account; undefined for the one session without a name. */
  profile?: string | undefined
  url: string
  email: string
  /** The cookie `session=…`, as the marketplace has set it. */
  cookie: string
  /** The id of the database that made it; null if the marketplace has none. */
  instance: string | null
}

const folder = () => join(configFolder(), 'sessions')

type Place = Pick<SavedSession, 'url' | 'profile'>

/** The name is a hash, because an address can be longer than a file name may be. */
const fileOf = ({ url, profile }: Place) =>
  profile === undefined
    ? `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`
    : `${PREFIX}${profile}.json`

const PREFIX = 'profile-'

/** Returns undefined if nobody has signed in there, or if the file can't be read. */
export function savedSession(url: string): SavedSession | undefined {
  const saved = readSession(fileOf({ url }))
  return saved?.url === url ? saved : undefined
}

/** The session of a profile, at whatever address it is. Throws a UsageError if that is no name. */
export function sessionOfProfile(profile: string): SavedSession | undefined {
  if (!/^[a-z0-9][a-z0-9_-]{0,39}$/.test(profile)) {
    throw new UsageError(`--profile takes a name of a–z, 0–9, - and _, up to 40 characters, not ${profile}.`)
  }
  return readSession(fileOf({ url: '', profile }))
}

/** Every session that is stored. */
export function savedSessions(): SavedSession[] {
  const names = (() => {
    try {
      return readdirSync(folder())
    } catch {
      return []
    }
  })()
  return names.filter(name => name.endsWith('.json')).flatMap(name => readSession(name) ?? [])
}

function readSession(name: string): SavedSession | undefined {
  try {
    const saved: SavedSession = JSON.parse(readFileSync(join(folder(), name), 'utf8'))
    return typeof saved.url === 'string' && typeof saved.cookie === 'string' ? saved : undefined
  } catch {
    return undefined
  }
}

/** Writes the file atomically, readable only by this user. */
export function saveSession(session: SavedSession): void {
  const path = join(folder(), fileOf(session))
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

export const forgetSession = (place: Place): void => rmSync(join(folder(), fileOf(place)), { force: true })
