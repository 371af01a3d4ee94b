/** Notices of changes to what guards an account, as rows that wait for their letter. */
import { columns, type Reader, type Tx } from '../db.ts'

const noticeKinds = [
  'password_changed',
  'password_reset',
  'api_key_created',
  'second_factor_on',
  'second_factor_off',
  'recovery_code_used',
  'administrator_signed_in',
] as const

export interface SecurityNoticeRow {
  id: string
  userId: string
  kind: (typeof noticeKinds)[number]
  /** What the sentence of this kind leaves open; no secret. */
  detail: string | null
  /** Of the client that did it; null where nobody knew it. */
  address: string | null
  createdAt: number
}

const all = columns('id', 'userId', 'kind', 'detail', 'address', 'createdAt')

export const insertNotice = (tx: Tx, row: SecurityNoticeRow) =>
  tx.run(
    `INSERT INTO security_notices (id, user_id, kind, detail, address, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
    [row.id, row.userId, row.kind, row.detail, row.address, row.createdAt],
  )

export const noticeById = (q: Reader, id: string) =>
  q.get<SecurityNoticeRow>(`SELECT ${all} FROM security_notices WHERE id = $1`, [id])

/** Changes nothing if there is none. */
export const deleteNotice = (tx: Tx, id: string) => tx.run('DELETE FROM security_notices WHERE id = $1', [id])
