/** Tasks: create, submit, and every later step. Source: I-task-states, A-19, A-31. */

import type * as z from 'zod'
import type { InputOf } from '../../api/endpoint.ts'
import type { Endpoints } from '../../api/endpoints/index.ts'
import type { deliverableForm } from '../../api/endpoints/tasks.ts'
import type { EventExtra } from '../../api/events.ts'
import { refuse } from '../../api/failures.ts'
import type { KeptFile } from '../../api/file-kinds.ts'
import { type AgentEvent, type TaskState, type TaskTrigger, taskStates } from '../../api/flow.ts'
import { rowsOf } from '../../api/page.ts'
import { Download } from '../../api/reply.ts'
import type { Reader } from '../../store/db.ts'
import { peopleById } from '../../store/tables/accounts/users.ts'
import { agentByIdOrSlug } from '../../store/tables/agents/agents.ts'
import { totalOf } from '../../store/tables/table.ts'
import {
  countDeliverables,
  deliverables,
  deliverablesOf,
  fileOf,
  insertDeliverable,
} from '../../store/tables/tasks/deliverables.ts'
import { hiringTermsOf, lockedHiringTerms } from '../../store/tables/tasks/hiring-terms.ts'
import {
  allTasks,
  asLatest,
  countAllTasks,
  countForAgent,
  countRevision,
  countSearched,
  countTasksOf,
  insertTask,
  type NamedTaskRow,
  searchTasks,
  setMaxRevisions,
  type TaskRow,
  type TaskSearch,
  tasksByState,
  tasksOf,
  updateDraft,
} from '../../store/tables/tasks/tasks.ts'
import { isPublic } from '../agents/visibility.ts'
import { buyerOf, checkBudget, checkSeller } from '../budgets/spending.ts'
import type { Acting, Actor, Ctx } from '../market.ts'
import { defined } from '../record-maker.ts'
import {
  countTexts,
  refuseIfQuotaUsed,
  releaseTexts,
  reserveTexts,
  submissionWeight,
  taskWeight,
  weightOf,
  writerOf,
} from '../text-quota.ts'
import type { Verb } from '../verb.ts'
import { queueEvent, queueFirstEvent, type Route } from '../webhooks/outbox.ts'
import { keepReason } from './conversation.ts'
import { diagnoseTask } from './diagnosis.ts'
import { attachFiles, reserveFiles } from './files.ts'
import { getTaskHistory } from './history.ts'
import { deliverableRecord, namedTaskRecord, taskRecord } from './task-record.ts'
import { applyEdge, edgeFor, lockedTask, reloadTask, visibleNamedTask, visibleTask } from './transitions.ts'

type Asked = InputOf<Endpoints['listTasks']>['query']
type Searched = Partial<Pick<Asked, 'status' | 'role' | 'q' | 'agent' | 'disputed'>>

async function searchOf(q: Reader, userId: string | null, asked: Searched): Promise<TaskSearch> {
  const { status, role = null, agent, disputed } = asked
  return {
    ...{ userId, role },
    statuses: status === undefined ? null : (status.split(',') as TaskState[]),
    agentId: agent === undefined ? null : ((await agentByIdOrSlug(q, agent))?.id ?? agent),
    disputed: disputed === undefined ? null : disputed === 'true' ? 1 : 0,
    q: asked.q?.trim() || null,
  }
}

/** Whether nothing but a single status is asked for: indexes find that, however old it is. */
const isPlain = ({ statuses, agentId, disputed, q }: TaskSearch, sort: string) =>
  (statuses?.length ?? 1) === 1 && agentId === null && disputed === null && q === null && sort === 'newest'

const listTasks: Verb<'listTasks'> = async ({ tx, actor }, { query }) => {
  const { sort = 'newest' } = query
  const search = await searchOf(tx, actor.user.id, query)
  const span = rowsOf(query)
  if (!isPlain(search, sort)) {
    const rows = await searchTasks(tx, search, sort, ...span)
    return { items: rows.map(namedTaskRecord), total: await totalOf(rows, span, () => countSearched(tx, search)) }
  }
  const filter = { userId: actor.user.id, role: search.role, status: search.statuses?.[0] ?? null }
  const [rows, counted] = await Promise.all([tasksOf(tx, filter, ...span), countTasksOf(tx, filter)])
  return { items: rows.map(namedTaskRecord), total: await totalOf(rows, span, counted) }
}

const countTasks: Verb<'countTasks'> = async ({ tx, actor }, { query }) => {
  const counts = Object.fromEntries(taskStates.map(state => [state, 0])) as Record<TaskState, number>
  for (const { status, count } of await tasksByState(tx, await searchOf(tx, actor.user.id, query)))
    counts[status] = count
  return counts
}

/** Returns the agent if it is public now, else undefined. Source: A-31. */
async function hirable(q: Reader, agentId: string, now: number) {
  const agent = await hiringTermsOf(q, agentId)
  return agent && isPublic(agent, agent, now) ? agent : undefined
}

