/** Finds the key that encrypts secrets at rest, and proves that it is the right one. Source: A-8. */
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { notify } from '../market/accounts/notifications.ts'
import type { Market } from '../market/market.ts'
import { seal, unseal } from '../market/sealing.ts'
import { UsageError } from '../settings/config.ts'
import { type Db, StoreError, type Tx } from '../store/db.ts'
import { type Disk, readFully, realDisk, writeFully } from '../store/embedded/disk.ts'
import { dropAgentSecrets, dropSecondFactors } from '../store/tables/sealed-columns.ts'
import { deleteSetting, insertSetting, settingNamed } from '../store/tables/upkeep/settings.ts'
import type { World } from '../world/world.ts'

const KEY_BYTES = 32
/** A longer file is no key. */
const MOST_READ = 4096
const PROOF = 'secret_key_check'

export interface SecretKeySource {
  /** Base64 of 32 bytes. It takes precedence over the file. */
  given: string | undefined
  /** The database file. null: makes a key that lasts as long as the process. */
  file: string | null
  /** Whether a new key may replace a lost one. */
  renew?: boolean | undefined
  /** A simulator begins anew where a deployment drops what was sealed. */
  isDev?: boolean
}

export interface SecretKey {
  secretKey: Buffer
  /** True if the database's secrets were sealed with another key. Then `replaceSecretKey` must delete them. */
  replaces: boolean
}

/**
 * Returns the given key, or the one in `<file>.key`, which is created (0600) for a database that has sealed nothing yet.
 * Throws a StoreError if the key is lost or wrong, unless a new one is allowed. A right key is never replaced.
 */
export async function secretKeyFor(db: Db, source: SecretKeySource, disk: Disk = realDisk): Promise<SecretKey> {
  const { given, file, renew } = source
  const proof = await db.read(q => settingNamed(q, PROOF))
  const path = file === null ? null : `${file}.key`
  const found = given !== undefined ? givenKey(given) : path === null ? randomBytes(KEY_BYTES) : await keyIn(disk, path)
  if (Buffer.isBuffer(found) && (proof === undefined || opens(found, proof)))
    return { secretKey: found, replaces: false }
  // Nothing was sealed yet, so a key file that is missing or was never fully written can be made anew.
  const isUnused = proof === undefined && (found === 'missing' || found === 'empty')
  if (!isUnused && (proof === undefined || !renew)) throw keyFault(source, found)
  if (given !== undefined) return { secretKey: found as Buffer, replaces: true }
  if (found !== 'missing' && found !== 'empty') await setAside(disk, path!)
  return { secretKey: await makeKey(disk, path!), replaces: proof !== undefined }
}

function keyFault({ file, isDev }: SecretKeySource, found: Buffer | 'missing' | 'empty' | 'malformed'): StoreError {
  const renewal = isDev ? RENEW_IN_DEV : RENEW
  return Buffer.isBuffer(found) ? wrongKey(renewal) : lostKey(`${file}.key`, found, renewal)
}

function givenKey(text: string): Buffer {
  const key = decoded(text)
  if (key === 'malformed') throw new UsageError(`MARKETPLACE_SECRET_KEY ${WANTED}`)
  return key
}

async function keyIn(disk: Disk, path: string): Promise<Buffer | 'missing' | 'empty' | 'malformed'> {
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

function decoded(text: string): Buffer | 'malformed' {
  const key = Buffer.from(text.trim(), 'base64')
  return key.length === KEY_BYTES ? key : 'malformed'
}

/**
 * Renames the old key file to a name that no file has. An earlier file may be the last copy of a key that can be repaired by
 * hand, or that belongs to another database.
 */
async function setAside(disk: Disk, path: string): Promise<void> {
  let name = `${path}.old`
  for (let n = 2; await isThere(disk, name); n++) name = `${path}.old.${n}`
  await disk.rename(path, name)
}

async function isThere(disk: Disk, path: string): Promise<boolean> {
  const file = await disk.openToRead(path)
  await file?.close()
  return file !== undefined
}

/** Writes the key file so that it is whole and durable, or not there. Without it, everything that it sealed is lost. */
async function makeKey(disk: Disk, path: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES)
  const draft = `${path}.new`
  // The renamed old key must be durable before the new key takes its name, also if a killed process renamed it.
  await disk.syncFolder(dirname(path))
  await disk.remove(draft)
  const file = await disk.open(draft)
  try {
    writeFully(file, Buffer.from(`${key.toString('base64')}\n`), 0)
    await file.datasync()
  } finally {
    await file.close()
  }
  await disk.rename(draft, path)
  await disk.syncFolder(dirname(path))
  return key
}

/** Throws a StoreError if the database was used with another key. The first key of a database becomes its own. */
export async function proveSecretKey(db: Db, world: World, secretKey: Buffer): Promise<void> {
  await db.write(async tx => {
    const proof = await settingNamed(tx, PROOF)
    if (proof === undefined) await insertProof(tx, world, secretKey)
    else if (!opens(secretKey, proof)) throw wrongKey(RENEW)
  })
}

const insertProof = (tx: Tx, world: World, secretKey: Buffer) =>
  insertSetting(tx, PROOF, seal(world, { secretKey }, PROOF, PROOF))

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
    await deleteSetting(tx, PROOF)
    await insertProof(tx, world, config.secretKey)
    return { agents: agents.length, factors }
  })
  const message =
    `A new secret key is in use. What the old one sealed is dropped: the webhook secrets of ${dropped.agents} agents, whose ` +
    `builders were told to rotate them, and ${dropped.factors} second factors, which must be set up again.`
  log({ type: 'warning', message })
}

const WANTED = 'must hold 32 bytes in base64, as `openssl rand -base64 32` prints them.'
const RENEW =
  'Put it back as it was, or set MARKETPLACE_SECRET_KEY; if it is lost for good, start once with marketplace serve ' +
  '--new-secret-key, which drops what it sealed: every builder must rotate his secrets then.'

const RENEW_IN_DEV =
  'Put it back as it was, or begin anew: marketplace dev --reset, or on Postgres --db with an empty database.'

const lostKey = (path: string, what: 'missing' | 'empty' | 'malformed', renewal: string) =>
  new StoreError(
    `${path}, the key that the secrets of this database are sealed with, ${what === 'malformed' ? WANTED.slice(0, -1) : `is ${what}`}. ${renewal}`,
  )

const wrongKey = (renewal: string) =>
  new StoreError(
    `The secret key is not the one this database was made with, so its webhook secrets could not be read. ${renewal}`,
  )

function opens(secretKey: Buffer, sealed: string): boolean {
  try {
    return unseal({ secretKey }, PROOF, sealed) === PROOF
  } catch {
    return false
  }
}
