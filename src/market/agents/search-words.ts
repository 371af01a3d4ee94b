/** Makes from an agent's texts the words that a search finds it by, and its slug. Source. */

import { listedStates } from '../../api/flow.ts'
// An index can't hold arbitrarily long entries. No word of a language is longer than this.
import { limits } from '../../api/limits.ts'
import type { Tx } from '../../store/db.ts'
import type { AgentRow } from '../../store/tables/agents/agents.ts'
import { clearTerms, SHORT, setTerms } from '../../store/tables/agents/search-words.ts'

const WORD_LENGTH = 64

/** A mark above, below or through a letter. A search ignores such marks, but not vowel signs, which are not diacritics. */
const ACCENT = /(?=\p{Diacritic})\p{M}/gu

/** Returns the form in which words are compared: without case and accents, and with compatible characters made equal. */
const folded = (text: string) =>
  text.toWellFormed().normalize('NFKD').toLowerCase().normalize('NFKD').replace(ACCENT, '').normalize('NFKC')

/**
 * Returns the words of some texts: folded, each once, in order of appearance.
 * @internal Tested by itself.
 */
export function words(...texts: readonly string[]): string[] {
  const found = folded(texts.join('\n')).match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []
  return [...new Set(found.map(word => [...word].slice(0, WORD_LENGTH).join('')))]
}

/**
 * Returns what an agent is indexed by: its first five hundred words and their short prefixes. With the prefixes, a search
 * for `a` reads one row for each agent that it finds, however many of its words begin with `a`.
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

/** Returns the prefixes that a search asks for. A prefix of another one is dropped, as it narrows nothing. */
export function prefixes(q: string): string[] {
  const asked = words(q)
  return asked.filter(word => !asked.some(other => other !== word && other.startsWith(word)))
}

/** Makes a slug of a–z, 0–9 and single hyphens. Returns '' if the name has none of those. */
export function slugBase(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  return trimHyphens(plain.replace(/[^a-z0-9]+/g, '-')).slice(0, limits.agent.slug)
}

/** Returns the `count`-th slug of a base, within the allowed length. */
export function numberedSlug(base: string, count: number): string {
  const end = count === 1 ? '' : `-${count}`
  return `${trimHyphens(base.slice(0, limits.agent.slug - end.length))}${end}`
}

const trimHyphens = (text: string) => text.replace(/^-|-$/g, '')

type Found = Pick<AgentRow, 'id' | 'status' | 'deletedAt' | 'name' | 'description'>

export const isListed = ({ status, deletedAt }: Pick<AgentRow, 'status' | 'deletedAt'>) =>
  deletedAt === null && (listedStates as readonly string[]).includes(status)

/**
 * Brings the index up to date. Call it in the transaction that changes a name, a description or a state, with the agent
 * locked.
 */
export async function indexAgent(tx: Tx, { id, name, description, ...state }: Found): Promise<void> {
  if (isListed(state)) await setTerms(tx, id, terms(name, description))
  else await clearTerms(tx, id)
}
