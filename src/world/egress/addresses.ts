/**
 * Decides which IP addresses may be called: public unicast, and in dev also the loopback. The ranges are those of the IANA
 * registries of special-purpose addresses, as ipaddr.js has them. Source: A-42.
 */

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { getDomain as GetDomain } from 'tldts'
export interface Resolved {
  address: string
  family: number
}

export interface AddressRule {
  /** In dev: also allows 127.0.0.0/8 and ::1, but nothing else that is private. */
  allowLoopback: boolean
  /** Whether a public address belongs to this machine, or to what the operator keeps from builders. */
  isOwn?(address: string): boolean
  /** Whether the operator lets builders call an address that is not public. */
  isAllowed?(address: string): boolean
}

/**
 * Returns why an address may not be called, in words that follow "is"; null if it may. An address with a zone id never may.
 */
export function addressFault(address: string, rule: AddressRule): string | null {
  if (!isIP(address) || address.includes('%')) return 'not a plain address'
  // `process` converts an IPv4-mapped IPv6 address (::ffff:10.0.0.7) to the IPv4 address that the kernel connects to.
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (!NEVER.has(range) && rule.isAllowed?.(parsed.toNormalizedString())) return null
  if (range === 'loopback') return rule.allowLoopback ? null : 'this machine itself'
  if (range !== 'unicast' || !isGlobal(parsed)) return WORDS[range] ?? 'reserved'
  const plain = parsed.toNormalizedString()
  if (PLATFORM.has(plain)) return 'the platform that a machine of a cloud runs on'
  return rule.isOwn?.(plain) ? 'this machine itself' : null
}

/** Whether a host name or an address means this machine: `localhost`, `*.localhost`, 127.0.0.0/8, ::1. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return isLocalName(bare) || (ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback')
}

/** RFC 6761: `localhost` and all names under it mean this machine, whatever DNS says. */
export function isLocalName(host: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(host)
}

// Only 2000::/3 of IPv6 is allocated. Old forms such as ::127.0.0.1 (IPv4-compatible) are outside of it.
const GIVEN_OUT = ipaddr.IPv6.parse('2000::')
const DOCUMENTATION = ipaddr.IPv6.parse('3fff::')

function isGlobal(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv4) return true
  return address.match(GIVEN_OUT, 3) && !address.match(DOCUMENTATION, 20)
}

// Public by the registries, but internal to Azure: machines there get their settings and keys from it.
const PLATFORM = new Set(['168.63.129.16'])

// A cloud gives out the keys of a machine at a link-local address.
const NEVER = new Set(['linkLocal', 'unspecified', 'broadcast', 'multicast'])

const WORDS: Record<string, string> = {
  private: 'private',
  uniqueLocal: 'private',
  linkLocal: 'link-local',
  deprecatedSiteLocal: 'private',
  carrierGradeNat: 'private to a carrier',
  unspecified: 'not the address of one machine',
  broadcast: 'a broadcast address',
  multicast: 'a multicast address',
  rfc6052: 'a translated address (NAT64)',
  rfc6145: 'a translated address',
  '6to4': 'a tunnel (6to4)',
  teredo: 'a tunnel (Teredo)',
}

/** Finds the registered domain of a host name, by the public suffix list. */
let getDomain: typeof GetDomain | undefined

/** Loads the list, which takes 25 ms, so call it after the start. Until it is loaded, each name counts as its own domain. */
export async function loadDomains(): Promise<void> {
  if (!getDomain) getDomain = (await import('tldts')).getDomain
}

/**
 * `a.b.example.co.uk` → `example.co.uk`. Names that a platform gives to different customers count as different domains. An
 * IP address is returned as it is.
 */
export const domainOf = (hostname: string): string => getDomain?.(hostname, { allowPrivateDomains: true }) ?? hostname
