/** What is being sent, and what is in hand and found no place, by host; and whose turn is next. */
import { dispatch } from '../api/limits.ts'

export type Flight = ReturnType<typeof inFlight>

/** `most`: how many may be in flight at this moment. */
export function inFlight(most: () => number) {
  const sending = counter()
  const waiting = counter()
  const notes = new Set<Promise<unknown>>()
  return {
    /** The agent that was served last: the next look begins behind it. */
    lastServed: '',
    /** Something due may have found no place: the next one that is free is worth a look at everyone. */
    leftBehind: false,
    /** Agents with something due that the last look at everyone came to after there was no place left. */
    next: [] as string[],
    /** How many more may be sent. What waits for a busy host keeps nobody else from it. */
    places: () => most() - sending.total,
    /** Whether one of them may go to this host. */
    hasPlace: (host: string) => sending.of(host) < dispatch.perHost,
    /** How many more may be taken for this host. */
    roomAt: (host: string) => dispatch.perHost - sending.of(host) - waiting.of(host),
    /** How many of this host are in hand without a place; one more of them, or one less. */
    waitingAt: (host: string) => waiting.of(host),
    waits: (host: string, change: 1 | -1) => waiting.add(host, change),
    /** `noted` never rejects. Resolves when the place is free again. */
    async add(host: string, answered: Promise<unknown>, noted: Promise<unknown>): Promise<void> {
      sending.add(host, 1)
      notes.add(noted)
      noted.then(() => notes.delete(noted))
      await answered.catch(() => {}) // told where it is noted
      sending.add(host, -1)
    },
    ended: () => Promise.all(notes),
  }
}

const counter = () => {
  const byHost = new Map<string, number>()
  return {
    total: 0,
    of: (host: string) => byHost.get(host) ?? 0,
    add(host: string, change: 1 | -1) {
      this.total += change
      const count = this.of(host) + change
      if (count > 0) byHost.set(host, count)
      else byHost.delete(host)
    },
  }
}

/** Agents without a usable address share one place: there is nothing to send there. */
export const hostOf = (url: string | null): string => {
  if (url === null) return ''
  const known = hosts.get(url)
  if (known !== undefined) return known
  if (hosts.size >= KEPT_HOSTS) hosts.clear()
  const host = URL.canParse(url) ? new URL(url).host : ''
  hosts.set(url, host)
  return host
}
const hosts = new Map<string, string>()
const KEPT_HOSTS = 10_000
