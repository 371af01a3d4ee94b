/** What can follow which words of a command line: the same for every shell. */
import type { CommandTable } from './command.ts'

export interface Word {
  readonly word: string
  readonly about: string
}

/** By the words so far, with a space before each: '' is the start, ' tasks list' a command. */
export type Words = ReadonlyMap<string, readonly Word[]>

export function wordsOf({ chapters, groups }: CommandTable): Words {
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
