/** The history of a task, told to each party as far as it may see it. Source: A-305. */
import { limits } from '../../api/limits.ts'
import { rowsOf } from '../../api/page.ts'
import type { TaskHappening as Happening, HappeningOf } from '../../api/task-history.ts'
import { once } from '../../shared/once.ts'
import { type People, peopleById } from '../../store/tables/accounts/users.ts'
import { agentById } from '../../store/tables/agents/agents.ts'
import { type ReviewRow, reviewOf } from '../../store/tables/tasks/conversation.ts'
import { filesIn } from '../../store/tables/tasks/deliverables.ts'
import {
  deliveredTo,
  type LegRow,
  moneyOf,
  type SentRow,
  saidAbout,
  sentAbout,
  stepsOf,
  type TaskStepRow,
} from '../../store/tables/tasks/task-steps.ts'
import { type TaskRow, wholeTask } from '../../store/tables/tasks/tasks.ts'
import type { Acting, ReadCtx } from '../market.ts'
import { aboutAgent, diagnosedAttempt, Stories, told } from '../stories.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { type Recorded, recordedOf } from './recorded-history.ts'
import { visibleTask } from './transitions.ts'

/**
 * What happened at `at`. Of what happened in the same ms, what has the lower `order` was first. It is told of when it is read: a page has few of
 * thousands.
 */
interface Placed {
  readonly at: number
  readonly order: number
  readonly tell: () => Happening
}

type Told = Acting<ReadCtx> & { readonly task: TaskRow; readonly people: People }

export const getTaskHistory: Verb<'getTaskHistory'> = async (ctx, { params, query }) => {
  const { id } = await visibleTask(ctx, params.id)
  // Pages reach no further, and the newest are at the end.
  const all = (await historyOf(ctx, id)).sort((a, b) => a.at - b.at || a.order - b.order).slice(-limits.page.reach)
  const [most, from] = rowsOf(query)
  return { items: all.slice(from, from + most).map(({ tell }) => tell()), total: all.length }
}

/** Each step has ten places: for what asked for it, and what came of it. */
const PLACES = 10
const place = { request: 0, words: 1, transition: 2, money: 3, webhook: 4, other: 5 }

const ends = ['approve', 'cancel', 'reject', 'resolve_refund', 'resolve_release', 'resolve_split'] as const
/** By which steps what came of them has come: money, words, webhooks. Nothing follows where a task is cancelled. */
const causes: Readonly<Record<string, readonly TaskStepRow['trigger'][]>> = {
  ...{ hold: ['submit'], release: ends, refund: ends, cleared: ends },
  ...{ message: ['message', 'reject'], deliverable: ['deliver'], review: ['review'], dispute: ['dispute'] },
  decision: ends,
  ...{ 'task.submitted': ['submit'], 'task.revision_requested': ['request_revision'] },
  ...{ 'task.approved': ['approve'], 'task.disputed': ['dispute'], 'task.message': ['message'] },
  'task.delivered_to_buyer': ['deliver'],
}

/** Puts what has happened behind the step that it came from, as far as times of full ms leave that open. */
class Order {
  readonly #steps: readonly TaskStepRow[]
  readonly #causing = new Map<string, readonly TaskStepRow[]>()

  constructor(steps: readonly TaskStepRow[]) {
    this.#steps = steps
  }

  /** Of what came from the last step until `at`, or from the last that causes this. */
  at(at: number, what: keyof typeof place, cause = ''): number {
    const step = lastUntil(at, this.#causesOf(cause)) ?? lastUntil(at, this.#steps)
    return this.of(step?.position ?? -1, what)
  }

  #causesOf(cause: string): readonly TaskStepRow[] {
    const known = this.#causing.get(cause)
    if (known) return known
    const steps = this.#steps.filter(({ trigger }) => causes[cause]?.includes(trigger))
    this.#causing.set(cause, steps)
    return steps
  }

  of = (position: number, what: keyof typeof place) => position * PLACES + place[what]
}

/** By halves: each of thousands that happened asks it of as many steps. */
function lastUntil(at: number, steps: readonly TaskStepRow[]): TaskStepRow | undefined {
  let [from, to] = [0, steps.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (steps[middle]!.at <= at) from = middle + 1
    else to = middle
  }
  return steps[from - 1]
}

