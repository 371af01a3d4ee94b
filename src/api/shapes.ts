/** The building blocks of every shape on the wire. */

import { limits } from './limits.ts'
import { grouped } from './spans.ts'
import * as z from './zod.ts'

/** Unicode code points, which is what every length limit counts. Source: A-17. */
export function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00) {
      count--
      i++
    }
  }
  return count
}

const plural = (count: number) => `${grouped(count)} character${count === 1 ? '' : 's'}`

function lengthFault(text: string, min: number, max: number): string | null {
  const length = codePoints(text)
  if (length >= min && length <= max) return null
  const range = min === 0 ? `at most ${plural(max)}` : `${min} to ${plural(max)}`
  return `must have ${range}; this has ${grouped(length)}`
}

const HALF_A_PAIR = 'must be valid Unicode (this has half a surrogate pair)'

/**
 * A string of `min` to `max` code points without NUL and lone surrogates. If it must not be empty, it must not be blank
 * either.
 */
export const text = ([min, max]: readonly [number, number]) =>
  z
    .string({ error: issue => (issue.input === undefined ? 'is required' : 'must be a string') })
    .superRefine((value, check) => {
      const fault =
        lengthFault(value, min, max) ??
        (value.includes('\0') ? 'must not contain NUL' : null) ??
        (value.isWellFormed() ? null : HALF_A_PAIR) ??
        (min > 0 && value.trim() === '' ? 'must not be blank' : null)
      if (fault) check.addIssue({ code: 'custom', message: fault })
    })
    .meta({ minLength: min, maxLength: max })

export const integer = ([min, max]: readonly [number, number]) =>
  z
    .int({ error: issue => (issue.input === undefined ? 'is required' : 'must be an integer') })
    .min(min, { error: `must be at least ${min}` })
    .max(max, { error: `must be at most ${max}` })

/** Integer cents, within the bounds of every price field. */
export const price = () => integer([limits.price.min, limits.price.max])

export const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of: ${values.join(', ')}` })

/** One or more of these in a query, with commas between. */
export const someOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z
    .string()
    .refine(given => given.split(',').every(each => values.includes(each)), {
      error: `must be one of: ${values.join(', ')}; or some, with commas between`,
    })
    .transform(given => given as Values[number] | `${Values[number]},${string}`)
    .meta({
      wire: {
        anyOf: [
          { type: 'string', enum: values },
          { type: 'string', pattern: '^\\w+(,\\w+)+$' },
        ],
      },
    })

/** How many there are of each. */
export const countsOf = <const Names extends readonly string[]>(names: Names) =>
  z.object(Object.fromEntries(names.map(name => [name, z.int()])) as { [name in Names[number]]: z.ZodInt })

export const flag = () => z.boolean({ error: 'must be true or false' })

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
const NOT_IN_A_URL = /[\s\u0000-\u001f\u007f-\u009f]/
/** `https://@host`: a URL parser does not report the empty user name. */
const EMPTY_USERINFO = /^https?:[/\\]+[^/\\?#]*@/i

function urlFault(value: string): string | null {
  if (codePoints(value) > limits.url) return `must have at most ${plural(limits.url)}`
  // A URL parser drops or encodes these, so the URL that is called would differ from the one that is stored.
  if (NOT_IN_A_URL.test(value)) return 'must not contain spaces or control characters'
  if (!value.isWellFormed()) return HALF_A_PAIR
  const url = URL.parse ? URL.parse(value) : parseUrl(value)
  if (!url || !/^https?:\/\//i.test(value)) return 'must be a valid http or https URL'
  if (url.username || url.password || EMPTY_USERINFO.test(value)) return 'must not hold a user name or a password'
  return null
}

function parseUrl(value: string): URL | null {
  try {
    return new URL(value)
  } catch {
    return null
  }
}

/** An http or https URL without user info. Source: A-17. */
export const webUrl = () =>
  z
    .string({ error: 'must be a string' })
    .superRefine((value, check) => {
      const fault = urlFault(value)
      if (fault) check.addIssue({ code: 'custom', message: fault })
    })
    .meta({ format: 'uri', maxLength: limits.url })

/** A list with a maximum. `named`: what its items are called, as in "at most 10 tags". Source: A-49. */
export function list<Item extends z.ZodType>(item: Item, [min, max]: readonly [number, number], named: string) {
  const error = `must have ${min === 0 ? 'at most' : `${min} to`} ${max} ${named}`
  return z.array(item, { error: 'must be a list' }).min(min, { error }).max(max, { error })
}

/** An email address, trimmed and in lower case. Source: A-5. */
export const email = () =>
  z
    .string({ error: issue => (issue.input === undefined ? 'is required' : 'must be a string') })
    .transform(value => value.trim().toLowerCase())
    .pipe(
      z
        .email({ error: 'must be an email address' })
        .max(limits.account.email, { error: `must have at most ${limits.account.email} characters` }),
    )
    .meta({ wire: { type: 'string', format: 'email', maxLength: limits.account.email } })

/** Any text as an email, trimmed and in lower case. A text that is no email simply matches no account. */
export const anyEmail = () =>
  z
    .string({ error: issue => (issue.input === undefined ? 'is required' : 'must be a string') })
    .transform(value => value.trim().toLowerCase())
    .meta({ wire: { type: 'string', format: 'email' } })

/** An id in a body. The verb checks whether it exists. */
export const id = () => ID
const ID = z
  .string({ error: issue => (issue.input === undefined ? 'is required' : 'must be a string') })
  .min(1, { error: 'must not be empty' })
  .max(100, { error: 'is no id' })
  .refine(value => !value.includes('\0'), { error: 'must not contain NUL' })
  .refine(value => value.isWellFormed(), { error: HALF_A_PAIR })

/** An integer in a query. */
export const integerText = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, { error: `must be an integer from ${min} to ${max}` })
    .transform(Number)
    .pipe(
      z
        .int()
        .min(min, { error: `must be at least ${min}` })
        .max(max, { error: `must be at most ${max}` }),
    )
    .meta({ wire: { type: 'integer', minimum: min, maximum: max } })

const wholeNumber = (min: number, max: number, standard: number) =>
  integerText(min, max)
    .optional()
    .transform(value => value ?? standard)
    .meta({ wire: { type: 'integer', minimum: min, maximum: max, default: standard } })

/** `page` and `limit` of every list. Source: I-list, A-16. */
export const paging = {
  page: wholeNumber(1, 999_999_999, 1),
  limit: wholeNumber(1, limits.page.max, limits.page.default),
}

/** The same of a list that is made whole for each page: a page may have more of it. */
export const pagingUpTo = (most: number) => ({ ...paging, limit: wholeNumber(1, most, limits.page.default) })

/** A time that is asked for, ISO 8601 UTC. */
export const moment = () => z.iso.datetime({ error: 'must be a time like 2030-01-31T12:00:00Z' })

/** ISO 8601 UTC with milliseconds, on the domain clock. Source: A-14. */
export const time = () => TIME
const TIME = z.iso.datetime({ precision: 3 })

export const cents = () => z.int()
