/**
 * What happened in a run: the agent's tasks, every webhook and callback byte for byte, each step and each cent. Checks judge nothing but
 * this, so a run that was saved can be judged again.
 */

import { masked } from '../../shared/secrets.ts'
import type { HeaderLines } from '../../world/header-lines.ts'

/** `real`: webhooks and callbacks meet faults, in real time. `clock`: days go by in moments. */
export type LaneName = 'real' | 'clock'

/** Bytes, as text if they are UTF-8 and as base64 if not. Only the beginning of what is longer than `size` tells is kept. */
export interface Content {
  readonly text?: string
  readonly base64?: string
  /** In bytes. */
  readonly size: number
}

export interface Answer {
  readonly status: number
  readonly headers: HeaderLines
  readonly body: Content
}

/** The scenario has made a task, and calls it by a label. */
interface TaskEvent {
  readonly kind: 'task'
  readonly label: string
  readonly taskId: string
  /** A word in its description that no other task has. */
  readonly canary: string
  readonly price: number
  /** What the agent's author has said of such tasks: it `accepts` or `rejects` them; nothing of the `usual` one. */
  readonly sample: 'accepts' | 'rejects' | 'usual'
  /** The buyer has cancelled while the agent's accept was on its way. */
  readonly isSpared?: true
}

/** A request to the agent. */
export interface WebhookEvent {
  readonly kind: 'webhook'
  /** That of its task, or what the scenario calls a webhook that it has made itself. */
  readonly label: string
  readonly taskId: string | null
  readonly event: string | null
  readonly deliveryId: string | null
  readonly attempt: number | null
  /** How it differs from what the marketplace sends; null: in nothing. */
  readonly change: string | null
  /** A right agent accepts it. */
  readonly genuine: boolean
  readonly method: string
  readonly url: string
  readonly headers: HeaderLines
  readonly body: Content
  /** null: none came. */
  readonly answer: Answer | null
  /** Why none came. */
  readonly error: string | null
  readonly ms: number
  /** When it ended, if that is not when it is recorded. */
  readonly realAt?: number
}

/** A request of the agent about a task or a connection test. */
export interface CallbackEvent {
  readonly kind: 'callback'
  /** That of its task, or of the test; null: there is no such task. */
  readonly label: string | null
  readonly taskId: string
  /** As the body or the path says; `?` if neither does. */
  readonly action: string
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: HeaderLines
  readonly body: Content
  /** `key`: it came with an API key in place of a signature. Anything else says what is wrong with the signature. */
  readonly signature: 'valid' | 'key' | string
  /** What the marketplace said; null: it was not asked. */
  readonly answer: Answer | null
  /** What the agent was told in its place: the fault, and the status, which is null if the connection was cut. */
  readonly fault: { readonly name: string; readonly status: number | null } | null
  readonly ms: number
  /** When it ended, if that is not when it is recorded. */
  readonly realAt?: number
}

/** Any other request of the agent: to the marketplace, or to where it has no business. */
interface RequestEvent {
  readonly kind: 'request'
  readonly method: string
  /** The whole URL, unless it is of the marketplace. */
  readonly path: string
  readonly status: number | null
}

/** A task has changed its state. */
interface StepEvent {
  readonly kind: 'step'
  readonly taskId: string
  readonly trigger: string
  readonly from: string | null
  readonly to: string
}

/** Cents have moved. */
interface MoneyEvent {
  readonly kind: 'money'
  readonly taskId: string | null
  readonly move: string
  readonly amount: number
  readonly from: string
  readonly to: string
}

/** Something that the scenario has looked up, such as a report of a connection test. */
interface ObservationEvent {
  readonly kind: 'observation'
  readonly label: string
  readonly value: unknown
}

/** A fault was prepared and met nothing. */
interface UnusedEvent {
  readonly kind: 'unused'
  readonly label: string
  readonly fault: string
}

/** The agent's process. */
interface ProcessEvent {
  readonly kind: 'process'
  readonly what: 'started' | 'ready' | 'killed' | 'ended'
  readonly text: string
  /** It has ended by itself. `lastWords`: what it has written last to stderr. */
  readonly death?: {
    readonly code: number | null
    readonly signal: string | null
    readonly lastWords: readonly string[]
  }
  readonly ms: number
}

