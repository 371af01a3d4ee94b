/** Advice for who types nothing: where people are told a command line, a client is told a tool and its input. */
import { plainShellWord } from '../../api/command-line.ts'
import type { CommandRecord } from '../command-line/command.ts'
import { asks, type CommandWords, leadsThere, readCommand } from './command-words.ts'
import { tools } from './tools.ts'

/** Returns how a client is told to do what these words of a command line do; undefined if no tool does it. */
export function callFor(words: string, records: readonly CommandRecord[]): string | undefined {
  const typed = readCommand(words, records)
  if (typed === undefined || typed.words.length > (typed.record.takes?.length ?? 0)) return undefined
  for (const { name, takes } of tools) {
    const input = takes?.[typed.record.name]?.(typed)
    if (input) return `${name} ${JSON.stringify(input)}`
  }
  const without = { ...typed, flags: new Map([...typed.flags].filter(([name]) => name === 'as' || !leadsThere(name))) }
  return asks(without) ? `command ${JSON.stringify({ line: inOneLine(without) })}` : undefined
}

/** A dev writes command lines into its log, at the ends of its sentences. */
const AT_THE_END = /(?<=^ *|: )(?:npx agent-)?marketplace (\S.*)$/gm

/** The same text, where command lines at the ends of its lines are calls. */
export const withCalls = (text: string, records: readonly CommandRecord[]): string =>
  text.replace(AT_THE_END, (line, words: string) => callFor(words, records) ?? line)

const inOneLine = ({ record: { name }, words, flags }: CommandWords) =>
  [
    ...[name, ...words.map(plainShellWord)],
    ...[...flags].flatMap(([flag, values]) =>
      values.map(value => (value === true ? `--${flag}` : `--${flag} ${plainShellWord(String(value))}`)),
    ),
  ].join(' ')
