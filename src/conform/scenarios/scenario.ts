/** What is done to the agent: scenarios, and what they can do. They judge nothing. */
import type { EarlyTier } from '../../sim/accounts.ts'
import type { AgentUnderTest } from '../agent-under-test.ts'
import type { Declared, Sample } from '../declared.ts'
import { firstTaskHas } from '../first-task.ts'
import { bytesOf, type LaneName, type Recordeds } from '../history.ts'
import type { CallbackFault } from '../lane/callback-faults.ts'
import type { Lane, LaneBuyer } from '../lane/lane.ts'
import { type OutgoingWebhook, signedNow, Taken, type WebhookFault } from '../lane/webhook-faults.ts'
import type { Patience } from '../patience.ts'
import type { Recorder } from '../recorder.ts'
import { stopwatch } from '../time.ts'

/** `accepted`: the agent takes the sample. `delivered`: and does the work. `start`: the run has started it, and can start it anew. `secret`: with another one. */
export type Need = 'accepted' | 'delivered' | 'revisions' | 'rejects' | 'start' | 'secret' | 'hires'

export interface Scenario {
  readonly name: string
  readonly lane: LaneName
  readonly needs?: readonly Need[]
  /** `first`: before all others, in order. `alone`: after them, with nothing else going on. `last`: after the quiet time. */
  readonly when?: 'first' | 'alone' | 'last'
  /** It takes seconds, and so begins before those beside it. */
  readonly long?: boolean
  run(stage: Stage): Promise<void>
}

export interface WantedTask {
  readonly title?: string
  readonly description?: string
  readonly requirements?: string
  readonly price?: number
  /** Another buyer than that of the scenario. */
  readonly buyer?: LaneBuyer
  /** Somebody else pays, for an agent that hires. */
  readonly budgetAuthorizationId?: string
  /** Another of the author's samples than the first that it accepts. */
  readonly sample?: Sample
  /** What happens to the webhook by which it is submitted. */
  readonly fault?: WebhookFault
  /** What happens to its first callback with an action. */
  readonly callbackFaults?: Readonly<Record<string, CallbackFault>>
  /** It stays a draft. */
  readonly draft?: boolean
  /** That of another task, to which this one is to be equal; empty: none. */
  readonly canary?: string
}

export interface StageTask {
  readonly label: string
  readonly id: string
  readonly canary: string
  readonly price: number
  readonly buyer: LaneBuyer
}

/** Longer than whoever has sent something and waits as long as patience says. */
const LATE_MS = 1_000
/** So many tasks can the buyer of a scenario pay. */
const MOST_TASKS = 40

interface StageOptions {
  readonly scenario: string
  readonly lane: Lane
  /** All of the run. */
  readonly lanes: readonly Lane[]
  readonly agent: AgentUnderTest
  readonly declared: Declared
  readonly patience: Patience
  readonly recorder: Recorder
  /** Numbers in [0, 1) that repeat with the seed. */
  readonly chance: () => number
}

const ENDED_MS = 300

/** What a scenario works with. */
export class Stage {
  readonly lane: Lane
  readonly lanes: readonly Lane[]
  readonly agent: AgentUnderTest
  readonly declared: Declared
  readonly patience: Patience
  readonly chance: () => number
  readonly #scenario: string
  readonly #recorder: Recorder
  #buyer: Promise<LaneBuyer> | null = null
  /** Tasks that faults of ours make slow. */
  readonly #faulted = new Set<string>()

  constructor({ scenario, lane, lanes, agent, declared, patience, recorder, chance }: StageOptions) {
    this.#scenario = scenario
    this.lane = lane
    this.lanes = lanes
    this.agent = agent
    this.declared = declared
    this.patience = patience
    this.#recorder = recorder
    this.chance = chance
  }

  get history() {
    return this.#recorder.history
  }

  /** The buyer of this scenario. */
  buyer(): Promise<LaneBuyer> {
    this.#buyer ??= this.otherBuyer('buyer', 'new_verified', MOST_TASKS * Math.max(500, this.declared.sample.price))
    return this.#buyer
  }

  otherBuyer(name: string, tier?: EarlyTier, funds?: number): Promise<LaneBuyer> {
    return this.lane.buyer(`${name}-${this.#scenario}`, tier, funds)
  }

  /** Makes a task and submits it. */
  async task(label: string, wanted: WantedTask = {}): Promise<StageTask> {
    const { fault, callbackFaults = {}, draft = false, budgetAuthorizationId } = wanted
    const buyer = wanted.buyer ?? (await this.buyer())
    const sample = wanted.sample ?? this.declared.sample
    const { canary = this.#canary() } = wanted
    const price = wanted.price ?? sample.price
    const { title = sample.title, requirements = sample.requirements } = wanted
    const words = wanted.description ?? sample.description
    const description = this.declared.vary && canary !== '' ? `${words}\n\n${canary}` : words
    await this.lane.list()
    const fields = {
      agentId: this.agent.id,
      title,
      description,
      requirements,
      agreedPrice: price,
      budgetAuthorizationId,
    }
    const { id } = await buyer.act('createTask', fields)
    this.lane.labels.set(id, label)
    this.lane.record({ kind: 'task', label, taskId: id, canary, price, sample: sample.kind })
    const task = { label, id, canary, price, buyer }
    if (fault) this.fault(task, 'task.submitted', fault)
    for (const [action, one] of Object.entries(callbackFaults)) this.callbackFault(task, action, one)
    if (!draft) await buyer.act('submitTask', { id })
    return task
  }

  /** Makes a task and submits it. The scenario gets the webhook in its hands, and sends it in its own way. */
  async taken(label: string, wanted: WantedTask = {}): Promise<{ task: StageTask; webhook: OutgoingWebhook }> {
    const fault = new Taken()
    const task = await this.task(label, { ...wanted, fault })
    return { task, webhook: await fault.webhook }
  }

  #canary(): string {
    const number = Math.floor(this.chance() * 0x1000000)
    return `ref-${number.toString(16).padStart(6, '0')}`
  }

