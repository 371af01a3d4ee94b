/** Files between their arrival and the deliverable that holds them, as rows. Source: A-22. */
import type { Reader, Tx } from '../db.ts'

/** Before the file is kept, so that there is never one that nobody knows of. `begunAt` is real time. */
export const beginUpload = (tx: Tx, id: string, begunAt: number) =>
  tx.run('INSERT INTO uploads (id, begun_at) VALUES ($1, $2)', [id, begunAt])

/** A deliverable holds the file from now on. False if it is being removed, or never was. */
export const holdUpload = async (tx: Tx, id: string) =>
  (await tx.run('DELETE FROM uploads WHERE id = $1 AND doomed = 0', [id])) === 1

/** Nothing can hold the file from now on. False if something does. */
export const doomUpload = async (tx: Tx, id: string) =>
  (await tx.run('UPDATE uploads SET doomed = 1 WHERE id = $1', [id])) === 1

export const hasOldUploads = async (q: Reader, before: number) =>
  (await q.get('SELECT 1 AS one FROM uploads WHERE begun_at < $1 LIMIT 1', [before])) !== undefined

/** The oldest of those begun before `before`; nothing can hold them from now on. */
export const doomOldUploads = async (tx: Tx, before: number, count: number) =>
  (
    await tx.all<{ id: string }>(
      `UPDATE uploads SET doomed = 1 WHERE begun_at < $1 AND id IN
         (SELECT id FROM uploads WHERE begun_at < $1 ORDER BY begun_at, id LIMIT $2) RETURNING id`,
      [before, count],
    )
  ).map(({ id }) => id)

/** The file is gone. */
export const forgetUpload = (tx: Tx, id: string) => tx.run('DELETE FROM uploads WHERE id = $1 AND doomed = 1', [id])

/** Its file could not be removed: it counts as begun later, so that others come first. */
export const postponeUpload = (tx: Tx, id: string, begunAt: number) =>
  tx.run('UPDATE uploads SET begun_at = $2 WHERE id = $1', [id, begunAt])
