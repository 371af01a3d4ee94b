/** Decides whether and when a webhook is tried again. Source: A-37. */
import { retryAfterMaxMs, retryJitter } from '../../api/limits.ts'
import type { OutgoingResult, ResponseHeaders } from '../../world/world.ts'
import type { Market } from '../market.ts'

type Premises = Pick<Market, 'world' | 'config'>

/** The first attempt and one for each step of the schedule. */
export const mostAttempts = ({ config }: Pick<Market, 'config'>) => config.retryScheduleMs.length + 1

/** `nextAt`: domain ms. */
export type Verdict = { outcome: 'retry'; nextAt: number } | { outcome: 'delivered' | 'failed'; nextAt: null }

/**
 * Judges a response: 2xx means delivered, 410 means failed. After anything else the webhook is tried again while the
 * schedule lasts.
 */
export function judge({ world, config }: Premises, result: OutgoingResult, attempt: number): Verdict {
  if (result.ok && result.status >= 200 && result.status < 300) return { outcome: 'delivered', nextAt: null }
  const scheduled = config.retryScheduleMs[attempt - 1]
  if (scheduled === undefined || (result.ok && result.status === 410)) return { outcome: 'failed', nextAt: null }
  const asked = result.ok ? askedWaitMs(result.headers['retry-after'], world.realNow()) : null
  const wait = asked ?? Math.round(scheduled * (1 + retryJitter * (2 * world.chance() - 1)))
  return { outcome: 'retry', nextAt: world.now() + wait }
}

/**
 * Reads a Retry-After header, in seconds or as a date. Returns ms; null if the header is missing or makes no sense.
 * @internal Tested by itself.
 */
export function askedWaitMs(header: ResponseHeaders[string], realNow: number): number | null {
  if (typeof header !== 'string') return null
  const wait = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - realNow
  return wait > 0 ? Math.min(wait, retryAfterMaxMs) : null
}
