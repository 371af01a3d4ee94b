/** Where the webhooks of a deployment may go, beyond what is never allowed. Source: A-190. */
import { isIP } from 'node:net'
import type { EgressOptions, PortRange } from './egress.ts'
import { ownAddresses } from './own-addresses.ts'

export interface GivenRule {
  readonly ports: readonly PortRange[]
  /** Addresses and ranges. */
  readonly denied: readonly string[]
}

/** Refuses ports below 1024, where no agents are, and this machine's own addresses, which bypass its firewall. */
export function publicRule(given: GivenRule | undefined, baseUrl = ''): Pick<EgressOptions, 'isOwn' | 'ports'> {
  const here = URL.canParse(baseUrl) ? new URL(baseUrl).hostname.replace(/^\[(.*)\]$/, '$1') : ''
  const denied = [...(given?.denied ?? []), ...(isIP(here) ? [here] : [])]
  return { isOwn: ownAddresses(denied), ports: given?.ports ?? PUBLIC_PORTS }
}

const PUBLIC_PORTS = [
  [443, 443],
  [1024, 65_535],
] as const
