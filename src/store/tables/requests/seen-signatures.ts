/** Signatures of verified callbacks, with the response that each got. Source: A-38. */
import type { Reader, Tx } from '../../db.ts'
import { packed, unpacked } from '../../packed-text.ts'
import { bigint, integer, type Row, table, text } from '../table.ts'

export const seenSignatures = table('seen_signatures', {
  signature: text(),
  taskId: text(),
  status: integer(),
  /** JSON. */
  answer: text(),
  /** Real time in ms. */
  seenAt: bigint(),
})

export type SeenSignatureRow = Row<typeof seenSignatures>

export async function seenSignature(q: Reader, signature: string): Promise<SeenSignatureRow | undefined> {
  const row = await q.get<SeenSignatureRow>(`SELECT ${seenSignatures.all} FROM seen_signatures WHERE signature = $1`, [
    signature,
  ])
  return row && { ...row, answer: unpacked(row.answer) }
}

const short = (row: SeenSignatureRow) => ({ ...row, answer: packed(row.answer) })

/**
 * Fails with a ConstraintError if the signature is kept already, because its callback must not have an effect twice. Not before
 * the commit, with which it may travel.
 */
export const keepSignature = (tx: Tx, row: SeenSignatureRow) => tx.runAll([seenSignatures.insertStep(short(row))])

/** For a response that changed nothing. If the signature is kept already, its first response stays. */
export const keepFirstSignature = (tx: Tx, row: SeenSignatureRow) =>
  seenSignatures.insert(tx, short(row), 'ON CONFLICT (signature) DO NOTHING')