async function historyOf(ctx: Acting<ReadCtx>, taskId: string): Promise<Placed[]> {
  const { tx, recording } = ctx
  const task = (await wholeTask(tx, taskId))!
  const [steps, said, delivered, legs, sent, review] = await Promise.all([
    stepsOf(tx, taskId),
    saidAbout(tx, taskId),
    deliveredTo(tx, taskId),
    moneyOf(tx, taskId),
    sentAbout(tx, taskId),
    reviewOf(tx, taskId),
  ])
  const acting = [task.buyerId, task.hirerId, task.builderId, ...steps.map(({ actorId }) => actorId)]
  const people = await peopleById(
    tx,
    acting.filter(id => id !== null),
  )
  const of: Told = { ...ctx, task, people }
  const recorded = recording ? recordedOf(of, recording, steps) : null
  const order = new Order(steps)
  const words = (at: number, cause: string, tell: () => Happening): Placed => ({
    ...{ at, order: order.at(at, 'words', cause), tell },
  })
  return [
    created(of),
    ...steps.flatMap(step => [...askedIn(of, step, recorded), ...changeIn(of, step)]),
    ...said.map(row => words(row.createdAt, 'message', () => messageOf(of, row))),
    ...delivered.map(row => words(row.createdAt, 'deliverable', () => deliverableOf(of, row))),
    ...(review ? [words(review.createdAt, 'review', () => reviewIn(of, review))] : []),
    ...disputeOf(of).map(one => words(Date.parse(one.at), 'dispute', () => one)),
    ...decisionOf(of, steps).map(one => words(Date.parse(one.at), 'decision', () => one)),
    ...legs.map(leg => ({
      ...{ at: leg.createdAt, order: order.at(leg.createdAt, 'money', leg.kind) },
      tell: () => transferOf(of, leg),
    })),
    ...(await webhooksOf(of, sent, recorded, order)),
    ...(recorded?.others ?? []).map(({ at, tell, before }) => ({
      ...{ at, tell, order: before === null ? order.at(at, 'other') : order.of(before - 1, 'other') },
    })),
  ]
}

/** In a simulator everybody sees all. Elsewhere what was sent to an agent, and by it, is the affair of its builder. */
const maySee = ({ config, actor: { user } }: Told, builderId: string | null) =>
  config.mode === 'dev' || user.isAdmin === 1 || user.id === builderId

/** Who did it. The name of a buyer is told to nobody else but administrators. */
function byOf({ config, actor: { user }, task, people }: Told, party: TaskStepRow['party'], userId: string) {
  if (party === 'builder') return { party: 'agent' as const, userId, name: task.agentName }
  const isTold = config.mode === 'dev' || user.isAdmin === 1 || user.id === userId
  return { party, userId, name: isTold ? (people.get(userId)?.name ?? null) : null }
}

const marketplace = { party: 'marketplace', userId: null, name: null } as const

const began = (id: string, at: number, realAt: number | null = null) => ({
  id,
  at: iso(at),
  realAt: realAt === null ? null : iso(realAt),
})

const beginningOf = ({ text, length }: { text: string | null; length: number | null }) => ({
  text,
  cut: text !== null && (length ?? 0) > [...text].length,
})

const unknown = { error: null, ms: null, requestId: null, exchangeId: null, diagnosis: null, via: null }

function created(of: Told): Placed {
  const { task } = of
  const tell = (): Happening => ({
    ...began('created', task.createdAt),
    ...{ kind: 'request', action: 'create', status: 201, ...unknown },
    by: byOf(of, 'buyer', task.hirerId ?? task.buyerId),
  })
  return { at: task.createdAt, order: -PLACES, tell }
}

const CREATED = new Set<TaskStepRow['trigger']>(['message', 'review'])

