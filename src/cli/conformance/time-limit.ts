/** The time limit of a run with all its repeats. A long run says how far it has come; when it is over, the run ends. Source: A-277. */

import { TimeOver, USUAL_LIMIT_MS } from '../../conform/judging/time-limit.ts'
import { UsageError } from '../../settings/config.ts'
import { durationGiven } from '../output/numbers.ts'

const LEAST_MS = 1_000
/** One of Node's timers takes some weeks. */
const MOST_MS = 7 * 24 * 3_600_000
/** Who waits, and a CI service, takes for dead what is silent for five seconds: so often, as timers and the start of the program take time too. */
const SPEAKS_EACH_MS = 3_000

/** In ms. `flag` goes before `setting`, which is that of the agent's file. */
export function limitIn(flag: string | undefined, setting: number | undefined, repeats: number): number {
  const ms = (flag === undefined ? setting : durationGiven(flag)) ?? USUAL_LIMIT_MS * repeats
  if (ms >= LEAST_MS && ms <= MOST_MS) return ms
  const name = flag === undefined ? 'timeout in the file of the agent' : '--timeout'
  throw new UsageError(`${name} is the time that the whole run may take: 1s to 7d, such as 10m.`)
}

/** `ms`: since the beginning. */
export type TellTime = (time: { readonly ms: number; readonly limitMs: number }) => void

export class RunTime {
  readonly #limitMs: number
  #listener: TellTime | null = null
  /** A word that was due before anybody listened. */
  #unheard: number | null = null
  readonly #over = new AbortController()
  readonly #end: NodeJS.Timeout
  #word: NodeJS.Timeout

  /** It begins now. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
    const first = Math.min(SPEAKS_EACH_MS, limitMs / 2)
    this.#word = setTimeout(() => this.#tell(first), first)
    this.#end = setTimeout(() => this.#over.abort(new TimeOver(limitMs)), limitMs)
  }

  /** Aborted when it is over. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** From now on this one hears how long it takes, and no other. */
  tellTo(listener: TellTime): void {
    this.#listener = listener
    if (this.#unheard !== null) listener({ ms: this.#unheard, limitMs: this.#limitMs })
    this.#unheard = null
  }

  #tell(ms: number): void {
    if (this.#listener) this.#listener({ ms, limitMs: this.#limitMs })
    else this.#unheard = ms
    const next = ms + SPEAKS_EACH_MS
    if (next < this.#limitMs) this.#word = setTimeout(() => this.#tell(next), SPEAKS_EACH_MS)
  }

  close(): void {
    clearTimeout(this.#word)
    clearTimeout(this.#end)
  }
}
