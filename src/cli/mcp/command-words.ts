/** Reads a command line as the records of the commands have it: its name, its arguments, its flags. Nothing is run. */
import { parseArgs } from 'node:util'
import type { CommandRecord, Option } from '../command-line/command.ts'

export interface CommandWords {
  readonly record: CommandRecord
  /** All behind its name. */
  readonly rest: readonly string[]
  readonly words: readonly string[]
  /** By their names without dashes; one that takes no value has true. */
  readonly flags: ReadonlyMap<string, readonly (string | boolean)[]>
}

/** Words as a shell takes them apart. */
const WORD = /(?:[^\s'"]|'[^']*'|"[^"]*")+/g
const wordsIn = (line: string) =>
  (line.match(WORD) ?? []).map(word =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, one = '', other = '') => one + other),
  )

/** Returns undefined if the line begins with no command, or has a flag that the command does not know. */
export function readCommand(line: string, records: readonly CommandRecord[]): CommandWords | undefined {
  // As hints have it.
  const all = wordsIn(line.replace(/^\s*(?:npx\s+)?(?:agent-)?marketplace\s+/, ''))
  const record = records.find(({ name }) => `${all.join(' ')} `.startsWith(`${name} `))
  if (!record) return undefined
  const rest = all.slice(record.name.split(' ').length)
  try {
    const { values, positionals } = parseArgs({ args: rest, options: optionsOf(record), allowPositionals: true })
    const flags = Object.entries(values) as [string, (string | boolean)[]][]
    return { record, rest, words: positionals, flags: new Map(flags) }
  } catch {
    return undefined
  }
}

const optionsOf = ({ options }: CommandRecord) =>
  Object.fromEntries(
    [...options, ['--help'] as const].map(([flag]) => {
      const [, name = '', value] = /--([\w-]+)(?: ([<[]))?/.exec(flag)!
      return [name, { type: value ? 'string' : 'boolean', multiple: true }] as const
    }),
  )

/** Flags that say which marketplace, and as whom. The server has its own. */
const REACH = new Set(['url', 'profile', 'key', 'as'])
export const leadsThere = (name: string) => REACH.has(name)

/** A file of this machine is nothing that a call may name, to read or to write. */
const isOfFiles = ([flag, words]: Option) => /<(?:file|path|folder|\w+\.json)|@file|stdin/.test(`${flag} ${words}`)

/** What is one request, as somebody whom the server was started for. */
export const asks = ({ record: { endpoints = [], options }, flags }: CommandWords): boolean => {
  const takes = (name: string) => options.some(([flag]) => flag.startsWith(`--${name} `))
  const namesFile = (name: string) =>
    options.some(option => `${option[0]} `.includes(`--${name} `) && isOfFiles(option))
  return (
    endpoints.length > 0 &&
    takes('as') &&
    !takes('dir') &&
    [...flags.keys()].every(name => (name === 'as' || !REACH.has(name)) && !namesFile(name))
  )
}

/** The flags of the server come first, so that `--as` of the line goes over them. Nobody is there to be asked. */
export const wordsAt = ({ record: { name, options }, rest }: CommandWords, reach: readonly string[]): string[] => [
  ...name.split(' '),
  ...reach,
  ...(options.some(([flag]) => flag === '--yes') ? ['--yes'] : []),
  ...rest,
]
