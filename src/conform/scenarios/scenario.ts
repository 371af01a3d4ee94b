/** What is done to the agent: scenarios, and what they can do. They judge nothing. */
import type { EarlyTier } from '../../sim/accounts.ts'
import { type CallbackFault, onItsWayUntil } from '../../sim/callbacks/faults.ts'
import type { AgentUnderTest } from '../agent/agent-under-test.ts'
import type { Declared, Patience, Sample } from '../agent/declared.ts'
import {
  bytesOf,
  firstTaskHas,
  hasDecided,
  hasTaken,
  type LaneName,
  type Recordeds,
  workMsOf,
} from '../history/history.ts'
import { stopwatch } from '../history/machine-time.ts'
import type { Recorder } from '../history/recorder.ts'
import { heardOf, isAskedAgain, wasBusy } from '../judging/heard-webhooks.ts'
import type { Lane, LaneBuyer } from '../marketplaces/lane.ts'
import { type OutgoingWebhook, signedNow, takenBy, type WebhookFault } from '../marketplaces/webhook-faults.ts'
import { latch } from './latch.ts'

/** `accepted`: the agent takes the sample. `delivered`: and does the work. `start`: the run has started it, and can start it anew. `secret`: with another one. */
export type Need = 'accepted' | 'delivered' | 'revisions' | 'rejects' | 'start' | 'secret' | 'hires'

export interface Scenario {
  readonly name: string
  readonly lane: LaneName
  readonly needs?: readonly Need[]
  /** `first`: before all others, in order. `alone`: after them, with nothing else going on. `last`: after the quiet time. */
  readonly when?: 'first' | 'alone' | 'last'
  /** It takes seconds, so it begins before the others of its group. */
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
  /** A sample of the author's, instead of the first that the agent accepts. */
  readonly sample?: Sample
  /** What happens to the webhook by which it is submitted. */
  readonly fault?: WebhookFault
  /** What happens to its first callback with an action. */
  readonly callbackFaults?: Readonly<Record<string, CallbackFault>>
  /** It stays a draft. */
  readonly draft?: boolean
  /** What the agent decides is all that is looked at. A slow one is spared the work: the buyer cancels while its accept is on its way. */
  readonly decisionIsAll?: boolean
  /** That of another task, to which this one is to be equal; empty: none. */
  readonly canary?: string
}

export interface StageTask {
  readonly label: string
  readonly id: string
  readonly canary: string
  readonly price: number
  readonly buyer: LaneBuyer
  readonly isSpared: boolean
}

