/** Commands that are one endpoint each: a row says which, how its words and flags become fields, and what is shown. */
import type { EndpointName } from '../api/endpoints/index.ts'
import type { CommandRecord } from './command.ts'
import type { ConnectionFlags } from './connection.ts'
import { jsonOnce, reach } from './options.ts'
import type { Person } from './target.ts'

export interface EndpointRow {
  readonly name: string
  readonly endpoint: EndpointName
  /** Whose credentials count in the folder of a dev. */
  readonly person: Person
  readonly summary: string
  /** The one word it takes, and the field that the word is. */
  readonly takes?: readonly [word: string, field: string]
  readonly flags?: readonly FieldFlag[]
  /** Fields to show, dotted where they lie deeper: the columns of a list, the lines of a record. */
  readonly shows: readonly string[]
  /** A field that says whether all is well: false ends the command with 3. */
  readonly proves?: string
  readonly notes?: string
  readonly examples: readonly [string, string, ...string[]]
}

/** A flag with a value names its field; one without says what it sets. */
export type FieldFlag = readonly [flags: string, words: string, sets: string | Readonly<Record<string, boolean>>]

export type RowFlags = ConnectionFlags & Readonly<Record<string, unknown>>

export const endpointCommand = (row: EndpointRow): CommandRecord => ({
  name: row.name,
  ...(row.takes && { takes: [`<${row.takes[0]}>`] }),
  summary: row.summary,
  options: [...(row.flags ?? []).map(([flags, words]) => [flags, words] as const), ...reach(row.person), jsonOnce],
  ...(row.notes !== undefined && { notes: row.notes }),
  examples: row.examples,
  run: async (words, flags: RowFlags) => (await import('./endpoint-run.ts')).runRow(row, words, flags),
})
