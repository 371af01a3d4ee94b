/**
 * Calls that may last longer than their client waits. While one lasts, its client hears how it gets on; before the client gives up, it gets a
 * handle, and asks again by that. A client that gave up earlier finds the handle in its next answer, or joins by the same call.
 */
import { setTimeout as wait } from 'node:timers/promises'

export interface Answer {
  readonly text: string
  readonly isError: boolean
}

/** `onLine` hears the last line so far. */
type Work = (signal: AbortSignal, onLine: (line: string) => void) => Promise<Answer>

/** Clients wait a minute at least, whatever they hear meanwhile. */
export const MOST_WAIT_S = 50
const USUAL_WAIT_S = 45
/** Clients are to hear something every five seconds. */
const TELL_MS = 3_000
/** Calls that are under way, or have ended without an answer. */
const MOST = 16

interface Call {
  readonly handle: string
  readonly name: string
  /** Equal for equal calls. */
  readonly key: string
  readonly done: Promise<Answer>
  readonly began: number
  readonly stop: AbortController
  latest: string
  isDone: boolean
  waiting: number
  /** Its client gave up, and knows no handle. */
  isLost: boolean
}

/** What a client that waits is told of. */
export interface Waiting {
  readonly signal: AbortSignal
  tell(seconds: number, line: string): void
}

export class Calls {
  readonly #calls = new Map<string, Call>()
  readonly #stop: AbortSignal
  #count = 0

  /** `stop` ends all of them. */
  constructor(stop: AbortSignal) {
    this.#stop = stop
  }

  /** Waits `seconds` for the end of a new call, or of an equal one whose client has given up. */
  make(name: string, key: string, work: Work, waiting: Waiting, seconds?: number): Promise<Answer> {
    const call = [...this.#calls.values()].find(call => call.isLost && !call.isDone && call.key === key)
    if (call) return this.#wait(call, waiting, seconds)
    if (!this.#makeRoom()) return Promise.resolve({ text: this.#full(), isError: true })
    return this.#wait(this.#begin(name, key, work), waiting, seconds)
  }

  /** Waits for the end of a call by its handle. */
  async result(handle: string, stops: boolean, waiting: Waiting, seconds?: number): Promise<Answer> {
    const call = this.#calls.get(handle)
    if (!call) return { text: `There is no ${handle} any more: make the call again.`, isError: true }
    if (stops) call.stop.abort()
    return this.#wait(call, waiting, seconds)
  }

  /** For the next answer: the calls that went on without their clients. */
  lost(): string {
    const lost = [...this.#calls.values()].filter(({ isLost }) => isLost)
    return lost
      .map(
        call =>
          `\n\n${call.name} was given up by its client and ${call.isDone ? 'has ended' : 'goes on'}: ${ask(call)}`,
      )
      .join('')
  }

  /** Resolves when none is under way any more. */
  async ended(): Promise<void> {
    await Promise.all([...this.#calls.values()].map(({ done }) => done))
  }

  #begin(name: string, key: string, work: Work): Call {
    const stop = new AbortController()
    const call: Call = {
      ...{ handle: `call_${++this.#count}`, name, key, stop, began: performance.now() },
      ...{ latest: '', isDone: false, waiting: 0, isLost: false },
      done: work(AbortSignal.any([stop.signal, this.#stop]), line => (call.latest = line))
        .catch(error => ({ text: (error as Error).message, isError: true }))
        .finally(() => (call.isDone = true)),
    }
    this.#calls.set(call.handle, call)
    return call
  }

  async #wait(call: Call, { signal, tell }: Waiting, seconds = USUAL_WAIT_S): Promise<Answer> {
    const teller = setInterval(() => tell(secondsOf(call), call.latest), TELL_MS)
    const enough = new AbortController()
    const patience = AbortSignal.any([signal, enough.signal])
    call.waiting++
    call.isLost = false
    const answer = await Promise.race([call.done, wait(seconds * 1_000, null, { signal: patience }).catch(() => null)])
    enough.abort()
    clearInterval(teller)
    call.waiting--
    if (signal.aborted) this.#leave(call, signal.reason)
    else if (answer) this.#calls.delete(call.handle)
    return answer ?? { text: underWay(call), isError: false }
  }

  /** A client that gave up may come back; one that was told to stop does not. */
  #leave(call: Call, reason: unknown): void {
    if (call.waiting > 0) return
    if (/time[ds]?[ -]?out/i.test(String(reason))) call.isLost = true
    else {
      call.stop.abort()
      void call.done.then(() => this.#calls.delete(call.handle))
    }
  }

  /** The oldest that has ended makes room. */
  #makeRoom(): boolean {
    if (this.#calls.size < MOST) return true
    const old = [...this.#calls.values()].find(({ isDone }) => isDone)
    return old !== undefined && this.#calls.delete(old.handle)
  }

  #full(): string {
    const [oldest] = this.#calls.values()
    return `${MOST} calls are under way, and no more are made meanwhile. To stop the oldest: ${ask(oldest!, { stop: true })}`
  }
}

const secondsOf = ({ began }: Call) => Math.round((performance.now() - began) / 1_000)

const ask = ({ handle }: Call, more = {}) => `result ${JSON.stringify({ handle, ...more })}`

const underWay = (call: Call) =>
  [`${call.name} goes on after ${secondsOf(call)} s.`, call.latest, `Next: ${ask(call)}`].filter(Boolean).join('\n')
