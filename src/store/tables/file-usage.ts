/** How many bytes of files each account's deliverables hold, as rows. */

import type { Reader, Tx } from '../db.ts'
import { filesIn } from './deliverables.ts'

/** Takes so many bytes more, if all stay within `most`. False if they don't. */
export const takeBytes = async (tx: Tx, userId: string, bytes: number, most: number) =>
  bytes <= most &&
  (await tx.run(
    `INSERT INTO file_usage (user_id, bytes) VALUES ($1, $2)
     ON CONFLICT (user_id) DO UPDATE SET bytes = file_usage.bytes + excluded.bytes
     WHERE file_usage.bytes + excluded.bytes <= $3`,
    [userId, bytes, most],
  )) === 1

export const bytesOf = async (q: Reader, userId: string) =>
  (await q.get<{ bytes: number }>('SELECT bytes FROM file_usage WHERE user_id = $1', [userId]))?.bytes ?? 0

/** Of the account with the most. */
export const mostBytes = async (q: Reader) =>
  (await q.get<{ bytes: number | null }>('SELECT MAX(bytes) AS bytes FROM file_usage'))!.bytes ?? 0

/** Counts all files anew, a page of deliverables at a time. Nothing else may take bytes meanwhile. */
export async function recount(tx: Tx): Promise<void> {
  await tx.run('DELETE FROM file_usage')
  for (let after = ''; ; ) {
    const page = await tx.all<{ id: string; files: string; builderId: string }>(
      `SELECT d.id, d.files, t.builder_id AS "builderId" FROM deliverables d JOIN tasks t ON t.id = d.task_id
       WHERE d.files IS NOT NULL AND d.id > $1 ORDER BY d.id LIMIT 500`,
      [after],
    )
    for (const { files, builderId } of page) {
      const bytes = filesIn(files).reduce((sum, { size }) => sum + size, 0)
      await takeBytes(tx, builderId, bytes, Number.MAX_SAFE_INTEGER)
    }
    if (page.length < 500) return
    after = page.at(-1)!.id
  }
}
