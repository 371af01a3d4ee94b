/** Sessions and keys as credentials: whom they stand for, and when they were last seen. Source. */
import { hash } from 'node:crypto'
import { refuse } from '../../api/failures.ts'
import { durations, limits } from '../../api/limits.ts'
import type { Reader, Tx } from '../../store/db.ts'
import { touchKey, userByKey } from '../../store/tables/keys.ts'
import {
  deleteExpiredSessions,
  deleteSessionsBeyond,
  insertSession,
  type Since,
  touchSession,
  userBySession,
} from '../../store/tables/sessions.ts'
import type { UserRow } from '../../store/tables/users.ts'
import type { World } from '../../world/world.ts'
import type { Actor, Caller, Market } from '../market.ts'

/** How secrets are kept: they have more than enough random bits for a plain hash. */
export const secretHash = (secret: string) => hash('sha256', secret)

const { absoluteMs, idleMs, touchMs } = durations.session

/** Sessions that began and were seen after these times are good. */
export const liveSince = (world: World): Since => {
  const now = world.now()
  return { createdAfter: now - absoluteMs, seenAfter: now - idleMs }
}

/** A new session of the account; returns its token, which is stored nowhere. */
export async function createSession(tx: Tx, world: World, userId: string, caller?: Caller): Promise<string> {
  const createdAt = world.now()
  const token = world.bytes(32).toString('base64url')
  await deleteExpiredSessions(tx, userId, createdAt - absoluteMs, createdAt - idleMs)
  const { perAccount, userAgent: longest } = limits.session
  await deleteSessionsBeyond(tx, userId, perAccount - 1)
  await insertSession(tx, {
    id: world.id('ses'),
    tokenHash: secretHash(token),
    userId,
    createdAt,
    address: caller?.address ?? null,
    userAgent: caller?.userAgent?.slice(0, longest) ?? null,
  })
  return token
}

/** Is told of every credential that is found. */
export interface Touch {
  (actor: Actor): void
  /** When a credential was used lately, as its row may not say yet. */
  usedAt?(credential: string): number | undefined
}

/** Finds the account behind a credential by reading alone. Hand it what `createTouch` returns. */
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
      // Keys come with the builder role, and rest while it is gone. Source: A-9.
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

/** Who holds a key, by its hash: remembered until a committed write to keys or accounts, whichever it is. */
function keptHolders() {
  const kept = new Map<string, Holder>()
  let keys = 0
  let users = 0
  return async (q: Reader, keyHash: string): Promise<Holder | null> => {
    const { changes } = q
    if (!changes) return holderOf(await userByKey(q, keyHash))
    const [keysNow, usersNow] = [changes.version('api_keys'), changes.version('users')]
    if (keysNow !== keys || usersNow !== users || kept.size >= KEPT_HOLDERS) kept.clear()
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

/** How long uses are collected, in real time, before they are written together. */
const GATHER_MS = 1000

/** Notes when credentials are used, each at most once a minute. Nobody waits for it, inside a unit or outside. */
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
    // Fails only when the database is closed or broken, which others tell of; a missed minute harms no one.
    if (gathered.length === 0) world.after(GATHER_MS, () => void write().catch(() => {}))
    gathered.push({ via, credential, at })
  }
  touch.usedAt = credential => noted.get(credential)
  return touch
}
