/** Who may see and change a task, and which edge of the state table a trigger takes. Source: I-task-states, I-role. */
import { refuse } from '../../api/failures.ts'
import { type Party, partiesOf, type TaskEdge, type TaskStep, type TaskTrigger, taskEdge } from '../../api/flow.ts'
import type { Reader } from '../../store/db.ts'
import { type NewTaskStep, taskStep } from '../../store/tables/tasks/task-steps.ts'
import {
  type Moment,
  type NamedTaskRow,
  setStatus,
  type TaskRow,
  taskById,
  wholeTask,
} from '../../store/tables/tasks/tasks.ts'
import { ofChange } from '../../store/tables/tasks/work-sums.ts'
import { Changes } from '../changes.ts'
import type { Acting, Actor, Ctx, ReadCtx } from '../market.ts'
import { moveMoney, refundedBy } from '../money/escrow.ts'

const participle: Record<TaskTrigger, string> = {
  update: 'updated',
  submit: 'submitted',
  cancel: 'cancelled',
  accept: 'accepted',
  reject: 'rejected',
  deliver: 'delivered',
  approve: 'approved',
  request_revision: 'sent back for a revision',
  dispute: 'disputed',
  resolve_refund: 'resolved',
  resolve_release: 'resolved',
  resolve_split: 'resolved',
  message: 'written about',
  review: 'reviewed',
}

const momentOf: Partial<Record<TaskTrigger, Moment>> = {
  submit: 'submittedAt',
  accept: 'acceptedAt',
  deliver: 'deliveredAt',
  approve: 'completedAt',
  cancel: 'cancelledAt',
  reject: 'cancelledAt',
  resolve_refund: 'cancelledAt',
  resolve_release: 'completedAt',
  resolve_split: 'completedAt',
}

/** The builder of a buying agent acts as the buyer. Source: A-36. */
function isParty({ user }: Actor, task: TaskRow, party: Party): boolean {
  if (party === 'admin') return user.isAdmin === 1
  if (party === 'builder') return user.id === task.builderId
  return user.id === task.buyerId || user.id === task.hirerId
}

type Seeing = Pick<Acting<ReadCtx>, 'tx' | 'actor' | 'prefetched'>

/** Returns the task if the actor is its buyer, its builder or an administrator. Refuses with 404 or 403. */
export async function visibleTask({ tx, actor, prefetched }: Seeing, id: string): Promise<TaskRow> {
  return seen(actor, await (prefetched?.task(id, false) ?? taskById(tx, id)))
}

/** The same with the names of its parties, for a record that prefetches the whole task. */
export async function visibleNamedTask({ tx, actor, prefetched }: Seeing, id: string): Promise<NamedTaskRow> {
  const whole = prefetched?.task(id, false) as Promise<NamedTaskRow | undefined> | undefined
  return seen(actor, await (whole ?? wholeTask(tx, id)))
}

function seen<Row extends TaskRow>(actor: Actor, task: Row | undefined): Row {
  if (!task) throw refuse('not_found', 'task')
  if (!(['buyer', 'builder', 'admin'] as const).some(party => isParty(actor, task, party)))
    throw refuse('not_yours', 'task')
  return task
}

/** Returns the task for a change. It is locked until the transaction ends. */
export async function lockedTask({ tx, actor, prefetched }: Acting<Ctx>, id: string): Promise<TaskRow> {
  const known = prefetched?.task(id, true)
  if (known) return seen(actor, await known)
  // Both go in one round trip. The second is executed once the first has the lock.
  const [, task] = await Promise.all([tx.lock('tasks', id), taskById(tx, id)])
  return seen(actor, task)
}

/**
 * Returns the edge that the trigger takes from the task's state. Refuses with 403 if it is not the actor's to use, with 400
 * if the state has none.
 */
export function edgeFor<Trigger extends TaskTrigger>(actor: Actor, task: TaskRow, trigger: Trigger): TaskEdge<Trigger> {
  const allowed = partiesOf(trigger)
  const parties = allowed.filter(party => isParty(actor, task, party))
  if (parties.length === 0) throw refuse('wrong_party', allowed.join(' or the '))
  const edge = parties.map(party => taskEdge(task.status, trigger, party)).find(found => found !== undefined)
  if (!edge) throw refuse('task_out_of_turn', participle[trigger], task.status)
  if (task.disputed && !edge.inDispute) throw refuse('task_in_dispute')
  return edge
}

/**
 * Applies an edge: changes the state by one conditional statement, moves the money and runs `beside`. If the state has
 * changed meanwhile, it refuses with 409 and nothing is kept. Returns the task after the change, without what `beside` added.
 */
export async function applyEdge(
  ctx: Acting<Ctx>,
  task: TaskRow,
  edge: TaskStep,
  part = 0,
  beside: (after: TaskRow) => Promise<void> = async () => {},
): Promise<TaskRow> {
  const moment = edge.from === edge.to ? null : (momentOf[edge.trigger] ?? null)
  const now = ctx.world.now()
  const step = { id: task.id, from: edge.from, wasDisputed: task.disputed, to: edge.to, moment, now }
  const after: TaskRow = { ...task, status: edge.to, disputed: 0, updatedAt: now }
  if (moment) after[moment] = now
  // All statements go in one round trip. If the state does not change, the rest is rolled back. Wallets always come last:
  // a transaction that locked a wallet before an agent's row could deadlock with a submission.
  const refunded = edge.money ? refundedBy(edge.money, task.agreedPrice, part) : 0
  const sums = ofChange(task, edge.to, now, refunded)
  const changing = setStatus(ctx.tx, step, [taskStep(noteOf(ctx, task, edge)), ...sums])
  const rest = Promise.all([beside(after), edge.money ? moveMoney(ctx, task, edge.money, part) : undefined])
  rest.catch(() => {})
  if (!(await changing)) throw refuse('lost_race')
  await rest
  ctx.tx.afterCommit(() => {
    ctx.log({ type: 'task', taskId: task.id, trigger: edge.trigger, from: edge.from, to: edge.to })
    tellParties(ctx, task, edge.trigger)
  })
  return after
}

function tellParties({ memory, world }: Ctx, task: TaskRow, what: TaskTrigger): void {
  const { id: taskId, agentId, buyerId, hirerId, builderId } = task
  const told = { type: what === 'message' ? 'message' : 'task', taskId, agentId, what } as const
  memory.of(Changes).tell([buyerId, hirerId, builderId], world.now(), told)
}

type Edge = Pick<TaskStep, 'trigger' | 'by' | 'to'>

const noteOf = ({ actor, world, requestId }: Acting<Ctx>, task: TaskRow, { trigger, by, to }: Edge): NewTaskStep => ({
  taskId: task.id,
  trigger,
  fromStatus: task.status,
  toStatus: to,
  party: by,
  actorId: actor.user.id,
  via: actor.via,
  requestId: requestId ?? null,
  at: world.now(),
  realAt: world.realNow(),
})

/** Writes down a step that changes no state. */
export async function noteStep(ctx: Acting<Ctx>, task: TaskRow, edge: Omit<Edge, 'to'>): Promise<void> {
  await ctx.tx.runAll([taskStep(noteOf(ctx, task, { ...edge, to: task.status }))])
  ctx.tx.afterCommit(() => tellParties(ctx, task, edge.trigger))
}

/** Reads the task again after a change. */
export async function reloadTask(q: Reader, id: string): Promise<TaskRow> {
  const task = await taskById(q, id)
  if (!task) throw new Error(`${id} is gone`)
  return task
}