  /** The next webhook of this event about the task meets the fault. */
  fault({ label, id: taskId }: StageTask, event: string, fault: WebhookFault): void {
    this.#faulted.add(taskId)
    this.lane.webhooks.prepare({ label, taskId, event, fault })
  }

  /** The next callback with this action about the task meets the fault. */
  callbackFault({ label, id: taskId }: StageTask, action: string, fault: CallbackFault): void {
    this.#faulted.add(taskId)
    this.lane.callbacks.prepare({ label, taskId, action, fault })
  }

  /** Waits until `look` finds something, and returns it; null when `limitMs` are over. */
  async until<Found>(look: () => Found | undefined | null | false, limitMs: number): Promise<Found | null> {
    const elapsed = stopwatch()
    for (;;) {
      const found = look()
      if (found) return found
      this.#recorder.proveGoesOn()
      // Nothing more comes from an agent that has ended, but for what is on its way.
      const left = (this.agent.hasEnded ? Math.min(limitMs, ENDED_MS) : limitMs) - elapsed()
      if (left <= 0) return null
      await this.#recorder.next(Math.min(left, 1_000))
    }
  }

  /** Waits until the task has taken one of these steps `count` times, and returns the last; null when the patience is over. */
  async step({ id }: StageTask, triggers: readonly string[], count = 1): Promise<Recordeds<'step'> | null> {
    const elapsed = stopwatch()
    const kind = triggers.includes('deliver') ? 'work' : 'answer'
    const taken = () => this.history.stepsOf(id).filter(({ trigger }) => triggers.includes(trigger))[count - 1]
    const step = await this.until(taken, this.patience.limit(kind))
    if (step && !this.#faulted.has(id)) this.patience.note(kind, elapsed())
    return step
  }

  /** Waits until the agent has accepted or rejected it. Returns whether it has accepted it. */
  async accepted(task: StageTask): Promise<boolean> {
    return (await this.step(task, ['accept', 'reject']))?.trigger === 'accept'
  }

  /** Waits for a delivery: the first, the second, and so on. Returns whether it came. */
  async delivered(task: StageTask, count = 1): Promise<boolean> {
    if (count === 1 && !(await this.accepted(task))) return false
    return (await this.step(task, ['deliver'], count)) !== null
  }

  /** Waits until the agent has come as far as with the first task: it has decided, or delivered. */
  async worked(task: StageTask): Promise<void> {
    if (firstTaskHas(this.history, 'deliver')) await this.delivered(task)
    else if (firstTaskHas(this.history, 'accept', 'reject')) await this.accepted(task)
    else await this.sent(task)
  }

  /** Waits until `count` webhooks about the task, whatever they say, have been answered, or got no answer. Returns whether they have. */
  async sent({ id }: StageTask, count = 1): Promise<boolean> {
    const all = () => this.history.webhooksOf(id).length >= count
    return (await this.until(all, this.patience.limit('answer') + LATE_MS)) !== null
  }

  /** Waits until `count` webhooks of this event about the task have been answered, or got no answer. Returns whether they have. */
  async answered({ id }: StageTask, event: string, count = 1): Promise<boolean> {
    const sent = () => this.history.webhooksOf(id).filter(one => one.event === event).length >= count
    return (await this.until(sent, this.patience.limit('answer'))) !== null
  }

  /**
   * Sends a webhook about the task once more, as the marketplace would: the same body and id, signed anew. `nth`: which of this event, if
   * there were several. Resolves when it was answered, or got no answer.
   */
  async resend({ label, id }: StageTask, event: string, nth = 1): Promise<void> {
    const sent = this.history.webhooksOf(id).filter(one => one.event === event)[nth - 1]
    if (!sent) throw new Error(`No ${event} was sent for ${label}`)
    const { url, secret } = this.agent
    const { deliveryId, attempt } = sent
    const body = bytesOf(sent.body).toString()
    const again = {
      url,
      secret,
      body,
      headers: {},
      deliveryId: deliveryId ?? '',
      attempt: (attempt ?? 1) + 1,
      sentAt: 0,
    }
    await this.lane.webhooks.send(signedNow(again), { change: 'old copy', genuine: true }, label)
  }

  observe(label: string, value: unknown): void {
    this.lane.record({ kind: 'observation', label, value })
  }

  async pause(ms: number): Promise<void> {
    await this.until(() => false, ms)
  }
}
