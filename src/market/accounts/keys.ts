/** API keys. Source: I-builder, A-11. */
import { refuse } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import { rowsOf } from '../../api/page.ts'
import { type KeyInfo, keyInfo as keyRecord } from '../../api/records.ts'
import type { Tx } from '../../store/db.ts'
import {
  apiKeys,
  countKeys,
  insertKey,
  type KeyRow,
  keyById,
  deleteKey as removeKey,
  listKeys as selectKeys,
} from '../../store/tables/accounts/keys.ts'
import type { World } from '../../world/world.ts'
import { recordMaker } from '../record-maker.ts'
import { iso, isoOrNull } from '../time.ts'
import type { Verb } from '../verb.ts'
import { secretHash } from './credentials.ts'
import { notifyOwner } from './security-notices.ts'

const makeKeyInfo = recordMaker(keyRecord, apiKeys)
const keyInfo = (row: KeyRow): KeyInfo => makeKeyInfo(row, { createdAt: iso(row.createdAt) })

/** Creates a key of the account. The whole key is returned here and never again. */
export async function createKeyFor(
  tx: Tx,
  world: World,
  userId: string,
  name: string,
): Promise<{ key: string; keyInfo: KeyInfo }> {
  // Locked; otherwise two at once could both be the tenth key.
  await tx.lock('users', userId)
  if ((await countKeys(tx, userId)) >= limits.key.perAccount) throw refuse('too_many_keys', limits.key.perAccount)
  const key = `svc_${world.bytes(24).toString('hex')}`
  const row: KeyRow = {
    id: world.id('key', userId),
    userId,
    name,
    keyHash: secretHash(key),
    keyPrefix: key.slice(0, limits.keyPrefix),
    createdAt: world.now(),
  }
  await insertKey(tx, row)
  return { key, keyInfo: keyInfo(row) }
}

const listKeys: Verb<'listKeys'> = async ({ tx, actor }, { query }) => {
  const { id } = actor.user
  const [rows, total] = await Promise.all([selectKeys(tx, id, ...rowsOf(query)), countKeys(tx, id)])
  const items = rows.map(row => ({ ...keyInfo(row), lastUsedAt: isoOrNull(row.lastUsedAt) }))
  return { items, total }
}

const createKey: Verb<'createKey'> = async (ctx, { body }) => {
  const { tx, world, actor } = ctx
  const made = await createKeyFor(tx, world, actor.user.id, body.name)
  await notifyOwner(ctx, actor.user.id, { kind: 'api_key_created', detail: body.name })
  return made
}

const deleteKey: Verb<'deleteKey'> = async ({ tx, actor }, { params }) => {
  const key = await keyById(tx, params.id)
  if (!key) throw refuse('not_found', 'API key')
  if (key.userId !== actor.user.id) throw refuse('not_yours', 'API key')
  await removeKey(tx, key.id)
  return { id: key.id }
}

export const keyVerbs = { listKeys, createKey, deleteKey }
