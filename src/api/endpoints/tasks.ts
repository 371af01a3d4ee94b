/** Tasks, as their buyer and their builder see them. Source: I-tasks, A-19–. */

import { endpoint } from '../endpoint.ts'
import { taskStates } from '../flow.ts'
import { limits } from '../limits.ts'
import { deliverable, diagnosis, message, namedTask, review, task } from '../records.ts'
import { Download } from '../reply.ts'
import { countsOf, id, integer, oneOf, paging, pagingUpTo, price, someOf, text } from '../shapes.ts'
import { grouped } from '../spans.ts'
import { taskHappening } from '../task-history.ts'
import * as z from '../zod.ts'

/** @internal Random steps of the tests choose among them. */
export const taskRoles = ['buyer', 'builder'] as const

/** @internal Random steps of the tests choose among them. */
export const taskSorts = ['newest', 'oldest', 'updated', 'price'] as const

export const taskSearch = {
  q: text(limits.search.query).optional(),
  /** An id or a slug. */
  agent: id().optional(),
  disputed: oneOf(['true', 'false']).optional(),
}
const role = oneOf(taskRoles).optional()
export const lookedThrough = `Filters by anything but one status and the role look through the newest ${grouped(limits.page.reach)}. q: what the title contains, or an id.`

const taskInput = () =>
  z.object({
    agentId: id(),
    title: text(limits.task.title),
    description: text(limits.task.description),
    agreedPrice: price(),
    requirements: text(limits.task.requirements).nullable().optional(),
  })

export const deliverableInput = z.object({
  content: text(limits.deliverable.content),
  notes: text(limits.deliverable.notes).nullable().optional(),
})

/** A multipart body with a file needs no content. Source: A-21. */
export const deliverableForm = deliverableInput.partial({ content: true })

export const reasonOf = {
  reject: z.object({ reason: text(limits.reason.reject).nullable().optional() }),
  revision: z.object({ reason: text(limits.reason.revision) }),
  dispute: z.object({ reason: text(limits.reason.dispute) }),
}

export const messageInput = z.object({ content: text(limits.message) })

const open = { auth: 'key-or-session', rate: 'general' } as const
const found = ['not_found', 'not_yours'] as const
const hiringFailures = ['payer_suspended', 'own_agent_hired', 'budget_unusable'] as const
const transitionFailures = [...found, 'wrong_party', 'task_out_of_turn', 'task_in_dispute', 'lost_race'] as const

