/** What the author declares about the agent: which tasks it takes, how long it may take, and what it does not do. No declaration excuses a bug. */

import { availableParallelism, loadavg } from 'node:os'
import { stopwatch } from '../history/machine-time.ts'

export interface Sample {
  readonly kind: 'accepts' | 'rejects' | 'usual'
  readonly title: string
  readonly description: string
  readonly requirements: string
  readonly price: number
}

export interface Declared {
  /** In ms. */
  readonly patience: { readonly answer: number; readonly work: number; readonly quiet: number }
  readonly accepts: readonly Sample[]
  readonly rejects: readonly Sample[]
  /** false: it delivers once. */
  readonly revisions: boolean
  readonly messages: 'replies' | 'silent' | null
  /** It buys from other agents. */
  readonly hires: boolean
  /** `manual`: a person does it. */
  readonly work: 'manual' | 'automatic'
  /** false: the words of samples stay as they are. */
  readonly vary: boolean
  /** The task that is used wherever one is needed that the agent accepts. */
  readonly sample: Sample
}

/** A task that most agents can do something about. */
const usualSample: Sample = {
  kind: 'usual',
  title: 'A notice for the village fair',
  description:
    'Please write a notice for the village fair on Saturday at ten: friendly, short, with the time and the place, which is the old school.',
  requirements: 'Three sentences at most.',
  price: 500,
}

export const nothingDeclared: Declared = {
  patience: { answer: 30_000, work: 120_000, quiet: 1_000 },
  accepts: [],
  rejects: [],
  revisions: true,
  messages: null,
  hires: false,
  work: 'automatic',
  vary: true,
  sample: usualSample,
}

/** What the author says that it does or does not, for reports. */
export function declaredInWords({ revisions, hires, work, messages, vary }: Declared): string[] {
  return [
    ...(revisions ? [] : ['it takes no revisions']),
    ...(hires ? ['it hires other agents'] : []),
    ...(work === 'manual' ? ['a person does the work'] : []),
    ...(messages === null ? [] : [messages === 'silent' ? 'it does not reply to messages' : 'it replies to messages']),
    ...(vary ? [] : ['the words of samples stay as they are']),
  ]
}

type Kind = 'answer' | 'work'

const LEAST_MS = 5_000
const MOST_CROWDED = 6
/** Of an agent that was not started here nobody measures how long the machine held it up, so what there is to do for each core counts. */
const crowdedLimit = () => LEAST_MS * Math.min(MOST_CROWDED, Math.max(1, loadavg()[0]! / availableParallelism()))

const TIMES = 10
const TIMES_QUIET = 5
const MOST_MORE_MS = 10_000

/** How long to wait for the agent: as long as its author says, but not much longer than it has taken so far. */
export class Patience {
  readonly #limits: Readonly<Record<Kind, number>>
  readonly #slowest: Partial<Record<Kind, number>> = {}
  #slowestAlone = 0
  #sinceWork: () => number = () => Number.POSITIVE_INFINITY
  readonly #isMeasured: boolean

  /** In ms. `isMeasured`: whoever waits leaves out how long the machine held up the agent. */
  constructor(limits: Readonly<Record<Kind, number>>, isMeasured = false) {
    this.#limits = limits
    this.#isMeasured = isMeasured
  }

  limit(kind: Kind): number {
    const seen = this.#slowest[kind]
    if (seen === undefined) return this.#limits[kind]
    const least = this.#isMeasured ? LEAST_MS : crowdedLimit()
    return Math.round(Math.min(this.#limits[kind], Math.max(least, TIMES * seen)))
  }

  /** The same, since it was last seen to deliver: who does one task after the other goes on with those that came before. */
  limitInLine(kind: Kind, waitedMs: number): number {
    const beforeMs = kind === 'work' ? Math.max(0, waitedMs - this.#sinceWork()) : 0
    return Math.min(this.#limits[kind], this.limit(kind) + beforeMs)
  }

  /** It has delivered something. */
  hasWorked(): void {
    this.#sinceWork = stopwatch()
  }

  /** `isAlone`: it did nothing else meanwhile. */
  note(kind: Kind, ms: number, isAlone: boolean): void {
    this.#slowest[kind] = Math.max(ms, this.#slowest[kind] ?? 0)
    if (isAlone) this.#slowestAlone = Math.max(ms, this.#slowestAlone)
  }

  /**
   * How long to listen for what must not come, when there is nothing else to do: five times the slowest reaction, and of slow agents that and some
   * seconds. Who does one task after the other takes many times as long where they wait for each other.
   */
  quietMs(leastMs: number): number {
    const slowest = this.#slowestAlone
    return Math.max(leastMs, Math.min(TIMES_QUIET * slowest, slowest + MOST_MORE_MS))
  }
}
