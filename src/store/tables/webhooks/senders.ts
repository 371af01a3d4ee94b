/** Instances that send webhooks. Where a process has its database alone there are none. Source: A-331. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, type Row, table, text } from '../table.ts'

export const senders = table('senders', {
  id: text(),
  /** Grows as long as the instance runs. */
  beats: bigint(),
})

export type SenderRow = Row<typeof senders>

export const insertSender = (tx: Tx, id: string) => senders.insert(tx, { id, beats: 0 })

/** False if others have taken the sender for gone. */
export const countBeat = async (tx: Tx, id: string) =>
  (await tx.run('UPDATE senders SET beats = beats + 1 WHERE id = $1', [id])) === 1

export const otherSenders = (q: Reader, id: string) =>
  q.all<SenderRow>(`SELECT ${senders.all} FROM senders WHERE id <> $1 ORDER BY id`, [id])

/** Removes a sender unless it has counted meanwhile, or is about to. With its row all of its claims are over. */
export const removeSilent = async (tx: Tx, { id, beats }: SenderRow) =>
  (await tx.run(
    `DELETE FROM senders WHERE id = (SELECT id FROM senders WHERE id = $1 AND beats = $2 /*+ FOR UPDATE SKIP LOCKED */)`,
    [id, beats],
  )) === 1

export const removeSender = (tx: Tx, id: string) => tx.run('DELETE FROM senders WHERE id = $1', [id])
