/** API keys. The key itself is never stored, only its hash. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, type Row, readPage, table, text } from '../table.ts'
import { type UserRow, users } from './users.ts'

export const apiKeys = table('api_keys', {
  id: text(),
  userId: text(),
  name: text(),
  keyHash: text(),
  keyPrefix: text(),
  createdAt: bigint(),
})

/** When each key was used last. A table of its own, because keys are read far more often than they change. */
export const apiKeyUses = table('api_key_uses', { keyId: text(), lastUsedAt: bigint() })

export type KeyRow = Row<typeof apiKeys>

export const insertKey = (tx: Tx, key: KeyRow) => apiKeys.insert(tx, key)

export const keyById = (q: Reader, id: string) =>
  q.get<KeyRow>(`SELECT ${apiKeys.all} FROM api_keys WHERE id = $1`, [id])

// Nearly every request on Postgres asks this, and to make the text takes longer than to decode the row.
const byHash = `SELECT ${users.as('u')}, k.id AS "keyId" FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.key_hash = $1`

/** The account of this key, and the key's id. */
export const userByKey = (q: Reader, keyHash: string) => q.get<UserRow & { keyId: string }>(byHash, [keyHash])

/** One page of an account's keys, oldest first. */
export const listKeys = (q: Reader, userId: string, limit: number, offset: number) =>
  readPage<KeyRow & { lastUsedAt: number | null }>(
    q,
    `SELECT ${apiKeys.all}, last_used_at AS "lastUsedAt" FROM api_keys
     LEFT JOIN api_key_uses ON key_id = id WHERE user_id = $1 ORDER BY id LIMIT $2 OFFSET $3`,
    [userId, limit, offset],
  )

export const countKeys = async (q: Reader, userId: string) =>
  (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM api_keys WHERE user_id = $1', [userId]))!.count

export async function deleteKey(tx: Tx, id: string): Promise<void> {
  await tx.run('DELETE FROM api_keys WHERE id = $1', [id])
  await tx.run('DELETE FROM api_key_uses WHERE key_id = $1', [id])
}

export async function deleteKeysNamed(tx: Tx, userId: string, name: string): Promise<void> {
  const values = [userId, name]
  await tx.run(
    'DELETE FROM api_key_uses WHERE key_id IN (SELECT id FROM api_keys WHERE user_id = $1 AND name = $2)',
    values,
  )
  await tx.run('DELETE FROM api_keys WHERE user_id = $1 AND name = $2', values)
}

/** Returns how many there were. */
export async function deleteKeys(tx: Tx, userId: string): Promise<number> {
  await tx.run('DELETE FROM api_key_uses WHERE key_id IN (SELECT id FROM api_keys WHERE user_id = $1)', [userId])
  return tx.run('DELETE FROM api_keys WHERE user_id = $1', [userId])
}

const touched = apiKeyUses.insertSelect(
  { keyId: 'id', lastUsedAt: '$2' },
  `FROM api_keys WHERE id = $1 ${apiKeyUses.replacing(['keyId'], ['lastUsedAt'])} WHERE api_key_uses.last_used_at <= $3`,
)

/** Changes nothing if the key is gone or was used after `unlessUsedAfter`. */
export const touchKey = (tx: Tx, id: string, now: number, unlessUsedAfter: number) =>
  tx.run(touched, [id, now, unlessUsedAfter])
