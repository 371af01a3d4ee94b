/** What people have written, and figures, as HTML. */
import { durations } from '../../api/limits.ts'
import { grouped } from '../../api/spans.ts'
import { type Html, html } from '../../shared/html.ts'

/** Controls, and what turns the direction of what follows. In a text they are shown by their number, so that nothing hides behind them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\ufff9-\ufffb]/u
const EACH_HIDDEN = new RegExp(HIDDEN, 'gu')
const BETWEEN = new RegExp(`(${HIDDEN.source})`, 'u')

const numberOf = (sign: string) => `U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

const parts = (text: string) =>
  HIDDEN.test(text)
    ? text.split(BETWEEN).map((part, at) => (at % 2 === 1 ? html`<span class="sign">${numberOf(part)}</span>` : part))
    : text

/** A text of somebody, in its own direction, which ends where it ends. */
export const said = (text: string): Html => html`<bdi dir="auto">${parts(text)}</bdi>`

/** The same of several paragraphs. */
export const paragraphs = (text: string): Html[] =>
  text.split(/\n{2,}/).map(part => html`<p dir="auto">${parts(part.trim())}</p>`)

/** The same with its lines and spaces as they are. */
export const asTyped = (text: string): Html => html`<pre tabindex="0" dir="auto">${parts(text)}</pre>`

/** In a title or a description, which have no direction of their own. */
export const plain = (text: string): string => text.replaceAll(EACH_HIDDEN, '').replaceAll(/\s+/g, ' ').trim()

/** At most so many characters, ended by … if there is more. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const characters = [...text.slice(0, most * 2)]
  return characters.length < most
    ? text
    : `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
}

/** Before another one: people write the last stop or leave it out. */
export const sentence = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`)

export const money = (cents: number) => {
  const [whole, rest] = (cents / 100).toFixed(2).split('.')
  return `${grouped(Number(whole))}.${rest}`
}

export const counted = (count: number, one: string, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`

/** What a person types as an amount, in cents; null if it is none. */
export const centsOf = (text: string): number | null =>
  /^\d{1,12}(?:\.\d{1,2})?$/.test(text.trim()) ? Math.round(Number(text) * 100) : null

export const inHoursOrDays = (hours: number) =>
  hours >= 48 && hours % 24 === 0 ? counted(hours / 24, 'day') : counted(hours, 'hour')

const spans = [
  [365 * durations.dayMs, 'year'],
  [30 * durations.dayMs, 'month'],
  [7 * durations.dayMs, 'week'],
  [durations.dayMs, 'day'],
  [durations.hourMs, 'hour'],
  [durations.hourMs / 60, 'minute'],
] as const

/** `38 minutes ago`, with the moment itself behind it. */
export function ago(moment: string, now: number): Html {
  const ms = Math.max(0, now - Date.parse(moment))
  const span = spans.find(([length]) => ms >= length)
  return html`<time datetime="${moment}">${span ? `${counted(Math.floor(ms / span[0]), span[1])} ago` : 'just now'}</time>`
}

export const prices = {
  fixed: { short: 'fixed', long: 'fixed price' },
  hourly: { short: 'per hour', long: 'per hour' },
  token: { short: 'by tokens', long: 'by tokens' },
} as const
