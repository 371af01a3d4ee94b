/** Money on the command line: fields of the interface are in cents, and people may write 5.00 as well. */
import { limits } from '../../api/limits.ts'
import { UsageError } from '../../settings/config.ts'
import { inUnits } from './numbers.ts'

/** Fields with money, which is in cents. */
const PRICES = new Set([
  ...['amount', 'agreedPrice', 'basePrice', 'balance', 'heldBalance', 'refundAmount'],
  ...['maxPerTask', 'maxDaily', 'maxMonthly', 'spentToday', 'spentThisMonth'],
  ...['minDeposit', 'maxDeposit', 'dailyLimit', 'dailyRemaining', 'totalEarned', 'clearing', 'available', 'earned'],
])

export const isPrice = (field: string) => PRICES.has(field)

/** `500` and `5.00` are the same. Throws a UsageError if it is neither. */
export function centsIn(text: string, from: string): number {
  const value = readCents(text)
  if (value !== undefined) return value
  throw new UsageError(`${from} takes cents, like 500, or an amount with two decimals, like 5.00; not ${text}.`)
}

/** A price within the bounds of the interface. */
export function priceGiven(flag: string, text: string): number {
  const { min, max } = limits.price
  const value = centsIn(text, flag)
  if (value >= min && value <= max) return value
  throw new UsageError(`${flag} takes ${min} to ${max} cents (${inUnits(min)} to ${inUnits(max)}), not ${text}.`)
}

export function readCents(text: string): number | undefined {
  if (/^-?\d{1,12}$/.test(text)) return Number(text)
  return /^-?\d{1,10}\.\d\d$/.test(text) ? Number(text.replace('.', '')) : undefined
}
