/** Sessions and API keys: finds their accounts, and notes when they were last used. Source. */
import { hash } from 'node:crypto'
import { refuse } from '../../api/failures.ts'
import { durations, limits } from '../../api/limits.ts'
import { boundedCache } from '../../shared/bounded-cache.ts'
import type { Reader, Tx } from '../../store/db.ts'
import { touchKey, userByKey } from '../../store/tables/accounts/keys.ts'
import {
  deleteExpiredSessions,
  deleteSessionsBeyond,
  insertSession,
  type Since,
  touchSession,
  userBySession,
} from '../../store/tables/accounts/sessions.ts'
import type { UserRow } from '../../store/tables/accounts/users.ts'
import type { World } from '../../world/world.ts'
import type { Actor, Caller, Market } from '../market.ts'

/** Hashes a token or key for storage. They have enough random bits that a plain hash is safe. */
export const secretHash = (secret: string) => hash('sha256', secret)

const { absoluteMs, idleMs, touchMs } = durations.session

/** A session is valid if it began and was last seen after these times (domain ms). */
export const liveSince = (world: World): Since => {
  const now = world.now()
  return { createdAfter: now - absoluteMs, seenAfter: now - idleMs }
}

/** Begins a session. Returns its token, of which only the hash is stored. */
export async function createSession(tx: Tx, world: World, userId: string, caller?: Caller): Promise<string> {
  const createdAt = world.now()
  const token = world.bytes(32).toString('base64url')
  await deleteExpiredSessions(tx, userId, createdAt - absoluteMs, createdAt - idleMs)
  const { perAccount, userAgent: longest } = limits.session
  await deleteSessionsBeyond(tx, userId, perAccount - 1)
  await insertSession(tx, {
    id: world.id('ses', userId),
    tokenHash: secretHash(token),
    userId,
    createdAt,
    address: caller?.address ?? null,
    userAgent: caller?.userAgent?.slice(0, longest) ?? null,
  })
  return token
}

/** Called for every credential that is found. */
export interface Touch {
  (actor: Actor): void
  /** Returns when a credential was last used, if its row may not have that time yet (domain ms). */
  usedAt?(credential: string): number | undefined
}

/** Returns functions that find the account of a credential. They only read; `touch` takes note of the use. */
export function createAuthenticate(world: World, touch: Touch = () => {}) {
  const found = (actor: Actor) => {
    touch(actor)
    return actor
  }
  const holders = keptHolders()
  return {
    async key(q: Reader, bearer: string): Promise<Actor | null> {
      const holder = await holders(q, secretHash(bearer))
      if (!holder) return null
      const { keyId, user } = holder
      // Keys need the builder role, and work again when it is back. Source: A-9.
      if (!user.isBuilder && !user.banned) throw refuse('builder_only')
      return found({ user, via: 'key', credential: keyId })
    },
    async session(q: Reader, cookie: string): Promise<Actor | null> {
      const credential = secretHash(cookie)
      const now = world.now()
      const idleSince = now - idleMs
      const isInUse = (touch.usedAt?.(credential) ?? 0) > idleSince
      const user = await userBySession(q, credential, now - absoluteMs, isInUse ? 0 : idleSince)
      return user ? found({ user, via: 'session', credential }) : null
    },
  }
}

interface Holder {
  user: UserRow
  keyId: string
}

const KEPT_HOLDERS = 1000

/** Finds the account of a key's hash, and remembers it until any write to keys or accounts is committed. */
function keptHolders() {
  const kept = boundedCache<Holder>({ maxEntries: KEPT_HOLDERS })
  let keys = 0
  let users = 0
  return async (q: Reader, keyHash: string): Promise<Holder | null> => {
    const { changes } = q
    if (!changes) return holderOf(await userByKey(q, keyHash))
    const [keysNow, usersNow] = [changes.version('api_keys'), changes.version('users')]
    if (keysNow !== keys || usersNow !== users) kept.clear()
    keys = keysNow
    users = usersNow
    const known = kept.get(keyHash)
    if (known) return known
    const holder = holderOf(await userByKey(q, keyHash))
    if (holder) kept.set(keyHash, holder)
    return holder
  }
}

function holderOf(row: (UserRow & { keyId: string }) | undefined): Holder | null {
  if (!row) return null
  const { keyId, ...user } = row
  return { user, keyId }
}

/** How long uses are collected before they are written together, in real ms. */
const GATHER_MS = 1000

/** Notes when credentials are used, each at most once a minute. No request waits for the write. */
export function createTouch({ db, world }: Pick<Market, 'db' | 'world'>): Touch {
  const noted = new Map<string, number>()
  let gathered: { via: Actor['via']; credential: string; at: number }[] = []

  async function write() {
    const batch = gathered
    gathered = []
    await db.write(async tx => {
      for (const { via, credential, at } of batch) {
        if (via === 'key') await touchKey(tx, credential, at, at - durations.keyTouchMs)
        else await touchSession(tx, credential, at, at - touchMs)
      }
    })
    const now = world.now()
    for (const [credential, at] of noted) if (at <= now - touchMs) noted.delete(credential)
  }

  const touch: Touch = ({ via, credential }) => {
    const at = world.now()
    if (via === 'signature' || at - (noted.get(credential) ?? 0) < touchMs) return
    noted.set(credential, at)
    // Fails only when the database is closed or broken, which others report. A missed minute does no harm.
    if (gathered.length === 0) world.after(GATHER_MS, () => void write().catch(() => {}))
    gathered.push({ via, credential, at })
  }
  touch.usedAt = credential => noted.get(credential)
  return touch
}