/** Longer than whoever has sent something and waits as long as patience says. */
const LATE_MS = 1_000
/** So many tasks can a buyer pay: more than a scenario has, and with the dearest task there is a sum that is still exact. */
const MOST_TASKS = 100
/** Whose work takes as long is spared what no check looks at. */
const SLOW_WORK_MS = 1_000
/** In cents: what scenarios pay for tasks whose price is not that of a sample, at most. */
const USUAL_PRICE = 2_000
/** The marketplace sends at once, unless an agent that never answers holds up everything. */
const TAKEN_MS = 60_000

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
/** So long a busy agent is asked again about one task. */
const MOST_BUSY_MS = 120_000

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
    this.#buyer ??= this.otherBuyer('buyer')
    return this.#buyer
  }

  /** `funds`, in cents: for all tasks of a scenario unless given. */
  otherBuyer(name: string, tier: EarlyTier = 'new_verified', funds: number = this.#funds): Promise<LaneBuyer> {
    return this.lane.buyer(`${name}-${this.#scenario}`, tier, funds)
  }

  get #funds(): number {
    const { sample, accepts, rejects } = this.declared
    return MOST_TASKS * Math.max(USUAL_PRICE, ...[sample, ...accepts, ...rejects].map(({ price }) => price))
  }

  /** Makes a task and submits it. */
  async task(label: string, wanted: WantedTask = {}): Promise<StageTask> {
    const { fault, callbackFaults = {}, draft = false, decisionIsAll = false, budgetAuthorizationId } = wanted
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
    const isSpared = decisionIsAll && this.isSlow
    this.lane.record({
      kind: 'task',
      label,
      taskId: id,
      canary,
      price,
      sample: sample.kind,
      ...(isSpared && { isSpared }),
    })
    const task = { label, id, canary, price, buyer, isSpared }
    if (isSpared) this.#spare(task)
    if (fault) this.fault(task, 'task.submitted', fault)
    for (const [action, one] of Object.entries(callbackFaults)) this.callbackFault(task, action, one)
    if (!draft) await buyer.act('submitTask', { id })
    return task
  }

  /** Its work takes as long as nobody wants to wait for without a reason. */
  get isSlow(): boolean {
    const [first] = this.history.tasks('first-task')
    return first !== undefined && (workMsOf(this.history, first.taskId) ?? 0) >= SLOW_WORK_MS
  }

  /** Its accept comes too late. Where the agent rejects, there is no work to be spared. */
  #spare({ id, buyer }: StageTask): void {
    const { opened, open } = latch()
    const cancel = () =>
      void buyer
        .act('cancelTask', { id })
        .catch(() => {})
        .then(open)
    this.#faulted.add(id)
    const fault = onItsWayUntil(opened, cancel)
    this.lane.callbacks.prepare({ label: '', taskId: id, action: 'accept', fault, mayMeetNothing: true })
  }

  /** Makes a task and submits it. The scenario gets the webhook in its hands, and sends it in its own way. */
  async taken(label: string, wanted: WantedTask = {}): Promise<{ task: StageTask; webhook: OutgoingWebhook }> {
    const task = await this.task(label, { ...wanted, draft: true })
    return { task, webhook: await this.takenOf(task, 'task.submitted', 'submitTask') }
  }

  /** The buyer does this about the task, and the scenario gets the webhook that tells of it in its hands. */
  async takenOf(task: StageTask, event: string, verb: 'submitTask' | 'cancelTask'): Promise<OutgoingWebhook> {
    let taken: OutgoingWebhook | null = null
    const take = (webhook: OutgoingWebhook) => {
      taken = webhook
      this.#recorder.wake()
    }
    this.fault(task, event, takenBy(take))
    await task.buyer.act(verb, { id: task.id })
    const webhook = await this.#until<OutgoingWebhook>(
      () => taken,
      () => TAKEN_MS,
    )
    if (!webhook) throw new Error(`the marketplace did not send ${event} of ${task.label} within ${TAKEN_MS / 1_000} s`)
    return webhook
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

  /** Waits until `look` finds something, and returns it; null when the limit, in ms, is over. */
  until<Found>(look: () => Found | undefined | null | false, limit: number | (() => number)): Promise<Found | null> {
    // Nothing more comes from an agent that has ended, though it is back, but for what is on its way.
    const { ends } = this.agent
    const isGone = () => this.agent.hasEnded || this.agent.ends > ends
    const limitMs = typeof limit === 'number' ? () => limit : limit
    return this.#until(look, () => (isGone() ? Math.min(limitMs(), ENDED_MS) : limitMs()))
  }

  async #until<Found>(look: () => Found | undefined | null | false, limit: () => number): Promise<Found | null> {
    const elapsed = this.#recorder.calmStopwatch()
    for (;;) {
      const found = look()
      if (found) return found
      this.#recorder.proveGoesOn()
      const left = limit() - elapsed()
      if (left <= 0) return null
      await this.#recorder.next(Math.min(left, 1_000))
    }
  }

  /** Waits until the task has taken one of these steps `count` times, and returns the last; null when the patience is over. */
  async step({ id }: StageTask, triggers: readonly string[], count = 1): Promise<Recordeds<'step'> | null> {
    const elapsed = stopwatch()
    const before = this.history.of('step').length
    const kind = triggers.includes('deliver') ? 'work' : 'answer'
    const taken = () => this.history.stepsOf(id).filter(({ trigger }) => triggers.includes(trigger))[count - 1]
    // On a busy machine webhooks queue up, which is not the agent's time.
    const [event, times] = count > 1 ? ['task.revision_requested', count - 1] : ['task.submitted', 1]
    const asked = () => heardOf(this.history, id, event).length >= times
    await this.#untilHeard(id, () => taken() || asked(), this.patience.limit('answer'))
    const waited = stopwatch()
    const step = await this.until(taken, () => this.patience.limitInLine(kind, waited()))
    if (step && kind === 'work') this.patience.hasWorked()
    if (step && !this.#faulted.has(id) && !wasBusy(this.history, id)) {
      const others = this.history.of('step').slice(before)
      this.patience.note(kind, elapsed(), !others.some(({ taskId }) => taskId !== id))
    }
    return step
  }

  /** Waits until the agent has accepted or rejected it. Returns whether it has accepted it. */
  async accepted(task: StageTask): Promise<boolean> {
    if (task.isSpared) {
      const isDecided = await this.until(() => hasDecided(this.history, task.id), this.patience.limit('answer'))
      return isDecided !== null && !hasTaken(this.history, task.id, 'reject')
    }
    return (await this.step(task, ['accept', 'reject']))?.trigger === 'accept'
  }

  /** Waits for a delivery: the first, the second, and so on. Returns whether it came. */
  async delivered(task: StageTask, count = 1): Promise<boolean> {
    if (count === 1 && !(await this.accepted(task))) return false
    return (await this.step(task, ['deliver'], count)) !== null
  }

  /** Waits until the agent has come as far as with the first task: it has decided, or delivered. */
  async worked(task: StageTask): Promise<void> {
    if (firstTaskHas(this.history, 'deliver') && !task.isSpared) await this.delivered(task)
    else if (firstTaskHas(this.history, 'accept', 'reject')) await this.accepted(task)
    else await this.sent(task)
  }

  /** For as long as a busy agent is asked again, and else for `limitMs`. */
  #untilHeard<Found>(taskId: string, look: () => Found | undefined | null | false, limitMs: number) {
    const isAsked = () => isAskedAgain(this.history, taskId) && !this.agent.busy.staysBusy
    return this.#until(look, () => (this.agent.hasEnded ? ENDED_MS : isAsked() ? MOST_BUSY_MS : limitMs))
  }

  /** Waits until `count` webhooks about the task, whatever they say, have been answered, or got no answer. Returns whether they have. */
  async sent({ id }: StageTask, count = 1): Promise<boolean> {
    const all = () => heardOf(this.history, id).length >= count
    return (await this.#untilHeard(id, all, this.patience.limit('answer') + LATE_MS)) !== null
  }

  /** Waits until `count` webhooks of this event about the task have been answered, or got no answer. Returns whether they have. */
  async answered({ id }: StageTask, event: string, count = 1): Promise<boolean> {
    const sent = () => heardOf(this.history, id, event).length >= count
    return (await this.#untilHeard(id, sent, this.patience.limit('answer'))) !== null
  }

  /** The nth webhook of this event about the task. An agent may do the work before it answers: the webhook is known once it was answered. */
  async webhook(task: StageTask, event: string, nth = 1): Promise<Recordeds<'webhook'>> {
    await this.answered(task, event, nth)
    const sent = heardOf(this.history, task.id, event)[nth - 1]
    if (!sent) throw new Error(`No ${event} was sent for ${task.label}`)
    return sent
  }

  /**
   * Sends a webhook about the task once more, as the marketplace would: the same body and id, signed anew. `nth`: which of this event, if
   * there were several. Resolves when it was answered, or got no answer.
   */
  async resend(task: StageTask, event: string, nth = 1): Promise<void> {
    const { url, secret } = this.agent
    const { deliveryId, attempt, ...sent } = await this.webhook(task, event, nth)
    const body = bytesOf(sent.body).toString()
    const copy = { url, secret, body, headers: {}, deliveryId: deliveryId ?? '', sentAt: 0 }
    const renewed = (time: number) => signedNow({ ...copy, attempt: (attempt ?? 1) + time })
    await this.lane.webhooks.send(renewed(1), { change: 'old copy', genuine: true, renewed }, task.label)
  }

  observe(label: string, value: unknown): void {
    this.lane.record({ kind: 'observation', label, value })
  }

  readonly pause = async (ms: number): Promise<void> => {
    await this.until(() => false, ms)
  }
}
