/** What a simulator records: its exchanges with agents, and its log. A deployment records nothing. */

import type { Finding } from '../api/diagnosis/record.ts'
import type { DeathFact } from '../api/diagnosis/story.ts'
import { limits } from '../api/limits.ts'
import type { Feed } from '../api/reply.ts'
import { boundedCache } from '../shared/bounded-cache.ts'
import type { Exchange } from './exchange.ts'
import type { StampedEntry } from './log.ts'
import { MIB } from './mebibytes.ts'
import { Ring } from './ring.ts'
import { iso } from './time.ts'
export type OnExchange = (exchange: Exchange) => void

/** What is known of an agent beside its exchanges, for the last of them. */
export interface AgentNotes {
  /** What its verification gets wrong, until it takes a webhook again. */
  mistake: Finding | null
  /** Nothing listens at its address, until something does. */
  away: Finding | null
  /** Ends of its process that nobody has asked for. */
  readonly deaths: DeathFact[]
}

const MOST_AGENTS = 1_000
const MOST_DEATHS = 10
/** Of so many tasks it is known whose they are. */
const MOST_TASKS = 10_000

export class Recording {
  readonly exchanges = new ExchangeRing()
  readonly entries = new EntryRing()
  /** Tries out what an agent gets wrong that refuses webhooks, and notes it. */
  probe: ((agentId: string) => Promise<void>) | null = null
  readonly #agents = boundedCache<AgentNotes>({ maxEntries: MOST_AGENTS })
  readonly #agentOf = boundedCache<string>({ maxEntries: MOST_TASKS })
  readonly #onExchange: OnExchange

  constructor(onExchange: OnExchange = () => {}) {
    this.#onExchange = onExchange
  }

  /** `make`: gets the id of the exchange. */
  add(make: (id: string) => Exchange): Exchange {
    const exchange = this.exchanges.add(make)
    const { direction, taskId, agentId, status } = exchange
    if (direction === 'webhook' && agentId !== null) {
      if (taskId !== null) this.#agentOf.set(taskId, agentId)
      if (status !== null && status >= 200 && status < 300) this.note(agentId, 'mistake', null)
    }
    this.#onExchange(exchange)
    return exchange
  }

