/** Notices to the owner of an account, such as that its password was changed. Each row waits for its mail. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, nullable, type Row, table, text } from '../table.ts'

const noticeKinds = [
  'password_changed',
  'password_reset',
  'api_key_created',
  'second_factor_on',
  'second_factor_off',
  'recovery_code_used',
  'administrator_signed_in',
] as const

export const securityNotices = table('security_notices', {
  id: text(),
  userId: text(),
  kind: text<(typeof noticeKinds)[number]>(),
  /** Fills the gap in the sentence of this kind. Never a secret. */
  detail: nullable(text()),
  /** The address of the client that caused it; null if unknown. */
  address: nullable(text()),
  createdAt: bigint(),
})

export type SecurityNoticeRow = Row<typeof securityNotices>

export const insertNotice = (tx: Tx, row: SecurityNoticeRow) => securityNotices.insert(tx, row)

export const noticeById = (q: Reader, id: string) =>
  q.get<SecurityNoticeRow>(`SELECT ${securityNotices.all} FROM security_notices WHERE id = $1`, [id])

/** Changes nothing if there is none. */
export const deleteNotice = (tx: Tx, id: string) => tx.run('DELETE FROM security_notices WHERE id = $1', [id])
