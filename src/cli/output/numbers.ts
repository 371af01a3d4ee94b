/** Formats numbers for help texts and questions. */

import { limits } from '../../api/limits.ts'
import { grouped } from '../../api/spans.ts'
import { UsageError } from '../../settings/config.ts'
export const fromTo = ([from, to]: readonly [number, number]) => `${grouped(from)} to ${grouped(to)}`

/** 200 → `2.00`. */
export const inUnits = (cents: number) => (cents / 100).toFixed(2)

/** Fields with money: cents on the wire, and 5.00 wherever people type or read. */
const PRICES = new Set([
  ...['amount', 'agreedPrice', 'basePrice', 'balance', 'heldBalance', 'refundAmount'],
  ...['maxPerTask', 'maxDaily', 'maxMonthly', 'spentToday', 'spentThisMonth'],
  ...['minDeposit', 'maxDeposit', 'dailyLimit', 'dailyRemaining', 'totalEarned', 'clearing', 'available', 'earned'],
  ...['held', 'inDispute', 'world', 'payouts', 'platform'],
])

export const isPrice = (field: string) => PRICES.has(field)

/** Throws a UsageError unless there are two decimals: 500 might be meant as 500.00 or as 5.00, and money is not guessed. Source: A-295. */
export function centsIn(text: string, from: string): number {
  const value = readCents(text)
  if (value !== undefined) return value
  const either = /^\d{3,12}$/.test(text) ? `: ${text}.00, or ${inUnits(Number(text))} if these are cents` : ''
  throw new UsageError(`${from} takes an amount with two decimals, like 5.00, not ${text}${either}.`)
}

/** A price within the bounds of the interface. */
export function priceGiven(flag: string, text: string): number {
  const { min, max } = limits.price
  const value = centsIn(text, flag)
  if (value >= min && value <= max) return value
  throw new UsageError(`${flag} takes ${inUnits(min)} to ${inUnits(max)}, not ${text}.`)
}

/** What the interface says of a price in cents, as people type amounts. */
export const inAmounts = (sentence: string) =>
  sentence.replaceAll(/(?<=at (?:least|most) |which is )\d+/g, cents => inUnits(Number(cents)))

/** `1,234.00`, as amounts are shown, and `1234.00`. */
export function readCents(text: string): number | undefined {
  const isOne = /^-?(?:\d{1,10}|\d{1,3}(?:,\d{3}){1,3})\.\d\d$/.test(text)
  return isOne ? Number(text.replaceAll(/[.,]/g, '')) : undefined
}

/** Durations as people type and read them: 90s, 15m, 48h, 7d, 1h30m. */
const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
type Unit = keyof typeof unitMs

/** Returns whole milliseconds. */
export function durationGiven(text: string): number {
  const parts = [...text.matchAll(/(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw new UsageError(`A duration is written like 90s, 15m, 48h, 7d or 1h30m, not ${text}.`)
  }
  return Math.round(parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitMs[unit as Unit], 0))
}

/** Returns the two largest units, such as `2 d 4 h`. Under a second: milliseconds. */
export function durationInWords(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const parts: string[] = []
  let left = Math.round(ms / 1_000) * 1_000
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const count = Math.floor(left / unitMs[unit])
    left -= count * unitMs[unit]
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit === 'm' ? 'min' : unit}`)
    else if (parts.length > 0) break
  }
  return parts.join(' ')
}
