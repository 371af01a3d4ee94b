/** Where the webhooks of a deployment may go, beyond what is never allowed. Source: A-190. */

import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { EgressOptions, PortRange } from './egress.ts'
export interface GivenRule {
  readonly ports: readonly PortRange[]
  /** Addresses and ranges. */
  readonly denied: readonly string[]
  /** Those that may be called although they are not public, unless they are denied. Source: A-298. */
  readonly allowed?: readonly string[]
}

/** Refuses ports below 1024, where no agents are, and this machine's own addresses, which bypass its firewall. */
export function publicRule(
  given: GivenRule | undefined,
  baseUrl = '',
): Pick<EgressOptions, 'isOwn' | 'isAllowed' | 'ports'> {
  const here = URL.canParse(baseUrl) ? new URL(baseUrl).hostname.replace(/^\[(.*)\]$/, '$1') : ''
  const denied = [...(given?.denied ?? []), ...(isIP(here) ? [here] : [])]
  const [allowed, refused] = [given?.allowed ?? [], denied].map(ranges => ranges.map(rangeOf))
  return {
    isOwn: ownAddresses(denied),
    ...(allowed!.length > 0 && {
      isAllowed(address: string) {
        const parsed = ipaddr.process(address)
        return isAmong(parsed, allowed!) && !isAmong(parsed, refused!)
      },
    }),
    ports: given?.ports ?? PUBLIC_PORTS,
  }
}

const PUBLIC_PORTS = [
  [443, 443],
  [1024, 65_535],
] as const

/** How long the machine's addresses are kept, because they change now and then. */
const KEPT_MS = 30_000

/**
 * Returns whether an address is one of these. `denied`: addresses or ranges such as 203.0.113.0/24. Throws if one is
 * neither. @internal Tested by itself.
 */
export function ownAddresses(denied: readonly string[] = []): (address: string) => boolean {
  const ranges = denied.map(rangeOf)
  let own = new Set<string>()
  let lookedAt = Number.NEGATIVE_INFINITY

  const look = () => {
    lookedAt = performance.now()
    const interfaces = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? [])
    own = new Set(interfaces.map(({ address }) => plain(address)))
  }

  return address => {
    if (performance.now() - lookedAt > KEPT_MS) look()
    const parsed = ipaddr.process(address)
    return own.has(parsed.toNormalizedString()) || isAmong(parsed, ranges)
  }
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

const plain = (address: string) => ipaddr.process(address.replace(/%.*/, '')).toNormalizedString()

function rangeOf(text: string): [Address, number] {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

const isAmong = (address: Address, ranges: readonly [Address, number][]) =>
  ranges.some(range => isWithin(address, range))

const isWithin = (address: Address, [range, bits]: [Address, number]) =>
  address.kind() === range.kind() && address.match(range as never, bits)
