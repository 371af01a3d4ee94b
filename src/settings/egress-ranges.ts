/** Parses the settings for where webhooks may go: lists of ports, addresses and ranges. */
import { isIP } from 'node:net'
import { UsageError } from '../shared/usage-error.ts'

export const listOf = (text = '') =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)

export function portRangeOf(text: string): readonly [number, number] {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  if (from && Number(from) > 0 && Number(from) <= Number(to) && Number(to) <= 65_535) return [Number(from), Number(to)]
  throw new UsageError(`MARKETPLACE_EGRESS_PORTS takes ports and ranges like 443,1024-65535, not ${text}.`)
}

export function addressRangeOf(text: string): string {
  const [address = '', bits, ...more] = text.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
  if (most > 0 && more.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)))
    return text
  throw new UsageError(
    `MARKETPLACE_EGRESS_DENY takes addresses and ranges like 203.0.113.7,198.51.100.0/24, not ${text}.`,
  )
}
