/** Finds the key that encrypts secrets at rest, and proves that it is the right one. Source: A-8. */
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { notify } from '../market/accounts/notifications.ts'
import type { Market } from '../market/market.ts'
import { type Key, type KeyFile, keyId, keysOf } from '../market/sealing.ts'
import { insertProof, proofIn, provenBy, replaceProof } from '../market/upkeep/secret-key.ts'
import { UsageError } from '../settings/config.ts'
import { type Db, StoreError } from '../store/db.ts'
import { type Disk, readFully, realDisk, writeFully } from '../store/embedded/disk.ts'
import { dropAgentSecrets, dropSecondFactors, sealsByKey } from '../store/tables/sealed-columns.ts'
import type { World } from '../world/world.ts'

const KEY_BYTES = 32
/** A longer file holds no keys. */
const MOST_READ = 4096
/** Two while a key is rotated, and some that nobody has removed. */
const MOST_KEYS = 8

export interface SecretKeySource {
  /** Base64 of 32 bytes, or several with commas between. They take precedence over the file. */
  given: string | undefined
  /** The database file. null: makes a key that lasts as long as the process. */
  file: string | null
  /** Whether a new key may replace a lost one. */
  renew?: boolean | undefined
  /** A simulator begins anew where a deployment drops what was sealed. */
  isDev?: boolean
}

export interface SecretKeys extends Key {
  /** True if the database's secrets were sealed with another key. Then `replaceSecretKey` must delete them. */
  replaces: boolean
}

type Found = readonly Buffer[] | 'missing' | 'empty' | 'malformed'

/**
 * Returns the given keys, or those in `<file>.key`, which is created (0600) for a database that has sealed nothing yet.
 * Throws a StoreError if a key is lost or wrong, unless a new one is allowed. A right key is never replaced.
 */
export async function secretKeysFor(db: Db, source: SecretKeySource, disk: Disk = realDisk): Promise<SecretKeys> {
  const { given, file, renew } = source
  const proof = await db.read(proofIn)
  const path = file === null ? null : keyPath(file)
  const found: Found =
    given !== undefined ? givenKeys(given) : path === null ? [randomBytes(KEY_BYTES)] : await keysIn(disk, path)
  if (isKeys(found) && (proof === undefined || provenBy(keyOf(found), proof)))
    return { ...keyOf(found), replaces: false }
  // Nothing was sealed yet, so a key file that is missing or was never fully written can be made anew.
  const isUnused = proof === undefined && (found === 'missing' || found === 'empty')
  if (!isUnused && (proof === undefined || !renew)) throw keyFault(source, found)
  if (given !== undefined) return { ...keyOf(found as readonly Buffer[]), replaces: true }
  if (found !== 'missing' && found !== 'empty') await setAside(disk, path!)
  const secretKey = randomBytes(KEY_BYTES)
  await writeKeys(disk, path!, [secretKey])
  return { secretKey, otherSecretKeys: [], replaces: proof !== undefined }
}

const keyPath = (file: string) => `${file}.key`

const isKeys = (found: Found): found is readonly Buffer[] => typeof found !== 'string'

const keyOf = ([secretKey, ...otherSecretKeys]: readonly Buffer[]): Key => ({ secretKey: secretKey!, otherSecretKeys })

function keyFault({ file, isDev }: SecretKeySource, found: Found): StoreError {
  const renewal = isDev ? RENEW_IN_DEV : RENEW
  return isKeys(found) ? wrongKey(renewal) : lostKey(keyPath(file!), found, renewal)
}

function givenKeys(text: string): readonly Buffer[] {
  const keys = decoded(text)
  if (keys === 'malformed')
    throw new UsageError(`MARKETPLACE_SECRET_KEY ${WANTED} Several have commas between; the first seals.`)
  return keys
}

async function keysIn(disk: Disk, path: string): Promise<Found> {
  const file = await disk.openToRead(path)
  if (!file) return 'missing'
  try {
    const bytes = Buffer.alloc(Math.min(file.size, MOST_READ))
    readFully(file, bytes, 0)
    const text = bytes.toString()
    return text.trim() === '' ? 'empty' : decoded(text)
  } finally {
    await file.close()
  }
}

/** Keys with commas or line ends between. */
function decoded(text: string): readonly Buffer[] | 'malformed' {
  const keys = text
    .trim()
    .split(/\s*[,\n]\s*/)
    .map(one => Buffer.from(one, 'base64'))
  return keys.length <= MOST_KEYS && keys.every(({ length }) => length === KEY_BYTES) ? keys : 'malformed'
}

/**
 * The file of a database that is not given its keys. While a key is rotated the file has both, a line each: whoever is
 * interrupted finds what opens everything. `key` is what seals and opens from then on.
 */
