/** Uploaded files that belong to no deliverable yet. Source: A-151. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, defaulted, flag, table, text } from '../table.ts'

export const uploads = table('uploads', {
  id: text(),
  /** Real time. */
  begunAt: bigint(),
  /** The file is being removed, so no deliverable may have it any more. */
  doomed: defaulted(flag()),
})

/** Call it before the file is stored, so that every stored file has a row. `begunAt` is real time. */
export const beginUpload = (tx: Tx, id: string, begunAt: number) => uploads.insert(tx, { id, begunAt })

/** The file belongs to a deliverable from now on. False if it is being removed, or has no row. */
export const attachUpload = async (tx: Tx, id: string) =>
  (await tx.run('DELETE FROM uploads WHERE id = $1 AND doomed = 0', [id])) === 1

/** Marks the file for removal. False if it belongs to a deliverable. */
export const doomUpload = async (tx: Tx, id: string) => (await uploads.update(tx, { id }, { doomed: 1 })) === 1

export const hasOldUploads = async (q: Reader, before: number) =>
  (await q.get('SELECT 1 AS one FROM uploads WHERE begun_at < $1 LIMIT 1', [before])) !== undefined

/** Marks the oldest files that were begun before `before` for removal, and returns their ids. */
export const doomOldUploads = async (tx: Tx, before: number, count: number) =>
  (
    await tx.all<{ id: string }>(
      `UPDATE uploads SET doomed = 1 WHERE begun_at < $1 AND id IN
         (SELECT id FROM uploads WHERE begun_at < $1 ORDER BY begun_at, id LIMIT $2) RETURNING id`,
      [before, count],
    )
  ).map(({ id }) => id)

/** Removes the row after its file. */
export const forgetUpload = (tx: Tx, id: string) => tx.run('DELETE FROM uploads WHERE id = $1 AND doomed = 1', [id])

/** For a file that could not be removed. Its row counts as begun later, so that others are tried first. */
export const postponeUpload = (tx: Tx, id: string, begunAt: number) => uploads.update(tx, { id }, { begunAt })
