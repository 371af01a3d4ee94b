/**
 * Keeps repeated entries from filling the log: per kind and window it writes the first ones, then how many more there were.
 */
import type { Log, LogEntry } from '../../market/log.ts'

const WINDOW_MS = 10_000
/** How many entries of a kind are written per window. */
const FIRST = 20
/** How many kinds are counted separately. All others are one more kind. */
const KINDS = 500

export interface SampledLog {
  readonly log: Log
  /** Writes how many entries were left out so far. */
  flush(): void
}

/**
 * Successful requests are all logged, because rate limits bound them. Refusals, failures and warnings have no other bound.
 */
export function sampled(log: Log, windowMs = WINDOW_MS): SampledLog {
  let kinds = new Map<string, number>()
  const flush = () => {
    const past = kinds
    kinds = new Map()
    for (const [kind, count] of past) {
      if (count > FIRST) log({ type: 'warning', message: `${count - FIRST} more within ${windowMs / 1000} s: ${kind}` })
    }
  }
  let counting = false
  return {
    log(what) {
      const kind = kindOf(what)
      if (kind === null) return log(what)
      if (!counting) {
        counting = true
        setTimeout(() => {
          counting = false
          flush()
        }, windowMs).unref()
      }
      const known = kinds.has(kind) || kinds.size < KINDS ? kind : 'other kinds'
      const count = (kinds.get(known) ?? 0) + 1
      kinds.set(known, count)
      if (count <= FIRST) log(what)
    },
    flush,
  }
}

/** Returns the kind of an entry; null if every such entry is logged. */
function kindOf(what: LogEntry): string | null {
  switch (what.type) {
    case 'request':
      return what.status < 400 ? null : `request ${what.status} ${what.method} ${what.route ?? 'of no route'}`
    case 'callback':
      return what.status < 400 ? null : `callback ${what.status}`
    case 'cut_off':
      return `cut off, ${what.reason}`
    case 'sign_in':
      return what.outcome === 'signed_in' ? null : `sign-in, ${what.outcome}`
    case 'warning':
    case 'error':
      return `${what.type} ${what.message.slice(0, 60)}`
    default:
      return null
  }
}
