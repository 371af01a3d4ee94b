/** Files between their arrival and the deliverable that holds them, as rows. Source: A-151. */
import type { Reader, Tx } from '../db.ts'
import { bigint, defaulted, flag, table, text } from './table.ts'

export const uploads = table('uploads', {
  id: text(),
  /** Real time. */
  begunAt: bigint(),
  /** The file is being removed: nothing may hold it any more. */
  doomed: defaulted(flag()),
})

/** Before the file is kept, so that there is never one that nobody knows of. `begunAt` is real time. */
export const beginUpload = (tx: Tx, id: string, begunAt: number) => uploads.insert(tx, { id, begunAt })

/** A deliverable holds the file from now on. False if it is being removed, or never was. */
export const attachUpload = async (tx: Tx, id: string) =>
  (await tx.run('DELETE FROM uploads WHERE id = $1 AND doomed = 0', [id])) === 1

/** Nothing can hold the file from now on. False if something does. */
export const doomUpload = async (tx: Tx, id: string) => (await uploads.update(tx, { id }, { doomed: 1 })) === 1

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
export const postponeUpload = (tx: Tx, id: string, begunAt: number) => uploads.update(tx, { id }, { begunAt })
