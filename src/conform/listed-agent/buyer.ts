/** Buys tasks from the agent, follows them, and records what a buyer sees. */
import type { DeliverableRecord, MessageRecord, TaskRecord } from '../../api/records.ts'
import { type Client, MarketplaceError } from '../../client/typed-client.ts'
import type { Sample } from '../agent/declared.ts'
import type { Happening } from '../history/history.ts'
import { stopwatch } from '../history/machine-time.ts'
import type { Recorder } from '../history/recorder.ts'
import type { Patient } from './retries.ts'
import { labels } from './scenes.ts'
import type { Purse } from './spending.ts'

export interface BuyerOptions {
  readonly client: Client
  readonly agentId: string
  readonly recorder: Recorder
  readonly purse: Purse
  readonly patient: Patient
  /** Names a request, so that it counts once however often it is sent. */
  readonly newId: () => string
}

export interface Wanted extends Pick<Sample, 'title' | 'description' | 'requirements' | 'kind'> {
  readonly price: number
  readonly canary: string
}

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 2_000
const MOST_KEPT = 100

export class Buyer {
  readonly #options: BuyerOptions
  readonly #labelOf = new Map<string, string>()
  /** Times of deliverables that were recorded, by task. */
  readonly #delivered = new Map<string, number>()
  readonly #cancelled = new Set<string>()

  constructor(options: BuyerOptions) {
    this.#options = options
  }

  /** Makes a task and submits it. One that can't be submitted does not stay as a draft. */
  async buy(label: string, { title, description, requirements, price, canary, kind }: Wanted): Promise<TaskRecord> {
    const { client, agentId, recorder, purse } = this.#options
    recorder.proveGoesOn()
    const fields = { agentId, title, description, agreedPrice: price, ...(requirements !== '' && { requirements }) }
    const draft = await this.#once(options => client.createTask(fields, options))
    this.#labelOf.set(draft.id, label)
    let task: TaskRecord
    try {
      task = await this.#once(options => client.submitTask({ id: draft.id }, options))
    } catch (error) {
      const now = await this.#patiently(() => client.cancelTask({ id: draft.id })).catch(() => draft)
      // A draft holds no money.
      if (now.status !== 'draft') purse.note(label, now)
      throw error
    }
    purse.note(label, task)
    this.#record(task.submittedAt, { kind: 'task', label, taskId: task.id, canary, price, sample: kind })
    this.#step(task, task.submittedAt, 'submit', 'draft', 'pending')
    return task
  }