/** How a scenario ended. `skipped`: this run has not what it needs. `failed`: by a fault that is not the agent's. */
interface ScenarioEvent {
  readonly kind: 'scenario'
  readonly scenario: string
  readonly outcome: 'done' | 'skipped' | 'failed'
  /** Why, unless it is done. */
  readonly why: string
  /** It was skipped because its author has declared so. */
  readonly byDeclaration: boolean
  readonly ms: number
}

/** In the last `ms`, the run itself stood still for `run` of them, and the agent's processes waited for the machine for `agent`. */
interface StallEvent {
  readonly kind: 'stall'
  readonly run: number
  readonly agent: number
  readonly ms: number
}

/** Nothing was sent for so long, and everything was listened for. */
interface QuietEvent {
  readonly kind: 'quiet'
  readonly ms: number
}

export interface AgentTold {
  /** Its webhook; empty: it is another builder's, listed elsewhere. */
  readonly url: string
  readonly command: string | null
  /** Where it was looked at from outside; undefined: a marketplace was played to it. */
  readonly listed?: { readonly marketplace: string; readonly id: string; readonly slug: string }
}

/** The run as it was asked for: always the first. */
interface BeginEvent {
  readonly kind: 'begin'
  readonly schema: 'conformance-history/1'
  readonly version: string
  readonly seed: number
  readonly agent: AgentTold
  /** How long the agent may take, in ms. */
  readonly patience: { readonly answer: number; readonly work: number }
  /** What the author has said that it does not do, in words: tests of it were left out. */
  readonly declared: readonly string[]
  /** Ids of the checks that it was asked for; undefined: of all. */
  readonly chosen?: readonly string[]
}

interface PurchasesEvent extends Purchases {
  readonly kind: 'purchases'
}

/**
 * The run has ended: always the last, unless the file was cut off. A run that was ended from outside has one before it as well, as what
 * comes while everything is taken down says nothing of the agent: the first one counts.
 */
interface EndEvent {
  readonly kind: 'end'
  /** Ctrl-C, or its time was over. */
  readonly interrupted: boolean
  /** So much time it had, if that was over. */
  readonly limitMs?: number
  readonly ms: number
}

export type Happening =
  | BeginEvent
  | TaskEvent
  | WebhookEvent
  | CallbackEvent
  | RequestEvent
  | StepEvent
  | MoneyEvent
  | ObservationEvent
  | UnusedEvent
  | ProcessEvent
  | ScenarioEvent
  | QuietEvent
  | StallEvent
  | PurchasesEvent
  | EndEvent

/** `at`: domain time. Both in ms since 1970. */
export type Recorded<Event extends Happening = Happening> = Event & {
  readonly seq: number
  readonly lane: LaneName | null
  readonly realAt: number
  readonly at: number
}

export type Recordeds<Kind extends Happening['kind']> = Recorded<Extract<Happening, { kind: Kind }>>

/** Reads what was recorded. */
export class History {
  readonly events: readonly Recorded[]
  /** As far as it was looked at: whoever waits for a task asks at each event. */
  readonly #byTask = new Map<string, Recorded[]>()
  #sorted = 0

  constructor(events: readonly Recorded[]) {
    this.events = events
  }

  of<Kind extends Happening['kind']>(kind: Kind): Recordeds<Kind>[] {
    return this.events.filter((event): event is Recordeds<Kind> => event.kind === kind)
  }

  get begin(): Recordeds<'begin'> {
    return this.of('begin')[0]!
  }

  /** The tasks with this label. A label stands for its parts too: `dup.ends` for `dup.ends/approved`. */
  tasks(label: string): Recordeds<'task'>[] {
    return this.of('task').filter(event => isOf(event.label, label))
  }

  webhooks(label: string): Recordeds<'webhook'>[] {
    return this.of('webhook').filter(event => isOf(event.label, label))
  }

