/** Stores the sessions of `marketplace login`: one file per address or profile, in the user's configuration folder. Source: A-51. */
import { createHash } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { configFolder, UsageError } from '../../settings/config.ts'
import { makeFolders } from '../../store/folders.ts'
import { withDiskReason } from '../output/disk-faults.ts'
import { writeWhole } from '../output/whole-file.ts'

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

type Server = Pick<SavedSession, 'url' | 'profile'>

/** The name is a hash, because an address can be longer than a file name may be. */
const fileOf = ({ url, profile }: Server) =>
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

/** Replaces the file as a whole. Throws a Fault where that can't be: the session before is still there then. */
export function saveSession(session: SavedSession): void {
  write(fileOf(session), `${JSON.stringify(session, null, 2)}\n`)
}

/** Throws what `saveSession` would, before anybody types a password. */
export function proveSavable(): void {
  const probe = `probe-${process.pid}`
  write(probe, ' '.repeat(PROBE_BYTES))
  rmSync(join(folder(), probe), { force: true })
}

/** About as long as a session. */
const PROBE_BYTES = 512

function write(name: string, text: string): void {
  try {
    makeFolders(folder(), 0o700)
    // An existing folder may be readable by others.
    chmodSync(folder(), 0o700)
    writeWhole(join(folder(), name), text)
  } catch (error) {
    throw withDiskReason(error as Error, `A session can't be kept in ${folder()}`, ELSEWHERE)
  }
}

const ELSEWHERE = 'XDG_CONFIG_HOME names another folder; what takes a key needs no session: --key, or MARKETPLACE_KEY.'

export function forgetSession(server: Server): void {
  const file = join(folder(), fileOf(server))
  try {
    rmSync(file, { force: true })
  } catch (error) {
    throw withDiskReason(error as Error, `The session in ${file} can't be deleted`, 'Until it is, it stays signed in.')
  }
}
