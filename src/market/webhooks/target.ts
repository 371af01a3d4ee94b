/** Where a webhook goes, and whose shares it counts against. Source: A-188. */
import { boundedCache, bytesOfText } from '../../shared/bounded-cache.ts'
import { domainOf } from '../../world/egress/addresses.ts'
import { MIB } from '../mebibytes.ts'
import type { ClaimedDelivery } from '../webhook-outlet.ts'

export interface Target {
  host: string
  /** The account and the domain. */
  keys: readonly string[]
}

/** A claimed delivery and its target. */
export interface TargetedDelivery {
  readonly delivery: ClaimedDelivery
  readonly to: Target
}

/** Enough for some ten thousand URLs. Long ones count for more. */
const TARGET_BYTES = 8 * MIB

/**
 * By builder and URL, as two builders may have the same one. Making a target takes 1 to 3 µs, finding it here 0.1 to 0.4.
 */
const targets = boundedCache<Target>({
  maxBytes: TARGET_BYTES,
  bytesOf: ({ host, keys }) => bytesOfText(host + keys.join('')),
})

/** Agents without a usable URL share one target: nothing is ever sent there. */
export function targetOf({ webhookUrl, builderId }: { webhookUrl: string | null; builderId: string }): Target {
  const url = webhookUrl ?? ''
  const key = `${builderId} ${url}`
  const known = targets.get(key)
  if (known) return known
  const { host, hostname } = URL.canParse(url) ? new URL(url) : { host: '', hostname: '' }
  const target = { host, keys: [`account ${builderId}`, `domain ${domainOf(hostname)}`] }
  targets.set(key, target)
  return target
}