  callbacks(label: string): Recordeds<'callback'>[] {
    return this.of('callback').filter(event => event.label !== null && isOf(event.label, label))
  }

  readonly callbacksOf = (taskId: string) => this.#about(taskId, 'callback')
  readonly webhooksOf = (taskId: string) => this.#about(taskId, 'webhook')
  readonly stepsOf = (taskId: string) => this.#about(taskId, 'step')
  readonly moneyOf = (taskId: string) => this.#about(taskId, 'money')

  #about<Kind extends Happening['kind']>(taskId: string, kind: Kind): Recordeds<Kind>[] {
    for (; this.#sorted < this.events.length; this.#sorted++) {
      const event = this.events[this.#sorted]!
      if (!('taskId' in event) || event.taskId === null) continue
      if (!this.#byTask.get(event.taskId)?.push(event)) this.#byTask.set(event.taskId, [event])
    }
    return (this.#byTask.get(taskId) ?? []).filter((event): event is Recordeds<Kind> => event.kind === kind)
  }

  /** How long the machine has held up the run or the agent between two moments, at most. */
  stalledMs(from: number, to: number): number {
    let sum = 0
    for (const { realAt, ms, run, agent } of this.of('stall'))
      sum += Math.max(0, Math.min(run + agent, Math.min(realAt, to) - Math.max(realAt - ms, from)))
    return sum
  }

  observations(label: string): Recordeds<'observation'>[] {
    return this.of('observation').filter(event => isOf(event.label, label))
  }
}

/** Whether a label is this one, or a part of it. */
export const isOf = (label: string, wanted: string) => label === wanted || label.startsWith(`${wanted}/`)

const MOST_BYTES = 256 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function contentOf(bytes: Uint8Array): Content {
  const kept = bytes.length > MOST_BYTES ? bytes.subarray(0, MOST_BYTES) : bytes
  try {
    return { text: utf8.decode(kept), size: bytes.length }
  } catch {
    // As text it is masked where it is recorded.
    const shown = masked(Buffer.from(kept).toString('latin1'))
    return { base64: Buffer.from(shown, 'latin1').toString('base64'), size: bytes.length }
  }
}

export const bytesOf = ({ text, base64 }: Content): Buffer =>
  text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text)

/** What a run has bought from an agent that is listed elsewhere. */
export interface BoughtTask {
  readonly id: string
  readonly label: string
  /** In cents, as all that follows. */
  readonly price: number
  /** As it was last seen. */
  readonly status: string
}

/** What has become of the money of a run that buys from an agent listed elsewhere. */
export interface Purchases {
  /** So much was allowed. */
  readonly limit: number
  /** Of tasks that were approved. */
  readonly spent: number
  /** Of tasks that are still open. */
  readonly held: number
  readonly tasks: readonly BoughtTask[]
}

/** The first task shows how far the agent gets with the sample: other tasks with the same text should get as far. */
export const hasTaken = (history: History, taskId: string, ...triggers: readonly string[]): boolean =>
  history.stepsOf(taskId).some(({ trigger }) => triggers.includes(trigger))

const isSpared = (history: History, taskId: string): boolean =>
  history.of('task').some(task => task.taskId === taskId && task.isSpared === true)

/** Whether the agent has accepted or rejected it, or would have, had the buyer not cancelled to spare it the work. */
export const hasDecided = (history: History, taskId: string): boolean =>
  hasTaken(history, taskId, 'accept', 'reject') ||
  (isSpared(history, taskId) && history.callbacksOf(taskId).some(({ action }) => action === 'accept'))

/** How long it took from being accepted to being delivered, in ms; null if it was not. */
export function workMsOf(history: History, taskId: string): number | null {
  const [from, to] = ['accept', 'deliver'].map(wanted =>
    history.stepsOf(taskId).find(({ trigger }) => trigger === wanted),
  )
  return from && to ? to.realAt - from.realAt : null
}

/** Whether the first task got that far. */
export const firstTaskHas = (history: History, ...triggers: readonly string[]): boolean =>
  history.tasks('first-task').some(({ taskId }) => hasTaken(history, taskId, ...triggers))
