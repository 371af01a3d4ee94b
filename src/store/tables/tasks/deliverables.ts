/** Deliverables of tasks. */
import type { KeptFile } from '../../../api/file-kinds.ts'
import type { Reader, Tx } from '../../db.ts'
import { bigint, defaulted, integer, nullable, type Row, table, text, written } from '../table.ts'

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
  q.all<DeliverableRow>(
    `SELECT ${deliverables.some(shown)} FROM deliverables
     WHERE task_id = $1 ORDER BY position LIMIT $2 OFFSET $3`,
    [taskId, limit, offset],
  )

export const countDeliverables = async (q: Reader, taskId: string) =>
  (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM deliverables WHERE task_id = $1', [taskId]))!.count

/** A file of one of this task's deliverables. */
export async function fileOf(q: Reader, taskId: string, fileId: string): Promise<KeptFile | undefined> {
  const rows = await q.all<{ files: string }>(
    'SELECT files FROM deliverables WHERE task_id = $1 AND files IS NOT NULL ORDER BY position',
    [taskId],
  )
  return rows.flatMap(({ files }) => filesIn(files)).find(({ id }) => id === fileId)
}
