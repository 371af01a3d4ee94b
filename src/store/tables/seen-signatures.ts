/** Signatures of callbacks that were verified, with the answer each was given. Source: A-38. */
import { columns, type Reader, type Tx } from '../db.ts'

export interface SeenSignatureRow {
  signature: string
  taskId: string
  status: number
  /** JSON. */
  answer: string
  /** Real time in ms. */
  seenAt: number
}

const all = columns('signature', 'taskId', 'status', 'answer', 'seenAt')

export const seenSignature = (q: Reader, signature: string) =>
  q.get<SeenSignatureRow>(`SELECT ${all} FROM seen_signatures WHERE signature = $1`, [signature])

const insert = `INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ($1, $2, $3, $4, $5)`
const values = (row: SeenSignatureRow) => [row.signature, row.taskId, row.status, row.answer, row.seenAt]

/** Throws ConstraintError if the signature is kept already: whatever it asked for must then not happen again. */
export const keepSignature = (tx: Tx, row: SeenSignatureRow) => tx.run(insert, values(row))

/** For an answer that changed nothing; the first one kept stays. */
export const keepFirstSignature = (tx: Tx, row: SeenSignatureRow) =>
  tx.run(`${insert} ON CONFLICT (signature) DO NOTHING`, values(row))