  /** Asks until the task is as wanted, or for so long. Returns it as it is then. Throws if the run is to end. */
  async until(task: TaskRecord, isWanted: (task: TaskRecord) => boolean, limitMs: number): Promise<TaskRecord> {
    const { recorder } = this.#options
    const elapsed = stopwatch()
    let now = task
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      now = await this.look(now)
      if (isWanted(now) || now.status === 'cancelled' || elapsed() > limitMs) return now
      recorder.proveGoesOn()
      await recorder.next(pauseMs)
    }
  }

  async look(before: TaskRecord): Promise<TaskRecord> {
    const { client } = this.#options
    return this.#seen(before, await this.#patiently(() => client.getTask({ id: before.id })))
  }

  /** Returns the task; unchanged if the agent was quicker. */
  async cancel(task: TaskRecord): Promise<TaskRecord> {
    const { client } = this.#options
    this.#cancelled.add(task.id)
    try {
      return await this.#seen(task, await this.#once(options => client.cancelTask({ id: task.id }, options)))
    } catch (error) {
      this.#cancelled.delete(task.id)
      if (!(error instanceof MarketplaceError) || ![400, 409].includes(error.status)) throw error
      return this.look(task)
    }
  }

  async requestRevision(task: TaskRecord, reason: string): Promise<TaskRecord> {
    const { client } = this.#options
    const asked = await this.#once(options => client.requestRevision({ id: task.id, reason }, options))
    this.#step(asked, asked.updatedAt, 'request_revision', 'delivered', 'in_progress')
    return this.#seen(task, asked)
  }

  async approve(task: TaskRecord): Promise<TaskRecord> {
    const { client } = this.#options
    return this.#seen(task, await this.#once(options => client.approveTask({ id: task.id }, options)))
  }

  async write(task: TaskRecord, content: string): Promise<void> {
    await this.#once(options => this.#options.client.sendMessage({ id: task.id, content }, options))
  }

  /** Takes back what nobody has begun, and pays what is done. What is in progress can only be waited for. */
  async end(task: TaskRecord): Promise<TaskRecord> {
    const now = await this.look(task)
    if (now.status === 'pending') {
      const after = await this.cancel(now)
      return after.status === 'delivered' ? this.approve(after) : after
    }
    return now.status === 'delivered' ? this.approve(now) : now
  }

  /** Records what was delivered and written, and how the money has moved. */
  async keep(): Promise<void> {
    const { client, purse } = this.#options
    const ids = purse.state.tasks.map(({ id }) => id)
    for (const id of ids) {
      const { items } = await this.#patiently(() => client.listMessages({ id, limit: MOST_KEPT }))
      this.#observe(labels.messages, id, items)
    }
    if (ids.length === 0) return
    const { items } = await this.#patiently(() => client.listTransactions({ limit: MOST_KEPT }))
    for (const { taskId, type, amount, createdAt } of items)
      if (taskId && ids.includes(taskId) && (type === 'hold' || type === 'refund')) {
        const [from, to] = type === 'hold' ? ['available', 'held'] : ['held', 'available']
        this.#record(createdAt, { kind: 'money', taskId, move: type, amount: Math.abs(amount), from: from!, to: to! })
      }
  }

  async #seen(before: TaskRecord, now: TaskRecord): Promise<TaskRecord> {
    const { id } = now
    if (now.acceptedAt !== null && before.acceptedAt === null)
      this.#step(now, now.acceptedAt, 'accept', 'pending', 'in_progress')
    if (now.deliveredAt !== null && now.deliveredAt !== before.deliveredAt) await this.#keepDeliverables(now)
    if (now.completedAt !== null && before.completedAt === null)
      this.#step(now, now.completedAt, 'approve', 'delivered', 'completed')
    if (now.cancelledAt !== null && before.cancelledAt === null)
      this.#step(now, now.cancelledAt, this.#cancelled.has(id) ? 'cancel' : 'reject', 'pending', 'cancelled')
    this.#options.purse.note(this.#labelOf.get(id)!, now)
    return now
  }

  async #keepDeliverables(task: TaskRecord): Promise<void> {
    const { client } = this.#options
    const { items } = await this.#patiently(() => client.listDeliverables({ id: task.id, limit: MOST_KEPT }))
    const known = this.#delivered.get(task.id) ?? 0
    const inOrder = items.toSorted((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt))
    const fresh = inOrder.slice(known)
    this.#delivered.set(task.id, inOrder.length)
    for (const { createdAt } of fresh) this.#step(task, createdAt, 'deliver', 'in_progress', 'delivered')
    this.#observe(labels.deliverables, task.id, fresh)
  }

  #observe(label: string, taskId: string, value: readonly (DeliverableRecord | MessageRecord)[]): void {
    this.#options.recorder.add({ kind: 'observation', label: `${label}/${taskId}`, value })
  }

  #step({ id: taskId }: TaskRecord, at: string | null, trigger: string, from: string, to: string): void {
    this.#record(at, { kind: 'step', taskId, trigger, from, to })
  }

  /** At the time that the marketplace says. */
  #record(at: string | null, happening: Happening): void {
    const time = Date.parse(at!)
    this.#options.recorder.add(happening, null, { now: () => time, realNow: () => time })
  }

  #patiently<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    return this.#options.patient.ask(ask)
  }

  #once<Answer>(send: (options: { idempotencyKey: string }) => Promise<Answer>): Promise<Answer> {
    const idempotencyKey = this.#options.newId()
    return this.#patiently(() => send({ idempotencyKey }))
  }
}
