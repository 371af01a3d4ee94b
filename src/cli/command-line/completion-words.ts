/** What can follow which words of a command line: the same for every shell. */
import type { CommandTable } from './command.ts'

export interface Word {
  readonly word: string
  readonly about: string
}

/** By the words so far, with a space before each: '' is the start, ' tasks list' a command. */
export type Words = ReadonlyMap<string, readonly Word[]>

/** Values of flags that their words in the help do not list, by command and flag: ' simulate buyers --mix'. */
export type FlagValues = ReadonlyMap<string, readonly Word[]>

/** What is asked for ids, by the words so far, and the flag if there is one. */
export type Ids = ReadonlyMap<string, string>

export interface AllWords {
  readonly words: Words
  /** By the words so far and the flag. A flag that takes anything has none. */
  readonly values: Words
  readonly ids: Ids
}

/** What the words of a flag list: `strict, warn or off (default: off)`. */
const LISTED = /^([\w-]+(?:, [\w-]+)*),? or ([\w-]+)(?=$| \(|: )/

const listedIn = (about: string): Word[] => {
  const [, first = '', last = ''] = LISTED.exec(about) ?? []
  return last === '' ? [] : [...first.split(', '), last].map(word => ({ word, about: '' }))
}

export function allWordsOf(table: CommandTable, known: FlagValues = new Map(), ids: Ids = new Map()): AllWords {
  const values = new Map<string, readonly Word[]>()
  for (const { name, options } of table.chapters.flatMap(([, records]) => records))
    for (const [flags, about] of options) {
      if (!flags.includes('<')) continue
      const at = ` ${name} ${LONG.exec(flags)![0]}`
      values.set(at, known.get(at) ?? listedIn(about))
    }
  return { words: wordsOf(table), values, ids }
}

const LONG = /--[a-z][a-z-]*/

function wordsOf({ chapters, groups }: CommandTable): Words {
  const words = new Map<string, Word[]>()
  const put = (at: string, word: string, about: string) => {
    const known = words.get(at) ?? words.set(at, []).get(at)!
    if (!known.some(other => other.word === word)) known.push({ word, about })
  }
  for (const { name, summary, options, values = [] } of chapters.flatMap(([, records]) => records)) {
    const parts = name.split(' ')
    for (const [depth, part] of parts.entries()) {
      const path = parts.slice(0, depth + 1).join(' ')
      const before = parts.slice(0, depth).map(word => ` ${word}`)
      put(before.join(''), part, depth === parts.length - 1 ? summary : (groups[path]?.summary ?? ''))
    }
    const own = parts.map(word => ` ${word}`).join('')
    for (const [word, about] of values) put(own, word, about)
    for (const [flags, about] of options) {
      for (const [flag] of flags.matchAll(/(?<![\w-])--?[a-z][a-z-]*/gi)) put(own, flag, about)
    }
    put(own, '--help', 'show its help')
  }
  return words
}
