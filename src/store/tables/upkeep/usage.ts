/** How many bytes of each kind an account has stored. */

import type { Reader, Tx } from '../../db.ts'
import { bigint, countShown, readPage, table, text } from '../table.ts'

export const fileUsage = table('file_usage', { userId: text(), bytes: bigint() })
export const textUsage = table('text_usage', { userId: text(), bytes: bigint() })

/** `file_usage`: files of deliverables. `text_usage`: the texts that an account has written, and the webhooks that contain them. */
export type Usage = 'file_usage' | 'text_usage'

const counting = (usage: typeof fileUsage) =>
  usage.insertValues(
    [{ userId: '$1', bytes: '$2' }],
    `ON CONFLICT (user_id) DO UPDATE SET bytes = ${usage.name}.bytes + excluded.bytes
     WHERE ${usage.name}.bytes + excluded.bytes <= $3`,
  )
const counted: Readonly<Record<Usage, string>> = { file_usage: counting(fileUsage), text_usage: counting(textUsage) }

/** Adds `bytes` to what the account has. Adds nothing and returns false if that would exceed `most`. */
export const countBytes = async (tx: Tx, usage: Usage, userId: string, bytes: number, most: number) =>
  bytes <= most && (await tx.run(counted[usage], [userId, bytes, most])) === 1

/** Adds bytes without a bound, for writes that are never refused. */
export const addBytes = (tx: Tx, usage: Usage, userId: string, bytes: number) =>
  countBytes(tx, usage, userId, bytes, Number.MAX_SAFE_INTEGER)

/** Subtracts bytes; the result is never below 0. */
export const uncountBytes = (tx: Tx, usage: Usage, userId: string, bytes: number) =>
  tx.run(`UPDATE ${usage} SET bytes = CASE WHEN bytes > $2 THEN bytes - $2 ELSE 0 END WHERE user_id = $1`, [
    userId,
    bytes,
  ])

export const bytesOf = async (q: Reader, usage: Usage, userId: string) =>
  (await q.get<{ bytes: number }>(`SELECT bytes FROM ${usage} WHERE user_id = $1`, [userId]))?.bytes ?? 0

/** The bytes of all accounts together. */
export const allBytes = async (q: Reader, usage: Usage) =>
  (await q.get<{ bytes: number }>(`SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS bytes FROM ${usage}`))!.bytes

/** How accounts are ordered: by what they have most of. */
export const usageOrders = { texts: 'text_usage', files: 'file_usage' } as const satisfies Record<string, Usage>

export interface AccountUsageRow {
  id: string
  name: string
  email: string
  banned: 0 | 1
  textBytes: number
  fileBytes: number
}

/** The accounts that have something of this kind, the fullest first. */
export const fullestAccounts = (q: Reader, by: keyof typeof usageOrders, limit: number, offset: number) =>
  readPage<AccountUsageRow>(
    q,
    `SELECT u.id, u.name, u.email, u.banned,
       COALESCE((SELECT bytes FROM text_usage WHERE user_id = u.id), 0) AS "textBytes",
       COALESCE((SELECT bytes FROM file_usage WHERE user_id = u.id), 0) AS "fileBytes"
     FROM (SELECT user_id, bytes FROM ${usageOrders[by]} WHERE bytes > 0 ORDER BY bytes DESC, user_id DESC LIMIT $1 OFFSET $2) shown0
     JOIN users u ON u.id = shown0.user_id ORDER BY shown0.bytes DESC, u.id DESC`,
    [limit, offset],
  )

export const countAccountsWith = (q: Reader, by: keyof typeof usageOrders) =>
  countShown(q, [`FROM ${usageOrders[by]} WHERE bytes > 0`], [])

/** The bytes of the account with the most. */
export const mostBytes = async (q: Reader, usage: Usage) =>
  (await q.get<{ bytes: number | null }>(`SELECT MAX(bytes) AS bytes FROM ${usage}`))!.bytes ?? 0
