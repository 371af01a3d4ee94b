/**
 * A row that defines a command for one endpoint: how words and flags become its fields, and what of the response is shown.
 */
import type { EndpointName } from '../api/endpoints/index.ts'
import type { ConnectionFlags } from './connection.ts'
import type { Person } from './target.ts'

export interface EndpointRow {
  readonly name: string
  readonly endpoint: EndpointName
  /** Whose credentials are used in the folder of a `dev`. */
  readonly person: Person
  readonly summary: string
  /** The argument of the command, and the field that it sets. */
  readonly takes?: readonly [word: string, field: string]
  readonly flags?: readonly FieldFlag[]
  /** The fields to show, with dots for nested ones: columns of a list, or lines of a record. */
  readonly shows: readonly string[]
  /** A boolean field. If it is false, the command exits with 3. */
  readonly proves?: string
  readonly notes?: string
  readonly examples: readonly [string, string, ...string[]]
}

/** The field of a flag with a value, or the fixed value that a flag sets. */
export type FieldFlag = readonly [flags: string, words: string, sets: string | Readonly<Record<string, boolean>>]

export type RowFlags = ConnectionFlags & Readonly<Record<string, unknown>>
