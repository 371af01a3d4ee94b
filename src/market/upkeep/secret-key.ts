/** Rotates the key that seals secrets, while everything goes on: both keys open, the new one seals. Source: A-8. */
import { refuse } from '../../api/failures.ts'
import type { Reader, Tx } from '../../store/db.ts'
import { replaceSealed, type Sealed, sealedOtherwise, sealsByKey } from '../../store/tables/sealed-columns.ts'
import { deleteSetting, insertSetting, settingNamed } from '../../store/tables/upkeep/settings.ts'
import type { World } from '../../world/world.ts'
import { boundTo } from '../accounts/second-factor.ts'
import type { Market } from '../market.ts'
import { type Key, keyId, keysOf, seal, unseal } from '../sealing.ts'
import type { Verb } from '../verb.ts'

/** Of a setting: sealed with the key that the database was used with last. It proves a key before anything is opened. */
const PROOF = 'secret_key_check'

/** Secrets in one transaction. */
const ROWS = 250
/** One request ends after so many transactions, or after this time. */
const TRANSACTIONS = 2_000
const MS = 5_000

/** One rotation at a time: a second would make a third key. */
class Rotations {
  isUnderWay = false
}

export const proofIn = (q: Reader) => settingNamed(q, PROOF)

export const insertProof = (tx: Tx, world: World, key: Key) => insertSetting(tx, PROOF, seal(world, key, PROOF, PROOF))

export async function replaceProof(tx: Tx, world: World, key: Key): Promise<void> {
  await deleteSetting(tx, PROOF)
  await insertProof(tx, world, key)
}

/** Whether one of the keys has sealed the proof. */
export function provenBy(key: Key, proof: string): boolean {
  try {
    return unseal(key, PROOF, proof) === PROOF
  } catch {
    return false
  }
}

const adminSecretKey: Verb<'adminSecretKey'> = async ({ tx, config }) => ({ keys: await keysNow(tx, config) })

async function keysNow(q: Reader, config: Key) {
  const counts = new Map((await sealsByKey(q)).map(({ keyId, count }) => [keyId, count]))
  const proof = await proofIn(q)
  const known = keysOf(config).map(keyId)
  return [...new Set([...known, ...counts.keys()])].map(id => ({
    id,
    seals: id === known[0],
    known: known.includes(id),
    sealed: counts.get(id) ?? 0,
    canGo: id !== known[0] && (counts.get(id) ?? 0) === 0 && !proof?.startsWith(`${id}.`),
  }))
}

const rotateSecretKey: Verb<'rotateSecretKey'> = async market => {
  const { config, keyFile, memory } = market
  const rotations = memory.of(Rotations)
  if (rotations.isUnderWay) throw refuse('key_rotates')
  rotations.isUnderWay = true
  try {
    if (keysOf(config).length === 1) {
      if (!keyFile) throw refuse('one_key_given')
      await keyFile.begin()
    }
    const resealed = await resealAll(market)
    const done = await market.db.write(tx => settle(tx, market))
    if (done) await keyFile?.end()
    const keys = await market.db.read(q => keysNow(q, config))
    if (done)
      market.log({ type: 'warning', message: `Secrets are sealed with the key ${keyId(config.secretKey)} alone` })
    return { done, resealed, keys }
  } finally {
    rotations.isUnderWay = false
  }
}

/** What can't be opened stays as it is, and is counted. */
async function resealAll(market: Market): Promise<number> {
  const { db, world } = market
  const until = world.realNow() + MS
  let after: Sealed | null = null
  let resealed = 0
  for (let n = 0; n < TRANSACTIONS && world.realNow() < until; n++) {
    const from: Sealed | null = after
    const slice: Slice = await db.write(tx => resealSome(tx, market, from))
    resealed += slice.resealed
    after = slice.last
    if (after === null) break
  }
  return resealed
}

interface Slice {
  resealed: number
  /** null: there was nothing left. */
  last: Sealed | null
}

async function resealSome(tx: Tx, { world, config }: Market, after: Sealed | null): Promise<Slice> {
  const found = await sealedOtherwise(tx, keyId(config.secretKey), after, ROWS)
  let resealed = 0
  for (const one of found) {
    const bound = one.column === 'factor' ? boundTo(one.id) : one.id
    const secret = openedIfPossible(config, bound, one.sealed)
    if (secret !== null) resealed += await replaceSealed(tx, one, seal(world, config, bound, secret))
  }
  return { resealed, last: found.at(-1) ?? null }
}

function openedIfPossible(config: Key, bound: string, sealed: string): string | null {
  try {
    return unseal(config, bound, sealed)
  } catch {
    return null
  }
}

/** Whether nothing is sealed with another key. Then the proof is the new key's too. */
async function settle(tx: Tx, { world, config }: Market): Promise<boolean> {
  if ((await sealedOtherwise(tx, keyId(config.secretKey), null, 1)).length > 0) return false
  await replaceProof(tx, world, config)
  return true
}

export const secretKeyVerbs = { adminSecretKey, rotateSecretKey }