const createTask: Verb<'createTask'> = async (ctx, { body }) => {
  const now = ctx.world.now()
  const agent = await hirable(ctx.tx, body.agentId, now)
  if (!agent) throw refuse('not_found', 'agent')
  const buyer = await buyerOf(ctx, body.budgetAuthorizationId ?? null)
  checkSeller(buyer, agent.builderId)
  const id = ctx.world.id('task', buyer.buyerId)
  const task = {
    ...defined(body),
    ...buyer,
    id,
    builderId: agent.builderId,
    maxRevisions: agent.maxRevisions,
    createdAt: now,
  }
  await reserveTexts(ctx, writerOf(task), taskWeight(task))
  await insertTask(ctx.tx, task)
  return taskRecord(await reloadTask(ctx.tx, id))
}

const getTask: Verb<'getTask'> = async (ctx, { params }) => namedTaskRecord(await visibleNamedTask(ctx, params.id))

const updateTask: Verb<'updateTask'> = async (ctx, { params, body }) => {
  const task = await lockedTask(ctx, params.id)
  edgeFor(ctx.actor, task, 'update')
  const now = ctx.world.now()
  const moved = body.agentId !== undefined && body.agentId !== task.agentId
  const agent = moved ? await hirable(ctx.tx, body.agentId as string, now) : undefined
  if (moved && !agent) throw refuse('not_found', 'agent')
  if (agent) checkSeller(task, agent.builderId)
  const given = defined(body)
  await reserveTexts(ctx, writerOf(task), taskWeight({ ...task, ...given }) - taskWeight(task))
  const changed = await updateDraft(ctx.tx, {
    ...given,
    ...(agent && { builderId: agent.builderId, maxRevisions: agent.maxRevisions }),
    id: task.id,
    updatedAt: now,
  })
  if (changed === 0) throw refuse('lost_race')
  return taskRecord(await reloadTask(ctx.tx, task.id))
}

const submitTask: Verb<'submitTask'> = async (ctx, { params }) => {
  // Locked, so that the price which is held and counted is the price that is submitted.
  const task = await lockedTask(ctx, params.id)
  const edge = edgeFor(ctx.actor, task, 'submit')
  // Kept from deletion; otherwise a deletion of the agent and this submission could each miss the other.
  const agent = await (ctx.prefetched?.agent(task.id) ?? lockedHiringTerms(ctx.tx, task.id))
  if (!agent || !isPublic(agent, agent, ctx.world.now())) throw refuse('agent_not_available')
  await checkBudget(ctx, task)
  const { maxRevisions } = agent
  if (maxRevisions !== task.maxRevisions) await setMaxRevisions(ctx.tx, task.id, maxRevisions)
  const submitted = await applyEdge(ctx, { ...task, maxRevisions }, edge, 0, after =>
    queueFirstEvent(ctx, after, edge.event, agent),
  )
  return taskRecord(submitted)
}

/** Applies a trigger that carries no data and tells nobody. Returns the task after it. */
async function step(ctx: Acting<Ctx>, id: string, trigger: TaskTrigger): Promise<TaskRow> {
  const task = await lockedTask(ctx, id)
  return applyEdge(ctx, task, edgeFor(ctx.actor, task, trigger))
}

/** Queues an event about a task that has changed. Returns the record of the task. */
async function recordAfterEvent<Name extends AgentEvent>(
  ctx: Acting<Ctx>,
  after: TaskRow,
  event: Name,
  extra: EventExtra<Name>,
  route?: Route,
) {
  await queueEvent(ctx, after, event, extra, route)
  return taskRecord(after)
}

const cancelTask: Verb<'cancelTask'> = async (ctx, { params }) => {
  const task = await lockedTask(ctx, params.id)
  const edge = edgeFor(ctx.actor, task, 'cancel')
  return taskRecord(
    await applyEdge(ctx, task, edge, 0, async after => {
      if (edge.event) await queueEvent(ctx, after, edge.event, {})
      // A draft, of which the agent was never told.
      else await releaseTexts(ctx, writerOf(task), submissionWeight(task))
    }),
  )
}

/**
 * pending → in_progress. Refuses while the builder's text quota is used up, because an accepted task may always be
 * delivered.
 */
export async function accept(ctx: Acting<Ctx>, id: string) {
  const after = await step(ctx, id, 'accept')
  await refuseIfQuotaUsed(ctx, after.builderId)
  return taskRecord(after)
}

/** pending → cancelled, with a full refund. A reason is kept as a message. Source: A-113. */
export async function reject(ctx: Acting<Ctx>, id: string, reason?: string | null) {
  const after = await step(ctx, id, 'reject')
  if (reason) await keepReason(ctx, id, reason)
  return taskRecord(after)
}

/** Refuses now what `deliver` would refuse later, before the files of the request are read. */
export async function mayDeliver(q: Reader, actor: Actor, id: string): Promise<void> {
  edgeFor(actor, await visibleTask({ tx: q, actor }, id), 'deliver')
}

