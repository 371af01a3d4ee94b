/** The columns that are sealed with the secret key. Without the key their contents are lost. */
import type { Reader, Tx } from '../db.ts'
import { type AgentRow, agents } from './agents/agents.ts'

/** The id of the key stands before the first dot. */
const KEY_ID_LENGTH = 8

/** Each sealed column of a row: whose it is, as it was bound to when it was sealed, and what is in it. */
const columns = {
  secret: { table: 'agents', key: 'id' },
  old_secret: { table: 'agents', key: 'id' },
  factor: { table: 'second_factors', key: 'user_id' },
} as const

export type SealedColumn = keyof typeof columns
export interface Sealed {
  readonly column: SealedColumn
  readonly id: string
  readonly sealed: string
}

const nameOf = (column: SealedColumn) => (column === 'factor' ? 'secret' : column)

const sides = (Object.keys(columns) as SealedColumn[]).map(column => {
  const { table, key } = columns[column]
  return `SELECT '${column}' AS "column", ${key} AS id, ${nameOf(column)} AS sealed,
    SUBSTR(${nameOf(column)}, 1, ${KEY_ID_LENGTH}) AS "keyId" FROM ${table} WHERE ${nameOf(column)} IS NOT NULL`
})

/** How much is sealed with each key. Reads all of it. */
export const sealsByKey = (q: Reader) =>
  q.all<{ keyId: string; count: number }>(
    `SELECT "keyId", COUNT(*) AS count FROM (${sides.join(' UNION ALL ')}) seals GROUP BY "keyId" ORDER BY "keyId"`,
  )

/** What is sealed with other keys than this one, behind a place in the order of columns and ids. */
export const sealedOtherwise = (q: Reader, keyId: string, after: Pick<Sealed, 'column' | 'id'> | null, most: number) =>
  q.all<Sealed>(
    `SELECT "column", id, sealed FROM (${sides.join(' UNION ALL ')}) seals
     WHERE "keyId" <> $1 AND ("column" > $2 OR ("column" = $2 AND id > $3)) ORDER BY "column", id LIMIT $4`,
    [keyId, after?.column ?? '', after?.id ?? '', most],
  )

/** Changes nothing if it has been replaced meanwhile. */
export const replaceSealed = (tx: Tx, { column, id, sealed }: Sealed, by: string) => {
  const { table, key } = columns[column]
  const name = nameOf(column)
  return tx.run(`UPDATE ${table} SET ${name} = $1 WHERE ${key} = $2 AND ${name} = $3`, [by, id, sealed])
}

const unsealed = ['id', 'name', 'builderId'] as const
export type UnsealedAgent = Pick<AgentRow, (typeof unsealed)[number]>

const sealed = ['id', 'slug', 'secret'] as const

/** Agents that have a secret, newest first. */
export const agentsWithSecret = (q: Reader, most: number) =>
  q.all<Pick<AgentRow, (typeof sealed)[number]>>(
    `SELECT ${agents.some(sealed)} FROM agents WHERE secret IS NOT NULL AND deleted_at IS NULL
     ORDER BY id DESC LIMIT $1`,
    [most],
  )

/** Removes the secrets of all agents, which have to be verified again. Returns the agents that had one. */
export async function dropAgentSecrets(tx: Tx): Promise<UnsealedAgent[]> {
  const found = await tx.all<UnsealedAgent>(
    `SELECT ${agents.some(unsealed)} FROM agents WHERE secret IS NOT NULL ORDER BY id`,
  )
  await tx.run(
    `UPDATE agents SET secret = NULL, secret_rotated_at = NULL, old_secret = NULL, old_secret_until = NULL, last_pass_at = NULL
     WHERE secret IS NOT NULL OR old_secret IS NOT NULL`,
  )
  return found
}

/** Returns how many there were. */
export async function dropSecondFactors(tx: Tx): Promise<number> {
  await tx.run('DELETE FROM recovery_codes')
  return tx.run('DELETE FROM second_factors')
}