export const tasks = {
  listTasks: endpoint({
    ...open,
    method: 'GET',
    path: '/api/tasks',
    summary: 'List tasks',
    description: lookedThrough,
    query: () =>
      z.object({
        status: someOf(taskStates).optional(),
        role,
        ...taskSearch,
        sort: oneOf(taskSorts).optional(),
        ...paging,
      }),
    reply: namedTask,
    list: 'tasks',
    unit: 'read',
    source: 'I-tasks, A-16, A-19',
  }),
  countTasks: endpoint({
    ...open,
    method: 'GET',
    path: '/api/my/tasks/counts',
    summary: 'How many tasks are in each state',
    description: lookedThrough,
    query: () => z.object({ role, ...taskSearch }),
    reply: () => countsOf(taskStates),
    unit: 'read',
    source: 'I-tasks, A-16, A-19',
  }),
  createTask: endpoint({
    ...open,
    rate: 'task_creation',
    method: 'POST',
    path: '/api/tasks',
    summary: 'Create a task in draft',
    // Only at creation, because the payer of a task never changes. Source: A-36.
    body: () => taskInput().extend({ budgetAuthorizationId: id().nullable().optional() }),
    reply: task,
    status: 201,
    unit: 'write',
    grows: true,
    whenSuspended: 'refused',
    refusals: ['not_found', 'hirer_only', ...hiringFailures, 'texts_quota'],
    source: 'I-task-input, I-task-create, A-31, A-36',
  }),
  getTask: endpoint({
    ...open,
    method: 'GET',
    path: '/api/tasks/:id',
    summary: 'Details of a task',
    reply: namedTask,
    unit: 'read',
    prefetch: 'whole task',
    refusals: found,
    source: 'I-tasks, A-19',
  }),
  diagnoseTask: endpoint({
    ...open,
    method: 'GET',
    path: '/api/tasks/:id/diagnosis',
    summary: 'What is wrong with a task, and what to do; null if nothing is',
    description:
      'Its builder and administrators see what is wrong with the webhooks and callbacks of the agent; its buyer sees that there is something. In a simulator all see all.',
    reply: () => z.object({ diagnosis: diagnosis().nullable() }),
    unit: 'read',
    refusals: found,
    source: 'A-288',
  }),
  getTaskHistory: endpoint({
    ...open,
    method: 'GET',
    path: '/api/tasks/:id/history',
    summary: 'What has happened to a task, in order',
    description: `By its beginning; what began in one millisecond stands behind what it came from. Each party sees what is its own: the webhooks to an agent and its callbacks are its builder's affair. Of each kind the last ${grouped(limits.history.ofEach)}. A simulator tells of more, to all: requests that were refused, its clock, its faults, restarts of agents.`,
    query: () => z.object(pagingUpTo(limits.history.page)),
    reply: taskHappening,
    list: 'items',
    unit: 'read',
    prefetch: 'task',
    refusals: found,
    source: 'A-305',
  }),
  updateTask: endpoint({
    ...open,
    method: 'PUT',
    path: '/api/tasks/:id',
    summary: 'Update a draft',
    body: () => taskInput().partial(),
    reply: task,
    unit: 'write',
    prefetch: 'locked task',
    grows: true,
    refusals: [...transitionFailures, 'own_agent_hired', 'texts_quota'],
    source: 'I-tasks, A-19',
  }),
  submitTask: endpoint({
    ...open,
    rate: 'task_submission',
    method: 'POST',
    path: '/api/tasks/:id/submit',
    summary: 'Submit a draft; its price is held in escrow',
    reply: task,
    unit: 'write',
    prefetch: 'locked task and agent',
    grows: true,
    whenSuspended: 'refused',
    refusals: [
      ...transitionFailures,
      'not_enough_money',
      'agent_not_available',
      ...hiringFailures,
      'over_task_cap',
      'over_period_cap',
    ],
    source: 'I-escrow, A-31, A-36',
  }),
  cancelTask: endpoint({
    ...open,
    method: 'POST',
    path: '/api/tasks/:id/cancel',
    summary: 'Cancel a draft or pending task; escrow is refunded',
    reply: task,
    unit: 'write',
    prefetch: 'locked task',
    refusals: transitionFailures,
    source: 'I-task-cancel',
  }),
  acceptTask: endpoint({
    ...open,
    method: 'POST',
    path: '/api/tasks/:id/accept',
    summary: 'Accept a pending task as its builder',
    reply: task,
    unit: 'write',
    prefetch: 'locked task',
    refusals: [...transitionFailures, 'texts_quota'],
    source: 'I-task-accept',
  }),
  deliverTask: endpoint({
    ...open,
    method: 'POST',
    path: '/api/tasks/:id/deliver',
    summary: 'Deliver as the builder',
    body: deliverableInput,
    reply: task,
    unit: 'write',
    prefetch: 'locked task',
    refusals: [...transitionFailures, 'too_many_deliverables'],
    source: 'I-task-deliver, A-21',
  }),
  approveTask: endpoint({
    ...open,
    method: 'POST',
    path: '/api/tasks/:id/approve',
    summary: 'Approve a delivered task; the payment is released',
    reply: task,
    unit: 'write',
    prefetch: 'locked task',
    refusals: transitionFailures,
    source: 'I-task-approve, A-33',
  }),
  requestRevision: endpoint({
    ...open,
    method: 'POST',
    path: '/api/tasks/:id/request-revision',
    summary: 'Ask for a revision',
    body: reasonOf.revision,
    reply: task,
    unit: 'write',
    prefetch: 'locked task',
    grows: true, // it prolongs work: each round adds a deliverable, and whoever has one can approve or dispute
    refusals: [...transitionFailures, 'no_revisions_left', 'too_many_deliverables', 'texts_quota'],
    source: 'I-task-revision, A-20',
  }),
  disputeTask: endpoint({
    ...open,
    method: 'POST',
    path: '/api/tasks/:id/dispute',
    summary: 'Open a dispute',
    body: reasonOf.dispute,
    reply: task,
    unit: 'write',
    prefetch: 'locked task',
    refusals: [...transitionFailures, 'already_disputed', 'dispute_too_late'],
    source: 'I-task-dispute, A-32',
  }),
  listDeliverables: endpoint({
    ...open,
    method: 'GET',
    path: '/api/tasks/:id/deliverables',
    summary: 'All deliverables of a task',
    query: () => z.object(paging),
    reply: deliverable,
    list: 'items',
    unit: 'read',
    prefetch: 'task',
    refusals: found,
    source: 'A-19',
  }),
  downloadFile: endpoint({
    ...open,
    method: 'GET',
    path: '/api/tasks/:id/files/:fileId',
    summary: 'The bytes of a delivered file, as an attachment',
    reply: () => z.instanceof(Download),
    download: true,
    unit: 'read',
    prefetch: 'task',
    refusals: found,
    source: 'A-19',
  }),
  listMessages: endpoint({
    ...open,
    method: 'GET',
    path: '/api/tasks/:id/messages',
    summary: 'List the messages of a task',
    query: () => z.object(paging),
    reply: message,
    list: 'items',
    unit: 'read',
    prefetch: 'task',
    refusals: found,
    source: 'I-tasks, A-20',
  }),
  sendMessage: endpoint({
    ...open,
    method: 'POST',
    path: '/api/tasks/:id/messages',
    summary: 'Send a message',
    body: messageInput,
    reply: message,
    status: 201,
    unit: 'write',
    prefetch: 'locked task',
    grows: true,
    refusals: [...transitionFailures, 'queue_full', 'texts_quota'],
    source: 'I-tasks, A-20',
  }),
  getReview: endpoint({
    ...open,
    method: 'GET',
    path: '/api/tasks/:id/review',
    summary: 'The review of a task',
    reply: review,
    unit: 'read',
    prefetch: 'task',
    refusals: found,
    source: 'I-tasks, A-15',
  }),
  submitReview: endpoint({
    ...open,
    method: 'POST',
    path: '/api/tasks/:id/review',
    summary: 'Review a completed task as its buyer',
    body: () =>
      z.object({
        rating: integer(limits.review.rating),
        comment: text(limits.review.comment).nullable().optional(),
      }),
    reply: review,
    status: 201,
    unit: 'write',
    prefetch: 'locked task',
    grows: true,
    refusals: [...transitionFailures, 'already_reviewed', 'texts_quota'],
    source: 'I-tasks, A-20',
  }),
}

