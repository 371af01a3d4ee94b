/**
 * Makes commands from rows: each calls one endpoint, and the row maps words and flags to its fields and names what is
 * shown.
 */
import type { CommandRecord, Option } from '../command-line/command.ts'
import { flagIn } from '../command-line/filled-by.ts'
import { jsonOnce, reach, withoutAsking } from '../command-line/options.ts'
import type { EndpointRow, FieldFlag, RowFlags } from './row.ts'

export const endpointCommand = (row: EndpointRow): CommandRecord => ({
  name: row.name,
  ...(row.takes && { takes: row.takes.map(([word]) => `<${word}>`) }),
  summary: row.summary,
  options: [
    ...(row.flags ?? []).map(([flags, words]): Option => [flags, words]),
    ...(row.file ? [FILE] : []),
    ...(row.asks ? [FROM_STDIN] : []),
    ...(row.confirms ? [withoutAsking] : []),
    ...reach(row.person),
    jsonOnce,
  ],
  endpoints: [row.endpoint],
  fills: () => [
    ...(row.takes ?? []).map(([word, field]) => [field, `<${word}>`] as const),
    ...fillsOf(row.flags),
    // People were asked for it in these words.
    ...(row.asks ?? []).map(([field, question]) => [field, question.replace(/:$/, '')] as const),
  ],
  ...(row.notes !== undefined && { notes: row.notes }),
  examples: row.examples,
  run: async (words, flags: RowFlags) => (await import('./run.ts')).runRow(row, words, flags),
})

/** What flags fill, by their records. */
export const fillsOf = (flags: readonly FieldFlag[] = []) =>
  flags.flatMap(([flag, , sets]) =>
    (typeof sets === 'string' ? [sets] : Object.keys(sets)).map(field => [field, flagIn(flag)] as const),
  )

const FILE: Option = ['--file <file.json>', 'the fields as the API takes them; - is stdin; flags go over it']
const FROM_STDIN: Option = ['--password-stdin', 'read what would be asked for from stdin, a line each']
