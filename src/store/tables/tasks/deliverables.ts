/** Deliverables of tasks. */

import type { KeptFile } from '../../../api/file-kinds.ts'
import type { Reader, Tx } from '../../db.ts'
import { bigint, defaulted, flag, integer, nullable, type Row, readPage, table, text, written } from '../table.ts'
export const deliverables = table('deliverables', {
  id: text(),
  taskId: text(),
  content: nullable(written()),
  notes: nullable(written()),
  /** JSON: KeptFile[]; null if there are none. */
  files: nullable(text()),
  createdAt: bigint(),
  /** Orders the deliverables of a task. Ids could not: they contain the time of an instance, and clocks are set back. */
  position: defaulted(integer()),
})

const shown = ['id', 'content', 'notes', 'files', 'createdAt'] as const
export type DeliverableRow = Pick<Row<typeof deliverables>, (typeof shown)[number]>

/** The files in a row's column. Rows of an early version may have a name with half a surrogate pair. */
export const filesIn = (files: string | null): KeptFile[] =>
  files === null ? [] : (JSON.parse(files) as KeptFile[]).map(file => ({ ...file, name: file.name.toWellFormed() }))

const append = deliverables.insertSelect(
  {
    id: '$1',
    taskId: '$2',
    content: '$3',
    notes: '$4',
    files: '$5',
    createdAt: '$6',
    position: 'COALESCE(MAX(d.position) + 1, 0)',
  },
  'FROM deliverables d WHERE d.task_id = $2 HAVING COUNT(*) < $7',
)

/** Adds a deliverable after all others of its task. Returns 0 if the task has `most`. The caller has locked the task. */
export const insertDeliverable = (tx: Tx, taskId: string, row: DeliverableRow, most: number) =>
  tx.run(append, [row.id, taskId, row.content, row.notes, row.files, row.createdAt, most])

export const deliverableById = (q: Reader, id: string) =>
  q.get<DeliverableRow>(`SELECT ${deliverables.some(shown)} FROM deliverables WHERE id = $1`, [id])

export const deliverablesOf = (q: Reader, taskId: string, limit: number, offset: number) =>
  readPage<DeliverableRow>(
    q,
    `SELECT ${deliverables.some(shown)} FROM deliverables
     WHERE task_id = $1 ORDER BY position LIMIT $2 OFFSET $3`,
    [taskId, limit, offset],
  )

export const countDeliverables = async (q: Reader, taskId: string) =>
  (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM deliverables WHERE task_id = $1', [taskId]))!.count

/** Every file that a deliverable has. */
export async function* allFiles(q: Reader): AsyncGenerator<KeptFile> {
  let after = ''
  for (;;) {
    const rows = await q.all<{ id: string; files: string }>(
      'SELECT id, files FROM deliverables WHERE files IS NOT NULL AND id > $1 ORDER BY id LIMIT 500',
      [after],
    )
    if (rows.length === 0) return
    for (const { files } of rows) yield* filesIn(files)
    after = rows.at(-1)!.id
  }
}

/** A file of one of this task's deliverables. */
export async function fileOf(q: Reader, taskId: string, fileId: string): Promise<KeptFile | undefined> {
  const rows = await q.all<{ files: string }>(
    'SELECT files FROM deliverables WHERE task_id = $1 AND files IS NOT NULL ORDER BY position',
    [taskId],
  )
  return rows.flatMap(({ files }) => filesIn(files)).find(({ id }) => id === fileId)
}

/** Uploaded files that belong to no deliverable yet. Source: A-151. */
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

/** Files that are stored already, or are going to be: retention keeps them few. */
export const uploadIds = async (q: Reader) =>
  new Set((await q.all<{ id: string }>('SELECT id FROM uploads')).map(({ id }) => id))

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
