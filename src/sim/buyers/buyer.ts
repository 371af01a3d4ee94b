/** Simulates one buyer: submits a task to an agent, waits for it, and ends the task. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentRecord, TaskRecord } from '../../api/records.ts'
import { type Client, MarketplaceError } from '../../client/typed-client.ts'

export const outcomes = ['approve', 'cancel', 'dispute'] as const

export interface BuyerPlan {
  outcome: (typeof outcomes)[number]
  title: string
  description: string
  requirements?: string | undefined
  /** Cents; the agent's own price unless given. */
  price?: number | undefined
  /** How often a revision is requested. */
  revisions: number
  /** 1–5 */
  rating: number
  /** How long the agent may take for each step, in ms. */
  timeoutMs: number
}

interface BuyerStep {
  step:
    | 'submitted'
    | 'accepted'
    | 'delivered'
    | 'revision_requested'
    | 'approved'
    | 'reviewed'
    | 'cancelled'
    | 'disputed'
  text: string
  task: TaskRecord
}

/** Is called after each step, and before each wait. */
export interface BuyerListener {
  onStep(step: BuyerStep): void
  onWait(text: string): void
  /** Follows the task, where that is possible. Without it the task is polled. */
  follow?(taskId: string): TaskFeed | null
}

/** What happens to a task, as it happens. */
export interface TaskFeed {
  /** Resolves when something has happened since the last call. */
  next(): Promise<void>
  /** Why the agent can't do its part within that time; null if nothing is known. */
  hopeless(withinMs: number): Promise<string | null>
  close(): void
}

/** The plan could not be carried out: the agent rejected the task, was too slow, or was faster than a cancel. */
export class PlanError extends Error {
  readonly reason: 'rejected' | 'slow' | 'fast'
  readonly task: TaskRecord
  constructor(reason: PlanError['reason'], message: string, task: TaskRecord) {
    super(message)
    this.reason = reason
    this.task = task
  }
}

interface Play extends BuyerPlan, BuyerListener {
  client: Client
  feed: TaskFeed | null
}

/** Carries out the plan. Resolves to the task at its end. Rejects with a PlanError, or with the error of the client. */
export async function playBuyer(
  client: Client,
  agent: AgentRecord,
  plan: BuyerPlan,
  audience: BuyerListener,
): Promise<TaskRecord> {
  const play: Play = { ...plan, ...audience, client, feed: null }
  const submitted = await submit(play, agent)
  if (plan.outcome === 'cancel') return cancel(play, submitted)
  play.feed = audience.follow?.(submitted.id) ?? null
  return work(play, submitted).finally(() => play.feed?.close())
}

async function work(play: Play, submitted: TaskRecord): Promise<TaskRecord> {
  const accepted = await until(play, submitted, 'accept', task => task.acceptedAt !== null)
  play.onStep({ step: 'accepted', text: 'The agent accepted', task: accepted })
  const delivered = await deliveredWork(play, accepted)
  return play.outcome === 'dispute' ? dispute(play, delivered) : approve(play, delivered)
}

async function submit({ client, onStep, ...plan }: Play, agent: AgentRecord): Promise<TaskRecord> {
  const { title, description, requirements, price: agreedPrice = agent.basePrice } = plan
  const fields = { agentId: agent.id, title, description, agreedPrice }
  const { id } = await client.createTask(requirements === undefined ? fields : { ...fields, requirements })
  const task = await client.submitTask({ id })
  onStep({
    step: 'submitted',
    text: `Submitted "${title}" to ${agent.slug} for ${amount(task)}, now held in escrow`,
    task,
  })
  return task
}

/** Waits for the first delivery, and for one more after each requested revision. */
async function deliveredWork(play: Play, accepted: TaskRecord): Promise<TaskRecord> {
  const { client, onStep, revisions } = play
  let task = await until(play, accepted, 'deliver', ({ status }) => status === 'delivered')
  onStep({ step: 'delivered', text: `The agent delivered: ${extract(task)}`, task })
  for (let round = 1; round <= revisions; round++) {
    const feedback = `Revision ${round} of ${revisions}: please go over it once more.`
    const asked = await client.requestRevision({ id: task.id, reason: feedback })
    onStep({ step: 'revision_requested', text: `Asked for revision ${round} of ${revisions}`, task: asked })
    task = await until(
      play,
      asked,
      'deliver the revision',
      ({ status, revisionCount }) => status === 'delivered' && revisionCount === round,
    )
    onStep({ step: 'delivered', text: `The agent delivered again: ${extract(task)}`, task })
  }
  return task
}

