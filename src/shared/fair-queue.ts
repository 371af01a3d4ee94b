/**
 * A queue of many flows: next is who has had least, not who came first. What a flow has had is counted in one unit, such as
 * ms, and charged when it is known: an estimate before, the rest afterwards. Source: A-289.
 *
 * All that is counted is relative to the flow that was served last: who comes anew begins there, so nobody saves up turns, and
 * nobody pays for what is over. A flow that asks rarely is always ahead of one that asks without end.
 */

interface Flow<Item> {
  /** What it has had. */
  had: number
  /** In the order in which they came. */
  readonly urgent: Item[]
  readonly usual: Item[]
}

/** Flows that are known, with or without something that waits. Those that wait are fewer: see `MOST_WAITING` in `web/turns.ts`. */
const MOST_FLOWS = 4_096

export class FairQueue<Item> {
  readonly #flows = new Map<string, Flow<Item>>()
  /** Those of them that wait, so that the others cost nothing. */
  readonly #queued = new Map<string, Flow<Item>>()
  readonly #headStart: number
  #now = 0
  #waiting = 0

  /** `headStart`: by how much a flow may have had more and still be served before others, for something urgent. */
  constructor(headStart = 0) {
    this.#headStart = headStart
  }

  get waiting(): number {
    return this.#waiting
  }

  get flows(): number {
    return this.#flows.size
  }

  /** Whether as many items of this flow wait as of others in the mean, or more. */
  hasItsShare(name: string): boolean {
    return lengthOf(this.#queued.get(name) ?? NONE) * this.#queued.size >= this.#waiting
  }

  push(name: string, item: Item, isUrgent = false): void {
    const flow = this.#of(name)
    if (lengthOf(flow) === 0) {
      flow.had = Math.max(flow.had, this.#now)
      this.#queued.set(name, flow)
    }
    const queue = isUrgent ? flow.urgent : flow.usual
    queue.push(item)
    this.#waiting++
  }

  /** Takes the next item; undefined if none waits, or none of a flow that `may` be served. */
  shift(may?: (name: string) => boolean): Item | undefined {
    let next: string | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [name, flow] of this.#queued) {
      const had = flow.urgent.length > 0 ? flow.had - this.#headStart : flow.had
      if (had >= least || may?.(name) === false) continue
      next = name
      least = had
    }
    if (next === undefined) return undefined
    const flow = this.#queued.get(next)!
    this.#now = Math.max(this.#now, flow.had)
    return this.#taken(next, flow.urgent.shift() ?? flow.usual.shift())
  }

  /** Takes the newest item of the flow that has most of them, urgent ones last. */
  pop(): Item | undefined {
    let largest: [string, Flow<Item>] | undefined
    for (const each of this.#queued) if (!largest || lengthOf(each[1]) > lengthOf(largest[1])) largest = each
    if (!largest) return undefined
    const [name, flow] = largest
    return this.#taken(name, flow.usual.pop() ?? flow.urgent.pop())
  }

  /** Takes an item out of the queue; false if it waits no more. */
  remove(name: string, item: Item): boolean {
    const flow = this.#queued.get(name)
    for (const queue of flow ? [flow.urgent, flow.usual] : []) {
      const at = queue.indexOf(item)
      if (at === -1) continue
      this.#taken(name, ...queue.splice(at, 1))
      return true
    }
    return false
  }

  /** `cost` is negative where an estimate was too high. */
  charge(name: string, cost: number): void {
    const flow = this.#of(name)
    flow.had = Math.max(flow.had, this.#now) + cost
  }

  /** Forgets what all have had, once nobody waits. */
  forget(): void {
    if (this.#waiting > 0) return
    this.#flows.clear()
    this.#now = 0
  }

  /** Notes that an item of this flow waits no more. */
  #taken(name: string, item?: Item): Item | undefined {
    this.#waiting--
    if (lengthOf(this.#queued.get(name)!) === 0) this.#queued.delete(name)
    return item
  }

  #of(name: string): Flow<Item> {
    const known = this.#flows.get(name)
    if (known) return known
    if (this.#flows.size >= MOST_FLOWS) this.#forgetIdle()
    const flow: Flow<Item> = { had: this.#now, urgent: [], usual: [] }
    this.#flows.set(name, flow)
    return flow
  }

  #forgetIdle(): void {
    for (const [name, flow] of this.#flows) if (lengthOf(flow) === 0) this.#flows.delete(name)
  }
}

const NONE = { urgent: [], usual: [] }

const lengthOf = ({ urgent, usual }: Pick<Flow<unknown>, 'urgent' | 'usual'>) => urgent.length + usual.length
