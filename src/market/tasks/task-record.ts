/** Makes the record of a task that responses contain. Source. */
import {
  type DeliverableRecord,
  type DisputeRecord,
  deliverable,
  type NamedTaskRecord,
  namedTask,
  type TaskRecord,
  task,
} from '../../api/records.ts'
import { type DeliverableRow, deliverables, filesIn } from '../../store/tables/tasks/deliverables.ts'
import { type NamedTaskRow, type TaskRow, tasks } from '../../store/tables/tasks/tasks.ts'
import { recordMaker } from '../record-maker.ts'
import { iso, isoOrNull } from '../time.ts'

const makeTask = recordMaker(task, tasks)
const makeNamedTask = recordMaker(namedTask, tasks)
const makeDeliverable = recordMaker(deliverable, deliverables)

export const taskRecord = (row: TaskRow): TaskRecord => makeTask(row, madeOf(row))

/** With the names of its parties. They come first: behind the rest they would take 4 µs, as the object is copied once more. */
export const namedTaskRecord = (row: NamedTaskRow): NamedTaskRecord =>
  makeNamedTask(row, {
    buyer: { id: row.buyerId, name: row.buyerName },
    builder: { id: row.builderId, name: row.builderName },
    ...madeOf(row),
  })

const madeOf = (row: TaskRow) => ({
  agent: { id: row.agentId, slug: row.agentSlug, name: row.agentName },
  deliverable: latestDeliverable(row),
  dispute: disputeRecord(row),
  createdAt: iso(row.createdAt),
  submittedAt: isoOrNull(row.submittedAt),
  acceptedAt: isoOrNull(row.acceptedAt),
  deliveredAt: isoOrNull(row.deliveredAt),
  completedAt: isoOrNull(row.completedAt),
  cancelledAt: isoOrNull(row.cancelledAt),
  updatedAt: iso(row.updatedAt),
})

export const deliverableRecord = (taskId: string, row: DeliverableRow): DeliverableRecord =>
  makeDeliverable(row, {
    files: filesIn(row.files).map(file => ({ ...file, url: `/api/tasks/${taskId}/files/${file.id}` })),
    createdAt: iso(row.createdAt),
  })

function latestDeliverable(task: TaskRow): DeliverableRecord | null {
  if (task.deliverableId === null || task.deliverableAt === null) return null
  return deliverableRecord(task.id, {
    id: task.deliverableId,
    content: task.deliverableContent,
    notes: task.deliverableNotes,
    files: task.deliverableFiles,
    createdAt: task.deliverableAt,
  })
}

function disputeRecord(task: TaskRow): DisputeRecord | null {
  const { disputeStatus, disputeReason, disputeOpenedAt, disputeOpenedFrom, disputeOpenedBy } = task
  if (!disputeStatus || disputeReason === null || disputeOpenedAt === null || !disputeOpenedFrom || !disputeOpenedBy)
    return null
  return {
    status: disputeStatus,
    reason: disputeReason,
    openedAt: iso(disputeOpenedAt),
    openedFrom: disputeOpenedFrom,
    openedBy: disputeOpenedBy,
    resolvedAt: isoOrNull(task.disputeResolvedAt),
    outcome: task.disputeOutcome,
    outcomeReason: task.disputeOutcomeReason,
    refundAmount: task.disputeRefundAmount,
  }
}
