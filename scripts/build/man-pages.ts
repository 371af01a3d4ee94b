/** The manual, in the macros of man: a page for each group of commands, from their records. Written by the build. */

import type { CommandRecord, CommandTable, Option } from '../../src/cli/command-line/command.ts'
import { exitCodesInWords } from '../../src/cli/exit-codes.ts'
import { version } from '../../src/settings/config.ts'

/** An option of so many commands stands in the first page alone. */
const COMMON = 10

/** The pages by their names. The first, `marketplace`, has the commands of one word, and leads to the pages of groups. */
export function manPages({ chapters, groups }: CommandTable): ReadonlyMap<string, string> {
  const records = chapters.flatMap(([, chapter]) => chapter)
  const common = commonIn(records)
  const isCommon = new Set(common.map(String))
  const single = records.filter(({ name }) => !name.includes(' '))
  const grouped = records.filter(({ name }) => name.includes(' '))
  const words = [...new Set(grouped.map(({ name }) => name.split(' ', 1)[0]!))]
  const pages = words.map((word): [string, string] => {
    const own = grouped.filter(({ name }) => name.startsWith(`${word} `))
    const name = `marketplace-${word}`
    return [name, page(name, groups[word]!.summary, [...own.flatMap(one => section(one, isCommon)), ...SEE])]
  })
  const first = [
    '.SH SYNOPSIS',
    '.B marketplace',
    '.I command',
    '[\\fIarguments\\fR] [\\fIoptions\\fR]',
    '.SH GROUPS OF COMMANDS',
    ...words.flatMap(word => ['.TP', `.BR ${roff(`marketplace-${word}`)} (1)`, roff(`${groups[word]!.summary}.`)]),
    ...single.flatMap(one => section(one, isCommon)),
    '.SH OPTIONS OF MANY COMMANDS',
    ...common.flatMap(option),
    '.SH EXIT STATUS',
    roff(`${exitCodesInWords}.`),
    '.SH ENVIRONMENT',
    roff('Every setting can also stand in the environment or in .env as MARKETPLACE_<NAME>.'),
  ]
  const about = 'a whole marketplace for AI agents: escrow, signed webhooks, callbacks, disputes'
  return new Map([['marketplace', page('marketplace', about, first)], ...pages])
}

const page = (name: string, about: string, lines: readonly string[]) =>
  `${[
    `.TH ${roff(name.toUpperCase())} 1 "" "agent-marketplace ${roff(version)}" "User Commands"`,
    '.SH NAME',
    `${roff(name)} \\- ${roff(about)}`,
    ...lines,
  ].join('\n')}\n`

function commonIn(records: readonly CommandRecord[]): readonly Option[] {
  const counts = new Map<string, { option: Option; count: number }>()
  for (const { options } of records) {
    for (const option of options) {
      const known = counts.get(String(option)) ?? { option, count: 0 }
      counts.set(String(option), { option, count: known.count + 1 })
    }
  }
  return [...counts.values()].filter(({ count }) => count >= COMMON).map(({ option }) => option)
}

const option = ([flags, words]: Option) => ['.TP', `.B ${roff(flags)}`, roff(words)]

function section(record: CommandRecord, isCommon: ReadonlySet<string>): string[] {
  const { name, takes = [], summary, options, notes, examples } = record
  // One that says more than the heading.
  const example = examples.find(line => / --(?!json$)/.test(line))
  return [
    `.SH ${roff(['marketplace', name, ...takes].join(' '))}`,
    roff(`${summary}.`),
    ...options.filter(one => !isCommon.has(String(one))).flatMap(option),
    ...(notes ? ['.PP', '.nf', ...notes.split('\n').map(roff), '.fi'] : []),
    ...(example ? ['.PP', '.nf', ...example.split('\n').map(line => `  ${roff(line)}`), '.fi'] : []),
  ]
}

/** At the end of the page of a group. */
const SEE = [
  '.SH OPTIONS OF MANY COMMANDS',
  'Such as \\-\\-url, \\-\\-page and \\-\\-json: see',
  '.BR marketplace (1).',
]

/** Text as it stands: no escapes, no requests at the start of a line, hyphens that can be copied, other signs by their numbers. */
const roff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/[^\0-\x7f]/gu, sign => `\\[u${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/^([.'])/, '\\&$1')