const callbackOf = <const Action extends string, Shape extends z.ZodRawShape>(action: Action, shape: Shape) =>
  z.object({ action: z.literal(action), taskId: id().optional() }).extend(shape)

/** The body of a signed callback. If it has a `taskId`, that must be the one in the path. Source: I-tasks, A-20, A-38. */
export const callbackInput = z.discriminatedUnion('action', [
  callbackOf('accept', {}),
  callbackOf('reject', reasonOf.reject.shape),
  callbackOf('deliver', deliverableInput.shape),
  callbackOf('message', messageInput.shape),
])

const agentSide = { auth: 'key', rate: 'webhooks', role: 'builder' } as const
const wrapped = () => z.object({ task: task() })

/** What an agent answers about a task. Source: I-callback, A-21, A-38. */
export const callbacks = {
  agentAccept: endpoint({
    ...agentSide,
    method: 'POST',
    path: '/api/agent/tasks/:id/accept',
    summary: 'Accept a pending task',
    reply: wrapped,
    unit: 'write',
    refusals: [...transitionFailures, 'texts_quota'],
    source: 'I-agent-routes',
  }),
  agentReject: endpoint({
    ...agentSide,
    method: 'POST',
    path: '/api/agent/tasks/:id/reject',
    summary: 'Reject a pending task; escrow is refunded',
    body: reasonOf.reject,
    reply: wrapped,
    unit: 'write',
    refusals: transitionFailures,
    source: 'I-agent-routes, A-20',
  }),
  agentDeliver: endpoint({
    ...agentSide,
    rateOfMultipart: 'file_upload',
    method: 'POST',
    path: '/api/agent/tasks/:id/deliver',
    summary: 'Deliver',
    body: deliverableInput,
    multipart: deliverableForm,
    reply: wrapped,
    unit: 'write',
    refusals: [...transitionFailures, 'too_many_deliverables', 'files_quota'],
    source: 'I-agent-routes, A-21',
  }),
  agentCallback: endpoint({
    method: 'POST',
    path: '/api/agent/tasks/:id/callback',
    auth: 'signature',
    rate: 'webhooks',
    summary: 'Unified callback, signed with the webhook secret: accept, reject, deliver or message',
    description:
      'The message action answers 201 with the message. The very same request again gets the first answer and has no second effect.',
    signed: callbackInput,
    example: { action: 'deliver', content: 'Liebe Gäste, willkommen im Hafenmuseum.' },
    reply: wrapped,
    created: message,
    unit: 'own',
    grows: 'partly',
    refusals: [
      'bad_signature',
      'banned',
      'malformed_json',
      'task_out_of_turn',
      'task_in_dispute',
      'lost_race',
      'too_many_deliverables',
      'texts_quota',
    ],
    source: 'I-callback, I-signature, A-38',
  }),
}
