/** Mails that wait to be sent. */

import type { Reader, Tx } from '../../db.ts'
import { bigint, defaulted, integer, nullable, type Row, table, text } from '../table.ts'
export const mails = table('mails', {
  id: text(),
  kind: text<'password_reset' | 'notification'>(),
  /** The email that was given, or the id of the notification or of the security notice. */
  about: text(),
  attempts: defaulted(integer()),
  nextAt: bigint(),
  createdAt: bigint(),
})

const due = ['id', 'kind', 'about', 'attempts'] as const
export type MailRow = Pick<Row<typeof mails>, (typeof due)[number]>

export const insertMail = (tx: Tx, row: Omit<MailRow, 'attempts'>, now: number) =>
  mails.insert(tx, { ...row, nextAt: now, createdAt: now })

/** Returns due mails. Password resets come first, because somebody waits for each. */
export const dueMails = (q: Reader, now: number, limit: number) =>
  q.all<MailRow>(
    `SELECT ${mails.some(due)} FROM mails WHERE next_at <= $1
     ORDER BY CASE kind WHEN 'password_reset' THEN 0 ELSE 1 END, next_at, id LIMIT $2`,
    [now, limit],
  )

/** Claims a mail: counts an attempt, and writes when the next is due. Returns 0 if another instance has claimed it. */
export const claimMail = (tx: Tx, { id, attempts }: MailRow, nextAt: number) =>
  tx.run('UPDATE mails SET attempts = attempts + 1, next_at = $3 WHERE id = $1 AND attempts = $2', [
    id,
    attempts,
    nextAt,
  ])

/** Writes when a mail is tried again. Changes nothing if another instance has claimed it by now. */
export const retryMail = (tx: Tx, { id, attempts }: MailRow, nextAt: number) =>
  mails.update(tx, { id, attempts }, { nextAt })

/** Removes the mails that would carry a token to this email, whether or not they were tried. */
export const deleteResetMails = (tx: Tx, email: string) =>
  tx.run(`DELETE FROM mails WHERE kind = 'password_reset' AND about = $1`, [email])

export const deleteMail = (tx: Tx, id: string) => tx.run('DELETE FROM mails WHERE id = $1', [id])

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
