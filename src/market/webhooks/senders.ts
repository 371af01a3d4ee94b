/**
 * Which instances on one database send webhooks. Each has a row and counts in it twice a second. Who sees a count stand
 * still removes the row, and the claims of that instance are free. So others do not wait for the leases of one that is dead
 * or stands still. Each compares times of its own clock only, so clocks may differ. Source: A-331.
 */
import { dispatch } from '../../api/dispatch.ts'
import { isTold } from '../../store/db.ts'
import {
  countBeat,
  insertSender,
  otherSenders,
  removeSender,
  removeSilent,
  type SenderRow,
} from '../../store/tables/webhooks/senders.ts'
import type { Market } from '../market.ts'

/** Who has not looked for so long has stood still itself, or the database has: it can't know who counts. */
const BLIND_MS = 3 * dispatch.beatMs

interface Seen {
  beats: number
  /** When the count was first seen, in real ms. */
  since: number
}

export class Senders {
  readonly #market: Pick<Market, 'db' | 'world' | 'log'>
  #id: string | null = null
  /** When the last beat that was written began. */
  #beatAt = Number.NEGATIVE_INFINITY
  #beating: Promise<void> | null = null
  #seen = new Map<string, Seen>()
  #lookedAt = Number.NEGATIVE_INFINITY
  #freed = () => {}
  /** What goes on failing is told once. */
  #isTold = false
  #closed = false

  constructor(market: Pick<Market, 'db' | 'world' | 'log'>) {
    this.#market = market
  }

  /** Another one after others have taken this instance for gone: its claims were of the one before. */
  get id(): string | null {
    return this.#id
  }

  /** Whether nobody can take this instance for gone yet. A clock that was set back says nothing. */
  get isHeard(): boolean {
    const ago = this.#market.world.realNow() - this.#beatAt
    return this.#id !== null && ago >= 0 && ago < dispatch.heardMs
  }

  open(freed: () => void): void {
    this.#freed = freed
    void this.#tick()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#beating?.catch(() => {})
    const id = this.#id
    // If it fails, others see that it counts no more.
    if (id !== null) await this.#market.db.write(tx => removeSender(tx, id)).catch(() => {})
  }

  /** Counts now unless it was heard lately. Returns the id for claims. */
  async beHeard(): Promise<string> {
    // One that is under way may have begun so long ago that nobody is heard by it.
    if (!this.isHeard) await this.#beating
    if (!this.isHeard) await this.#beat()
    return this.#id as string
  }

  async #tick(): Promise<void> {
    try {
      await this.#beat()
      await this.#look()
      this.#isTold = false
    } catch (error) {
      const message = `Other instances could not be told that this one runs: ${(error as Error).message}`
      if (!isTold(error) && !this.#isTold && !this.#closed) this.#market.log({ type: 'error', message })
      this.#isTold = true
    }
    if (!this.#closed) this.#market.world.after(dispatch.beatMs, () => void this.#tick())
  }

  #beat(): Promise<void> {
    this.#beating ??= this.#count().finally(() => {
      this.#beating = null
    })
    return this.#beating
  }

  async #count(): Promise<void> {
    const { db, world } = this.#market
    const at = world.realNow()
    const id = this.#id
    if (id === null || !(await db.write(tx => countBeat(tx, id)))) {
      const next = world.id('snd')
      await db.write(tx => insertSender(tx, next))
      this.#id = next
    }
    const wasHeard = this.isHeard
    this.#beatAt = at
    // What was claimed and not sent meanwhile waits no longer.
    if (!wasHeard && this.isHeard) this.#freed()
  }

  async #look(): Promise<void> {
    const { db, world } = this.#market
    const from = world.realNow()
    const rows = await db.read(q => otherSenders(q, this.#id as string))
    const now = world.realNow()
    const wasBlind = now - this.#lookedAt > BLIND_MS || now < this.#lookedAt
    this.#lookedAt = now
    const before = wasBlind ? new Map<string, Seen>() : this.#seen
    this.#seen = new Map(rows.map(row => [row.id, seenAgain(row, before.get(row.id), now)]))
    const silent = rows.filter(({ id }) => from - this.#seen.get(id)!.since >= dispatch.silentMs)
    if (silent.length > 0) await this.#remove(silent)
  }

  async #remove(silent: readonly SenderRow[]): Promise<void> {
    const removed = await this.#market.db.write(tx => Promise.all(silent.map(one => removeSilent(tx, one))))
    const gone = silent.filter((_, i) => removed[i])
    if (gone.length === 0) return
    for (const { id } of gone) this.#market.log({ type: 'warning', message: `${id} ${GONE}` })
    this.#freed()
  }
}

const seenAgain = ({ beats }: SenderRow, before: Seen | undefined, now: number): Seen =>
  before?.beats === beats ? before : { beats, since: now }

const GONE = 'is dead or stands still: other instances send its webhooks from now on.'
