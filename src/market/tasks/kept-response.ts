/**
 * The response to a signed callback as it is kept. A task's own texts and a deliverable never change after the callback, so
 * they are left out and read again for a repeat: a deliverable of 200 KB would be stored twice. Source: A-112.
 */
import type { TaskRecord } from '../../api/records.ts'
import type { Reader } from '../../store/db.ts'
import { deliverableById } from '../../store/tables/tasks/deliverables.ts'
import type { TaskRow } from '../../store/tables/tasks/tasks.ts'
import { deliverableRecord } from './task-record.ts'

type Reply = { readonly task: TaskRecord }

/** The order of the properties stays, so that a repeat gets the same bytes. */
export const withoutTexts = ({ task }: Reply) => ({
  task: {
    ...task,
    title: '',
    description: '',
    requirements: null,
    deliverable: task.deliverable && { id: task.deliverable.id },
  },
})

/** Makes the response whole again; `row` is its task as it is now. */
export async function withTexts(q: Reader, { task }: ReturnType<typeof withoutTexts>, row: TaskRow): Promise<Reply> {
  const { title, description, requirements } = row
  const delivered = task.deliverable && (await deliverableById(q, task.deliverable.id))
  const deliverable = delivered ? deliverableRecord(row.id, delivered) : null
  return { task: { ...task, title, description, requirements, deliverable } }
}
