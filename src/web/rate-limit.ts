/** Rate limits by client address and category of request. Source: I-rates, A-40. */
import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../api/endpoint.ts'
import { refuse } from '../api/failures.ts'
import { type RateCategory, rates } from '../api/limits.ts'
import type { Market } from '../market/market.ts'
import { isMultipart } from './bodies/body.ts'
import { memoryCounters, type RateCounters, sharedCounters } from './rate-counters.ts'
import type { CountRequest } from './response.ts'

/**
 * Returns null if rate limits are off. In mode `warn` nothing is refused, and the log has one line for each window that
 * overflows.
 */
export function rateLimit(market: Market, counters: RateCounters = countersOf(market)): CountRequest | null {
  const { config, world, log } = market
  const { rateLimits: mode } = config
  if (mode === 'off') return null
  return async (call, category) => {
    const now = world.now()
    const { address } = call
    const { count, endsAt } = await counters.count(category, address, now)
    const { limit, windowMs } = rates[category]
    const seconds = Math.ceil((endsAt - now) / 1000)
    call.headers = [
      'ratelimit-policy',
      policies[category],
      'ratelimit',
      `"${category}";r=${Math.max(0, limit - count)};t=${seconds}`,
    ]
    if (count <= limit) return null
    if (mode === 'warn') {
      const message = `${address} is over the limit of ${limit} ${category} requests in ${windowMs / 1000} s`
      if (count === limit + 1) log({ type: 'warning', message })
      return null
    }
    return refuse('rate_limited', seconds)
  }
}

const countersOf = (market: Market) => (market.db.shared ? sharedCounters(market) : memoryCounters())

/** The values of the RateLimit-Policy header. */
const policies = Object.fromEntries(
  Object.entries(rates).map(([category, { limit, windowMs }]) => [
    category,
    `"${category}";q=${limit};w=${windowMs / 1000}`,
  ]),
) as Record<RateCategory, string>

/** Returns the rate category of a record's requests. For one endpoint it depends on whether the body is multipart. */
export function categoryOf({ rate, rateOfMultipart }: Endpoint): (req: IncomingMessage) => RateCategory {
  if (rateOfMultipart === undefined) return () => rate
  return req => (isMultipart(req) ? rateOfMultipart : rate)
}