  /** Whose a task is that a webhook was about. */
  agentOf = (taskId: string | null) => (taskId === null ? null : (this.#agentOf.get(taskId) ?? null))

  notesOn(agentId: string | null): AgentNotes {
    return (agentId !== null && this.#agents.get(agentId)) || { mistake: null, away: null, deaths: [] }
  }

  note(agentId: string, what: 'mistake' | 'away', finding: Finding | null): void {
    const notes = this.notesOn(agentId)
    if (notes[what] === finding) return
    notes[what] = finding
    this.#agents.set(agentId, notes)
  }

  noteDeath(agentId: string, death: DeathFact): void {
    const notes = this.notesOn(agentId)
    if (notes.deaths.push(death) > MOST_DEATHS) notes.deaths.shift()
    this.#agents.set(agentId, notes)
  }

  /** Its process is started anew. */
  noteStart(agentId: string, until: number): void {
    const { deaths } = this.notesOn(agentId)
    const last = deaths.pop()
    if (last) deaths.push({ until, ...last })
  }
}

const usualEntries = { entries: 10_000, characters: 16 * 1024 * 1024 }

/** @internal Tested with small bounds. */
export class EntryRing {
  readonly #ring: Ring<StampedEntry>
  readonly #followers = new Set<() => void>()

  constructor(bounds: Partial<typeof usualEntries> = {}) {
    const { entries: count, characters: size } = { ...usualEntries, ...bounds }
    this.#ring = new Ring({ count, size })
  }

  add(entry: StampedEntry): void {
    this.#ring.add(entry, charactersOf(entry))
    for (const wake of this.#followers) wake()
  }

  /** Those that are kept and `isWanted`, in order. */
  all(isWanted: (entry: StampedEntry) => boolean): StampedEntry[] {
    const { oldest, last } = this.#ring
    const kept = Array.from({ length: last - oldest + 1 }, (_, i) => this.#ring.at(oldest + i)!)
    return kept.filter(isWanted)
  }

  /** The entries of this task alone, or all. */
  feed(taskId?: string): Feed {
    const [ring, followers] = [this.#ring, this.#followers]
    return {
      get oldest() {
        return ring.oldest
      },
      get last() {
        return ring.last
      },
      // The text is made for who takes it: made for each entry it cost a request of a simulator 3 µs.
      next: after =>
        ring.next(after, entry => (taskId === undefined || taskIdOf(entry) === taskId ? entryJson(entry) : undefined)),
      watch(wake) {
        followers.add(wake)
        return () => void followers.delete(wake)
      },
    }
  }
}

/** What an entry holds besides its texts. */
const OWN_CHARACTERS = 200

/** Estimates the length of an entry's text. */
function charactersOf(entry: StampedEntry): number {
  let sum = OWN_CHARACTERS
  const values = entry as unknown as Readonly<Record<string, unknown>>
  for (const name in values) {
    const value = values[name]
    if (typeof value === 'string') sum += value.length
    else if (typeof value === 'object' && value !== null) sum += JSON.stringify(value).length
  }
  return sum
}

const taskIdOf = (entry: StampedEntry) => ('taskId' in entry ? entry.taskId : null)

/** An entry as programs get it: times are ISO 8601. */
export const entryJson = (entry: StampedEntry) =>
  JSON.stringify({ ...entry, at: iso(entry.at), realAt: iso(entry.realAt) })

interface ExchangeBounds {
  readonly exchanges: number
  readonly bytes: number
  /** Of one body; what is longer is cut. */
  readonly bodyBytes: number
}

const { exchanges, mebibytes, bodyMebibytes } = limits.recording
const usualExchanges: ExchangeBounds = { exchanges, bytes: mebibytes * MIB, bodyBytes: bodyMebibytes * MIB }

/** @internal Tested with small bounds. */
export class ExchangeRing {
  readonly #ring: Ring<Exchange>
  readonly #bodyBytes: number

  constructor(bounds: Partial<ExchangeBounds> = {}) {
    const { exchanges: count, bytes: size, bodyBytes } = { ...usualExchanges, ...bounds }
    this.#ring = new Ring({ count, size })
    this.#bodyBytes = bodyBytes
  }

  /** `make`: gets the id. Returns the exchange whole. What is kept of it may be cut. */
  add(make: (id: string) => Exchange): Exchange {
    const exchange = make(PREFIX + (this.#ring.last + 1))
    const kept = cutTo(this.#bodyBytes, exchange)
    this.#ring.add(kept, kept.bytes)
    return exchange
  }

  get(id: string): Exchange | undefined {
    const found = this.#ring.at(Number(id.slice(PREFIX.length)))
    return found?.id === id ? found : undefined
  }

  /** Newest first. */
  all(): Exchange[] {
    const { oldest, last } = this.#ring
    return Array.from({ length: last - oldest + 1 }, (_, i) => this.#ring.at(last - i)!)
  }
}

const PREFIX = 'exchange_'

function cutTo(most: number, exchange: Exchange): Exchange {
  if (exchange.bytes <= most) return exchange
  const [request, response] = [exchange.requestBody, exchange.responseBody]
  if (request.length <= most && response.length <= most) return exchange
  const [requestBody, responseBody] = [beginningOf(request, most), beginningOf(response, most)]
  return {
    // Its getters are none of its own fields.
    ...exchange,
    requestHeaders: exchange.requestHeaders,
    requestBody,
    responseHeaders: exchange.responseHeaders,
    responseBody,
    requestCut: exchange.requestCut || request.length > most,
    responseCut: exchange.responseCut || response.length > most,
    ...(exchange.sentSecretFingerprint && { sentSecretFingerprint: exchange.sentSecretFingerprint }),
    bytes: exchange.bytes - request.length - response.length + requestBody.length + responseBody.length,
  }
}

/** A copy, because a part of a buffer would keep all of it in memory. */
const beginningOf = (body: Buffer, most: number) => (body.length > most ? Buffer.from(body.subarray(0, most)) : body)
