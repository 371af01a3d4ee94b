/** Finds the two headers of a signature, also under names that are nearly right. */
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../signature.ts'
import type { Flaw } from './causes.ts'
import { readDigest } from './digests.ts'

export type HeaderLines = readonly (readonly [name: string, value: string])[]

/** `value` is undefined if no header can be meant. */
export interface FoundHeader {
  readonly value: string | undefined
  readonly flaws: readonly Flaw[]
}

export const signatureIn = (headers: HeaderLines) =>
  find(headers, SIGNATURE_HEADER, (name, value) => /sig|hmac|digest|sha/.test(name) && readDigest(value) !== null)

export const timestampIn = (headers: HeaderLines) =>
  find(headers, TIMESTAMP_HEADER, (name, value) => /time|stamp/.test(name) && /^\W*(?:\d{9}|\d{4}-\d\d)/.test(value))

type MayBe = (name: string, value: string) => boolean

function find(headers: HeaderLines, wanted: string, mayBe: MayBe): FoundHeader {
  const named = headers.filter(([name]) => name.toLowerCase() === wanted.toLowerCase())
  const [first, second] = named
  if (first && second) {
    return { value: first[1], flaws: [{ cause: 'repeated_header', text: `${wanted} came ${named.length} times.` }] }
  }
  if (first) return { value: first[1], flaws: [] }
  const other = nearest(headers, wanted, mayBe)
  if (!other) return { value: undefined, flaws: [{ cause: 'missing_header', text: `${wanted} is missing.` }] }
  const text = `${wanted} is missing; ${other[0].slice(0, 60)} came instead.`
  return { value: other[1], flaws: [{ cause: 'misspelt_header', text }] }
}

/** The headers of Standard Webhooks are signed in another way. */
function nearest(headers: HeaderLines, wanted: string, mayBe: MayBe) {
  const target = lettersOf(wanted)
  const others = headers.filter(([name]) => !/^webhook-/i.test(name))
  return (
    others.find(([name]) => distance(lettersOf(name), target) <= 3) ??
    others.find(([name, value]) => mayBe(name.toLowerCase(), value))
  )
}

const lettersOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 60)

/** How many letters must be added, dropped or changed to make one text of the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(same, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row.at(-1)!
}

export const headerValue = (headers: HeaderLines, wanted: string) =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