/** The request by which a step was taken. */
function askedIn(of: Told, step: TaskStepRow, recorded: Recorded | null): Placed[] {
  const { position, trigger, party, actorId, via, requestId } = step
  const isOfAgent = party === 'builder' && via !== 'session'
  if (isOfAgent && !maySee(of, of.task.builderId)) return []
  const served = recorded?.byRequest.get(requestId ?? '')
  const at = served?.at ?? step.at
  const tell = (): Happening => ({
    ...began(`${party === 'builder' ? 'callback' : 'request'}_${position}`, at, served?.realAt ?? step.realAt),
    ...{ action: trigger, by: byOf(of, party, actorId), requestId, error: null },
    ...{ status: served?.status ?? (CREATED.has(trigger) ? 201 : 200), ms: served?.ms ?? null },
    exchangeId: served?.exchangeId ?? null,
    ...(isOfAgent
      ? ({ kind: 'callback', via } as const)
      : ({ kind: 'request', via: via === 'signature' ? null : via } as const)),
    get diagnosis() {
      return served?.diagnosis ?? null
    },
  })
  return [{ at, order: position * PLACES + place.request, tell }]
}

function changeIn(of: Told, step: TaskStepRow): Placed[] {
  const { position, trigger, fromStatus: from, toStatus: to, party, actorId, requestId, at, realAt } = step
  if (from === to) return []
  const tell = (): Happening => ({
    ...began(`state_${position}`, at, realAt),
    ...{ kind: 'transition', by: byOf(of, party, actorId), trigger, from, to, requestId },
  })
  return [{ at, order: position * PLACES + place.transition, tell }]
}

type Said = Awaited<ReturnType<typeof saidAbout>>[number]

function messageOf(of: Told, row: Said): Happening {
  const { id, senderId, senderRole, createdAt } = row
  const by = byOf(of, senderRole === 'buyer' ? 'buyer' : senderRole === 'agent' ? 'builder' : 'admin', senderId)
  return { ...began(id, createdAt), kind: 'message', by, messageId: id, senderRole, ...beginningOf(row) }
}

function deliverableOf(of: Told, row: Awaited<ReturnType<typeof deliveredTo>>[number]): Happening {
  const { id, createdAt, length, position, files } = row
  return {
    ...began(id, createdAt),
    ...{ kind: 'deliverable', deliverableId: id, version: position + 1, characters: length ?? 0 },
    ...{ files: filesIn(files).length, by: byOf(of, 'builder', of.task.builderId), ...beginningOf(row) },
  }
}

const reviewIn = (of: Told, { id, createdAt, rating, comment, buyerId }: ReviewRow): Happening => ({
  ...began(id, createdAt),
  ...{ kind: 'review', by: byOf(of, 'buyer', buyerId), rating, comment },
})

function disputeOf(of: Told): Happening[] {
  const { disputeReason: reason, disputeOpenedAt, disputeOpenedBy, buyerId, hirerId } = of.task
  if (reason === null || disputeOpenedAt === null || disputeOpenedBy === null) return []
  const isBuyers = disputeOpenedBy === buyerId || disputeOpenedBy === hirerId
  const by = byOf(of, isBuyers ? 'buyer' : 'admin', disputeOpenedBy)
  return [{ ...began('dispute', disputeOpenedAt), kind: 'dispute', by, reason }]
}

function decisionOf(of: Told, steps: readonly TaskStepRow[]): Happening[] {
  const { disputeResolvedAt, disputeOutcome: outcome, disputeRefundAmount } = of.task
  if (disputeResolvedAt === null || outcome === null) return []
  const decider = steps.findLast(({ trigger }) => trigger.startsWith('resolve_'))?.actorId ?? ''
  const by = byOf(of, 'admin', decider)
  const decision = { outcome, refundAmount: disputeRefundAmount ?? 0, reason: of.task.disputeOutcomeReason }
  return [{ ...began('decision', disputeResolvedAt), kind: 'decision', by, ...decision }]
}

type Place = HappeningOf<'transfer'>['from']

