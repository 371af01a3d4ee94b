/** A command that is one endpoint, as a row: which endpoint, how words and flags become its fields, what is shown of the answer. */
import type { EndpointName } from '../api/endpoints/index.ts'
import type { ConnectionFlags } from './connection.ts'
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