async function approve({ client, onStep, rating }: Play, { id }: TaskRecord): Promise<TaskRecord> {
  const task = await client.approveTask({ id })
  onStep({ step: 'approved', text: `Approved: ${amount(task)} went to the builder`, task })
  await client.submitReview({ id, rating, comment: 'Written by a simulated buyer.' })
  onStep({ step: 'reviewed', text: `Reviewed with ${rating} of 5`, task })
  return task
}

async function dispute({ client, onStep }: Play, { id }: TaskRecord): Promise<TaskRecord> {
  const task = await client.disputeTask({ id, reason: 'A simulated buyer disputes this work.' })
  onStep({ step: 'disputed', text: `Disputed: ${amount(task)} stays held until an administrator decides`, task })
  return task
}

async function cancel({ client, onStep }: Play, submitted: TaskRecord): Promise<TaskRecord> {
  const { id } = submitted
  try {
    const task = await client.cancelTask({ id })
    onStep({ step: 'cancelled', text: `Cancelled: ${amount(task)} came back`, task })
    return task
  } catch (error) {
    if (!(error instanceof MarketplaceError) || error.status !== 400) throw error
    const task = await client.getTask({ id })
    throw new PlanError('fast', `The agent was first: the task is ${task.status} and can't be cancelled`, task)
  }
}

const FIRST_LOOK_MS = 50
const LONGEST_PAUSE_MS = 2_000

/** Looks at the task whenever something has happened to it, and in any case ever more seldom, until `isDone`. */
async function until(
  { client, onWait, timeoutMs, feed }: Play,
  before: TaskRecord,
  deed: string,
  isDone: (task: TaskRecord) => boolean,
): Promise<TaskRecord> {
  onWait(`Waiting for the agent to ${deed} (${timeoutMs / 1000} s at most)`)
  const patience = AbortSignal.timeout(timeoutMs)
  let task = before
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    const limitedMs = await client.getTask({ id: before.id }).then(now => {
      task = now
      return 0
    }, waitAskedFor)
    if (isDone(task)) return task
    if (task.status === 'cancelled') {
      const reason = await rejectionReason(client, task)
      throw new PlanError('rejected', `The agent rejected the task${reason}; ${amount(task)} came back`, task)
    }
    const cause = (await feed?.hopeless(timeoutMs)) ?? null
    if (cause !== null)
      throw new PlanError(
        'slow',
        `The agent can't ${deed}: ${cause.replace(/\.$/, '')}; task ${task.id} is ${task.status}`,
        task,
      )
    if (patience.aborted) {
      const message = `The agent did not ${deed} within ${timeoutMs / 1000} s; task ${task.id} is ${task.status}`
      throw new PlanError('slow', message, task)
    }
    const over = new AbortController()
    const signal = AbortSignal.any([patience, over.signal])
    const pause = sleep(Math.max(feed ? LONGEST_PAUSE_MS : pauseMs, limitedMs), null, { signal }).catch(() => {})
    await Promise.race(feed && limitedMs === 0 ? [pause, feed.next()] : [pause])
    over.abort()
  }
}

/** Returns the reason of a rejection, which is the agent's last message. */
async function rejectionReason(client: Client, { id }: TaskRecord): Promise<string> {
  const { items } = await client.listMessages({ id, limit: 100 })
  const said = items.findLast(({ senderRole }) => senderRole === 'agent')
  return said ? ` ("${short(said.content)}")` : ''
}

/** Returns how long to wait after a 429, in ms. Throws every other error. */
function waitAskedFor(error: unknown): number {
  if (error instanceof MarketplaceError && error.status === 429) return error.retryAfterMs ?? LONGEST_PAUSE_MS
  throw error
}

const amount = ({ agreedPrice }: TaskRecord) => (agreedPrice / 100).toFixed(2)

const EXTRACT = 100

function extract({ deliverable }: TaskRecord): string {
  const { content, files = [] } = deliverable ?? {}
  return [short(content ?? ''), ...files.map(({ name }) => `[${name}]`)].join(' ').trim() || 'nothing'
}

function short(words: string): string {
  const text = words.replace(/\s+/g, ' ').trim()
  return text.length > EXTRACT ? `${text.slice(0, EXTRACT)}…` : text
}
