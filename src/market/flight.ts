/** What is being sent, by host; and whose turn is next. */
import { dispatch } from '../api/limits.ts'

export type Flight = ReturnType<typeof inFlight>

/** `most`: how many may be in flight at this moment. */
export function inFlight(most: () => number) {
  const byHost = new Map<string, number>()
  const notes = new Set<Promise<unknown>>()
  let sending = 0
  return {
    /** The agent that was served last: the next look begins behind it. */
    lastServed: '',
    /** Something due may have found no place: the next one that is free is worth a look at everyone. */
    leftBehind: false,
    /** Agents with something due that the last look at everyone came to after there was no place left. */
    next: [] as string[],
    of: (host: string) => byHost.get(host) ?? 0,
    room: () => most() - sending,
    hasPlace: (url: string | null) => most() > sending && (byHost.get(hostOf(url)) ?? 0) < dispatch.perHost,
    /** `noted` never rejects. Resolves when the place is free again. */
    async add(host: string, answered: Promise<unknown>, noted: Promise<unknown>): Promise<void> {
      byHost.set(host, (byHost.get(host) ?? 0) + 1)
      sending++
      notes.add(noted)
      noted.then(() => notes.delete(noted))
      await answered.catch(() => {}) // told where it is noted
      sending--
      const left = (byHost.get(host) ?? 1) - 1
      if (left > 0) byHost.set(host, left)
      else byHost.delete(host)
    },
    ended: () => Promise.all(notes),
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
