/** What is made of an agent's texts: the words it is found by and its slug. Source. */
import { limits } from '../../api/limits.ts'
import { SHORT } from '../../store/tables/search-words.ts'

// Longer than any word of a language; an index can't hold arbitrarily long entries.
const WORD_LENGTH = 64

/** A mark above, below or through a letter: with it or without it, the word is the same. Vowel signs are no such marks. */
const ACCENT = /(?=\p{Diacritic})\p{M}/gu

/** The form in which words are compared: without case, accents and ways of writing the same letter. */
const folded = (text: string) =>
  text.toWellFormed().normalize('NFKD').toLowerCase().normalize('NFKD').replace(ACCENT, '').normalize('NFKC')

/** The words of some texts, each once, folded, in the order in which they come. */
export function words(...texts: readonly string[]): string[] {
  const found = folded(texts.join('\n')).match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []
  return [...new Set(found.map(word => [...word].slice(0, WORD_LENGTH).join('')))]
}

/**
 * What an agent is found by: its words, the first five hundred, and their short beginnings. A search for `a` reads one row
 * of each agent that it finds, however many words begin so.
 */
export function terms(name: string, description: string): string[] {
  const known = words(name, description).slice(0, limits.search.wordsPerAgent)
  const all = new Set(known)
  for (const word of known) {
    const characters = [...word]
    for (let length = 1; length <= SHORT && length < characters.length; length++)
      all.add(characters.slice(0, length).join(''))
  }
  return [...all]
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
