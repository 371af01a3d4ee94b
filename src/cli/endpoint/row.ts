/**
 * A row that defines a command for one endpoint: how words and flags become its fields, and what of the response is shown.
 */

import type { EndpointName } from '../../api/endpoints/index.ts'
import { limits } from '../../api/limits.ts'
import type { ConnectionFlags } from '../connection/connection.ts'
import type { Person } from '../connection/target.ts'
export interface EndpointRow {
  readonly name: string
  readonly endpoint: EndpointName
  /** Whose credentials are used in the folder of a `dev`. */
  readonly person: Person
  readonly summary: string
  readonly takes?: readonly Argument[]
  readonly flags?: readonly FieldFlag[]
  /** Fields that the command always sets. */
  readonly sets?: Readonly<Record<string, boolean>>
  /** Sends the session, although the endpoint takes keys for other uses. */
  readonly session?: true
  /** The body may also come from `--file`; flags go over it. */
  readonly file?: true
  /** Fields that are asked for and not shown, or read from stdin, a line each. */
  readonly asks?: readonly (readonly [field: string, question: string])[]
  /** What can't be undone, as the end of "This …": the command asks first, unless `--yes` is given. */
  readonly confirms?: string
  /** The fields to show, with dots for nested ones: columns of a list, or lines of a record. */
  readonly shows: readonly string[]
  /** Of a list: what there is none of if it is empty, and a sentence on how the first is made. `flags` lead to the same marketplace. */
  readonly things?: string
  readonly first?: (flags: string) => string
  /** What is to be done next, as a sentence. `flags` lead to the same marketplace. */
  readonly next?: (flags: string) => string
  /** A secret that is shown once: this field goes to stdout alone, so that it can be piped. */
  readonly prints?: string
  /** A boolean field. If it is false, the command exits with 3. */
  readonly proves?: string
  /** Below the record of a task stands what is wrong with it. */
  readonly diagnoses?: true
  readonly notes?: string
  readonly examples: readonly [string, string, ...string[]]
}

/**
 * An argument of a command, and the field that it sets. An `agent` may be named by its slug where the field takes only ids, a `category` by
 * its name or slug.
 */
type Argument = readonly [word: string, field: string, kind?: 'agent' | 'category']

/**
 * The field of a flag with a value, or the fixed values that a flag sets. `agent`: may be named by its slug. `categories`: by
 * name, slug or id. `since`: a duration until now.
 */
export type FieldFlag = readonly [
  flags: string,
  words: string,
  sets: string | Readonly<Record<string, boolean | string | null>>,
  kind?: 'agent' | 'categories' | 'since',
]

/** What was typed behind the name of a row, and the flags that lead to the same marketplace as the same person. */
export interface Typed {
  readonly words: readonly string[]
  readonly flags: RowFlags
  readonly reach: string
}

export type RowFlags = ConnectionFlags & Readonly<Record<string, unknown>>

/** The flags of every list. */
export const pageFlags: readonly FieldFlag[] = [
  ['--page <n>', 'from 1 on (default: 1)', 'page'],
  ['--limit <n>', `rows of a page (default: ${limits.page.default}, at most ${limits.page.max})`, 'limit'],
]