export function keyFileOf(file: string, key: Key & { secretKey: Buffer }, disk: Disk = realDisk): KeyFile {
  const path = keyPath(file)
  return {
    async begin() {
      const keys = [randomBytes(KEY_BYTES), ...keysOf(key)]
      await writeKeys(disk, path, keys)
      Object.assign(key, keyOf(keys))
    },
    async end() {
      if (keysOf(key).length > 1) await writeKeys(disk, await freeName(disk, `${path}.old`), keysOf(key).slice(1))
      await writeKeys(disk, path, [key.secretKey])
      key.otherSecretKeys = []
    },
  }
}

/**
 * Renames the old key file to a name that no file has. An earlier file may be the last copy of a key that can be repaired by
 * hand, or that belongs to another database.
 */
async function setAside(disk: Disk, path: string): Promise<void> {
  await disk.rename(path, await freeName(disk, `${path}.old`))
}

async function freeName(disk: Disk, path: string): Promise<string> {
  let name = path
  for (let n = 2; await isThere(disk, name); n++) name = `${path}.${n}`
  return name
}

async function isThere(disk: Disk, path: string): Promise<boolean> {
  const file = await disk.openToRead(path)
  await file?.close()
  return file !== undefined
}

/** Writes a key file so that it is whole and durable, or as it was. Without it, everything that it sealed is lost. */
async function writeKeys(disk: Disk, path: string, keys: readonly Buffer[]): Promise<void> {
  const draft = `${path}.new`
  // The renamed old key must be durable before the new key takes its name, also if a killed process renamed it.
  await disk.syncFolder(dirname(path))
  await disk.remove(draft)
  const file = await disk.open(draft)
  try {
    writeFully(file, Buffer.from(keys.map(key => `${key.toString('base64')}\n`).join('')), 0)
    await file.datasync()
  } finally {
    await file.close()
  }
  await disk.rename(draft, path)
  await disk.syncFolder(dirname(path))
}

/**
 * Throws a StoreError if the database was used with other keys, or if something is sealed with one that was left out. The first
 * key of a database becomes its own.
 */
export async function proveSecretKeys(db: Db, world: World, key: Key): Promise<void> {
  await db.write(async tx => {
    const proof = await proofIn(tx)
    if (proof === undefined) await insertProof(tx, world, key)
    else if (!provenBy(key, proof)) throw wrongKey(RENEW)
    const known = keysOf(key).map(keyId)
    const left = (await sealsByKey(tx)).find(({ keyId }) => !known.includes(keyId))
    if (left) throw leftOut(left)
  })
}

/**
 * Deletes what can't be opened any more, notifies the owners, and makes the new key the database's own, in one transaction.
 */
export async function replaceSecretKey({ db, world, config, log, memory }: Market): Promise<void> {
  const dropped = await db.write(async tx => {
    const agents = await dropAgentSecrets(tx)
    for (const { id, name, builderId } of agents) {
      const message = `The webhook secret of “${name}” is lost, so it is hidden: rotate its secret, then test its connection.`
      await notify({ tx, world, config, memory }, builderId, {
        type: 'webhook_health_failed',
        agentId: id,
        message,
        data: { checks: [] },
      })
    }
    const factors = await dropSecondFactors(tx)
    await replaceProof(tx, world, config)
    return { agents: agents.length, factors }
  })
  const message =
    `A new secret key is in use. What the old one sealed is dropped: the webhook secrets of ${dropped.agents} agents, whose ` +
    `builders were told to rotate them, and ${dropped.factors} second factors, which must be set up again.`
  log({ type: 'warning', message })
}

const WANTED = 'must hold 32 bytes in base64, as `openssl rand -base64 32` prints them.'
const RENEW =
  'Put it back as it was (before a rotation it was what now ends in .key.old), or set MARKETPLACE_SECRET_KEY; if it is lost for good, start once with npx agent-marketplace serve ' +
  '--new-secret-key, which drops what it sealed: every builder must rotate his secrets then.'

const RENEW_IN_DEV =
  'Put it back as it was, or begin anew: npx agent-marketplace dev --reset, or on Postgres --db with an empty database.'

const lostKey = (path: string, what: 'missing' | 'empty' | 'malformed', renewal: string) =>
  new StoreError(
    `${path}, the key that the secrets of this database are sealed with, ${what === 'malformed' ? WANTED.slice(0, -1) : `is ${what}`}. ${renewal}`,
  )

const wrongKey = (renewal: string) =>
  new StoreError(
    `The secret key is not the one this database was made with, so its webhook secrets could not be read. ${renewal}`,
  )

const leftOut = ({ keyId, count }: { keyId: string; count: number }) =>
  new StoreError(
    `${count} secrets of this database are sealed with the key ${keyId}, which is not among those that were given. ` +
      'Put it behind the new one, as MARKETPLACE_SECRET_KEY=new,old, and rotate until npx agent-marketplace admin key show says that it can go.',
  )