function transferOf({ task }: Told, { legId, kind, debitedId, creditedId, amount, createdAt }: LegRow): Happening {
  const placeOf = (id: string): Place => {
    const [account, userId] = id.split(':') as [Place['account'], string | undefined]
    const isBuyers = account === 'held' || (account === 'available' && userId === task.buyerId)
    // Who has hired their own agent is on both sides.
    const isBuilders = account === 'clearing' || userId !== task.buyerId || (isEarned && id === creditedId)
    return { account, party: userId === undefined ? 'marketplace' : isBuyers && !isBuilders ? 'buyer' : 'agent' }
  }
  const isEarned = kind === 'release' || kind === 'cleared'
  return {
    ...began(legId, createdAt),
    ...{ kind: 'transfer', type: kind as HappeningOf<'transfer'>['type'], amount, by: marketplace },
    ...{ from: placeOf(debitedId), to: placeOf(creditedId) },
  }
}

/** When nothing was recorded, an attempt began so long before its end. */
async function webhooksOf(
  of: Told,
  sent: readonly SentRow[],
  recorded: Recorded | null,
  order: Order,
): Promise<Placed[]> {
  const { tx, task, config, recording, faults } = of
  const seen = sent.filter(({ agentId }) => maySee(of, agentId === task.agentId ? task.builderId : task.hirerId))
  if (seen.length === 0) return []
  const agent = await agentById(tx, task.agentId)
  const about = aboutAgent(config, agent ?? { slug: task.agentSlug, webhookUrl: null })
  const stories = recording ? new Stories(recording, faults, task.id) : undefined
  const last = new Map(seen.map(row => [row.id, row]))
  return seen.flatMap(row => {
    const { id: deliveryId, event, redeliveryOf, attempt, endedAt, durationMs } = row
    const placed = (at: number, tell: () => Happening): Placed => ({
      ...{ at, order: order.at(at, 'webhook', redeliveryOf === null ? event : ''), tell },
    })
    const isLast = last.get(deliveryId) === row
    const number = row.isUnderWay ? row.begun : row.begun + 1
    const begun = recorded?.sending.get(`${deliveryId} ${number}`)
    // A claim on a file of one's own is in no row: of what it sends only a simulator knows.
    const isUnderWay = isLast && row.state === 'pending' && (row.isUnderWay === 1 || begun !== undefined)
    const from = begun ?? { at: row.nextAt, realAt: null }
    const sending = isUnderWay ? [placed(from.at, () => sendingOf(row, number, from))] : []
    if (attempt === null || endedAt === null || durationMs === null) return sending
    const exchange = recorded?.byAttempt.get(`${deliveryId} ${attempt}`)
    const at = exchange?.at ?? endedAt - durationMs
    const tell = (): Happening => {
      const { agentId, status, reason, message, url, answer, location } = row
      const kept = { event, taskId: task.id, deliveryId, attempt, durationMs, createdAt: endedAt }
      const made = { ...kept, status, reason, message: message ?? '', url, answer, location }
      const isOver = isLast && !isUnderWay
      const diagnosis = once(() => told(diagnosedAttempt(of, made, stories), about))
      return {
        ...began(`${deliveryId}_${attempt}`, at, exchange?.realAt),
        ...{ kind: 'webhook', by: marketplace, deliveryId, agentId, event: event as HappeningOf<'webhook'>['event'] },
        ...{ attempt, redeliveryOf, status, reason, message: message ?? '', ms: durationMs },
        outcome: isOver && row.state !== 'pending' ? (row.state as 'delivered' | 'failed') : 'retry',
        nextAttemptAt: isOver && row.state === 'pending' ? iso(row.nextAt) : null,
        exchangeId: exchange?.exchangeId ?? null,
        get diagnosis() {
          return diagnosis()
        },
      }
    }
    return [placed(at, tell), ...sending]
  })
}

/** An attempt that has begun, of which nothing has come yet. */
const sendingOf = (
  { id, agentId, event, redeliveryOf }: SentRow,
  attempt: number,
  from: { readonly at: number; readonly realAt: number | null },
): HappeningOf<'webhook'> => ({
  ...began(`${id}_${attempt}`, from.at, from.realAt),
  ...{ kind: 'webhook', by: marketplace, deliveryId: id, agentId, event: event as HappeningOf<'webhook'>['event'] },
  ...{ attempt, redeliveryOf, outcome: 'sending', status: null, reason: null, message: '', ms: null },
  ...{ nextAttemptAt: null, exchangeId: null, diagnosis: null },
})
