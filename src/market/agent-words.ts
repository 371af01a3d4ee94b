/** What is made of an agent's texts: the words it is found by and its slug. Source: D16, D18. */
import { limits } from '../api/limits.ts'

// Longer than any word of a language; an index can't hold arbitrarily long entries.
const WORD_LENGTH = 64

/** The words of some texts, each once, in the form in which they are compared. */
export function words(...texts: readonly string[]): string[] {
  const plain = texts.join('\n').toWellFormed().normalize('NFKC').toLowerCase().normalize('NFKC')
  const found = plain.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []
  return [...new Set(found.map(word => [...word].slice(0, WORD_LENGTH).join('')))]
}

/** The beginnings of words that a search asks for. One that another begins with asks for nothing more. */
export function prefixes(q: string): string[] {
  const asked = words(q)
  return asked.filter(word => !asked.some(other => other !== word && other.startsWith(word)))
}

/** a–z, 0–9 and single hyphens; empty if the name has none of those. */
export function slugBase(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  return trimHyphens(plain.replace(/[^a-z0-9]+/g, '-')).slice(0, limits.agent.slug)
}

/** The `count`-th slug of the same base, within the allowed length. */
export function numberedSlug(base: string, count: number): string {
  const end = count === 1 ? '' : `-${count}`
  return `${trimHyphens(base.slice(0, limits.agent.slug - end.length))}${end}`
}

const trimHyphens = (text: string) => text.replace(/^-|-$/g, '')
