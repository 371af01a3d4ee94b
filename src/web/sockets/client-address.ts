/** The client address that rate limits count: an IPv4 address, or the /64 network of an IPv6 one. Source: A-40. */
import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

const UNKNOWN = 'unknown'
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/

/**
 * Returns the address whose requests are counted together. `hops`: how many trusted proxies are in front. Each appends the
 * address that it sees to X-Forwarded-For, so only that many entries at the end can be trusted; with 0, none.
 */
export function clientAddress(req: IncomingMessage, hops: number): string {
  const peer = req.socket.remoteAddress
  if (hops === 0) return networkOf(peer) ?? UNKNOWN
  const given = forwardedFor(req)
  const seen = given[Math.max(0, given.length - hops)]
  return networkOf(seen && withoutPort(seen)) ?? networkOf(peer) ?? UNKNOWN
}

function forwardedFor({ headers }: IncomingMessage): string[] {
  const value = headers['x-forwarded-for']
  if (value === undefined) return []
  return String(value)
    .split(',')
    .map(entry => entry.trim())
}

function withoutPort(entry: string): string {
  const match = WITH_PORT.exec(entry)
  return match?.[1] ?? match?.[2] ?? entry
}

/** Returns the IPv4 address or the /64 network; undefined if the text is no address. */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined
  if (isIPv4(address)) return address
  if (!address.includes(':')) return undefined
  const bare = address.split('%', 1)[0]!
  if (!ipaddr.IPv6.isValid(bare)) return undefined
  const parsed = ipaddr.IPv6.parse(bare)
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  return `${parsed.parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':')}::/64`
}
