/** Makes the record of a task that responses contain. Source. */
import type { DeliverableRecord, DisputeRecord, TaskRecord } from '../../api/records.ts'
import { type DeliverableRow, filesIn } from '../../store/tables/deliverables.ts'
import type { TaskRow } from '../../store/tables/tasks.ts'
import { iso, isoOrNull } from '../time.ts'

export const taskRecord = (task: TaskRow): TaskRecord => ({
  id: task.id,
  title: task.title,
  description: task.description,
  requirements: task.requirements,
  agreedPrice: task.agreedPrice,
  status: task.status,
  agentId: task.agentId,
  agent: { id: task.agentId, slug: task.agentSlug, name: task.agentName },
  buyerId: task.buyerId,
  builderId: task.builderId,
  buyerAgentId: task.buyerAgentId,
  budgetAuthorizationId: task.budgetAuthorizationId,
  revisionCount: task.revisionCount,
  maxRevisions: task.maxRevisions,
  deliverable: latestDeliverable(task),
  dispute: disputeRecord(task),
  createdAt: iso(task.createdAt),
  submittedAt: isoOrNull(task.submittedAt),
  acceptedAt: isoOrNull(task.acceptedAt),
  deliveredAt: isoOrNull(task.deliveredAt),
  completedAt: isoOrNull(task.completedAt),
  cancelledAt: isoOrNull(task.cancelledAt),
  updatedAt: iso(task.updatedAt),
})

export const deliverableRecord = (taskId: string, row: DeliverableRow): DeliverableRecord => ({
  id: row.id,
  content: row.content,
  notes: row.notes,
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
    refundAmount: task.disputeRefundAmount,
  }
}