/** in_progress → delivered. A buying agent gets an event. Source. */
export async function deliver(
  ctx: Acting<Ctx>,
  id: string,
  input: z.infer<typeof deliverableForm>,
  files: readonly KeptFile[] = [],
) {
  const before = await step(ctx, id, 'deliver')
  const { builderId } = before
  await attachFiles(ctx.tx, files)
  await reserveFiles(ctx, builderId, files)
  const { deliverables: most } = ctx.config.keeping
  const row = {
    id: ctx.world.id('dlb', id),
    content: input.content ?? null,
    notes: input.notes ?? null,
    files: files.length > 0 ? JSON.stringify(files) : null,
    createdAt: ctx.world.now(),
  }
  const [inserted] = await Promise.all([
    insertDeliverable(ctx.tx, id, row, most),
    countTexts(ctx, builderId, weightOf(deliverables, row)),
  ])
  if (inserted === 0) throw refuse('too_many_deliverables', most)
  const after = { ...before, ...asLatest(row) }
  const record = taskRecord(after)
  const { deliverable } = record
  if (after.buyerAgentId !== null && deliverable) {
    const route = { to: after.buyerAgentId, countedTo: builderId }
    await queueEvent(ctx, after, 'task.delivered_to_buyer', { deliverable }, route)
  }
  return record
}

const acceptTask: Verb<'acceptTask'> = (ctx, { params }) => accept(ctx, params.id)
const deliverTask: Verb<'deliverTask'> = (ctx, { params, body }) => deliver(ctx, params.id, body)

const approveTask: Verb<'approveTask'> = async (ctx, { params }) => {
  const task = await lockedTask(ctx, params.id)
  const edge = edgeFor(ctx.actor, task, 'approve')
  const beside = async (after: TaskRow) => {
    await Promise.all([countCompleted(ctx, after, 1), queueEvent(ctx, after, edge.event, {})])
  }
  return taskRecord(await applyEdge(ctx, task, edge, 0, beside))
}

/** Adds to the agent's completed tasks. A task that a builder bought from their own agent does not count. Source: A-125. */
export async function countCompleted(ctx: Ctx, task: TaskRow, by: 1 | -1): Promise<void> {
  if (task.buyerId === task.builderId) return
  await countForAgent(ctx.tx, task.agentId, { completed: by, rating: 0 })
}

const requestRevision: Verb<'requestRevision'> = async (ctx, { params, body }) => {
  const task = await lockedTask(ctx, params.id)
  const edge = edgeFor(ctx.actor, task, 'request_revision')
  if (task.maxRevisions !== null && task.revisionCount >= task.maxRevisions)
    throw refuse('no_revisions_left', task.maxRevisions)
  // Otherwise nothing could be delivered any more, and only an administrator could end the task.
  const { deliverables: most } = ctx.config.keeping
  if ((await countDeliverables(ctx.tx, task.id)) >= most) throw refuse('too_many_deliverables', most)
  await refuseIfQuotaUsed(ctx, task.builderId)
  const after = await applyEdge(ctx, task, edge)
  await countRevision(ctx.tx, task.id)
  after.revisionCount += 1
  const route = { countedTo: ctx.actor.user.id }
  return recordAfterEvent(ctx, after, edge.event, { revisionReason: body.reason }, route)
}

const listDeliverables: Verb<'listDeliverables'> = async (ctx, { params, query }) => {
  const { tx } = ctx
  const task = await visibleTask(ctx, params.id)
  const [rows, total] = await Promise.all([
    deliverablesOf(tx, task.id, ...rowsOf(query)),
    countDeliverables(tx, task.id),
  ])
  return { items: rows.map(row => deliverableRecord(task.id, row)), total }
}

const downloadFile: Verb<'downloadFile'> = async (ctx, { params }) => {
  const task = await visibleTask(ctx, params.id)
  const file = await fileOf(ctx.tx, task.id, params.fileId)
  if (!file) throw refuse('not_found', 'file')
  return new Download(file)
}

const adminListTasks: Verb<'adminListTasks'> = async ({ tx }, { query }) => {
  const [rows, total] = await foundByAdmin(tx, await searchOf(tx, query.userId ?? null, query), rowsOf(query))
  const people = await peopleById(
    tx,
    rows.flatMap(({ buyerId, builderId }) => [buyerId, builderId]),
  )
  const items = rows.map(row => ({
    ...taskRecord(row),
    buyer: people.get(row.buyerId)!,
    builder: people.get(row.builderId)!,
  }))
  return { items, total }
}

async function foundByAdmin(q: Reader, search: TaskSearch, span: [number, number]): Promise<[NamedTaskRow[], number]> {
  if (isPlain({ ...search, disputed: null }, 'newest') && search.userId === null && search.statuses === null)
    return Promise.all([allTasks(q, search.disputed, ...span), countAllTasks(q, search.disputed)])
  const rows = await searchTasks(q, search, 'newest', ...span)
  return [rows, await totalOf(rows, span, () => countSearched(q, search))]
}

export const taskVerbs = {
  listTasks,
  countTasks,
  createTask,
  getTask,
  diagnoseTask,
  getTaskHistory,
  updateTask,
  submitTask,
  cancelTask,
  acceptTask,
  deliverTask,
  approveTask,
  requestRevision,
  listDeliverables,
  downloadFile,
  adminListTasks,
}
