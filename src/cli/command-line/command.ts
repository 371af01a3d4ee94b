/** A command is one record, from which parsing and help follow. Its module is loaded only when it is called. */
import type { EndpointName } from '../../api/endpoints/index.ts'

export type Option = readonly [flags: string, words: string]

export interface CommandRecord {
  /** The words of the command. In `agents create`, all but the last are a group. */
  readonly name: string
  /** The arguments, such as `<agent>` or `[file]`. */
  readonly takes?: readonly string[]
  /** What the first argument may be, if that is known. */
  readonly values?: readonly (readonly [word: string, about: string])[]
  readonly summary: string
  readonly options: readonly Option[]
  /** The endpoints that a person calls by it. A test compares them with all that there are. */
  readonly endpoints?: readonly EndpointName[]
  /** The fields of the request by the flags, arguments and questions that fill them, where they have other names. */
  readonly fills?: () => readonly (readonly [field: string, word: string])[]
  /** More than the summary says. */
  readonly notes?: string
  /** Commands that can be run as they are. */
  readonly examples: readonly [string, string, ...string[]]
  /** Resolves to the exit code of the process. `wholeTable` is for commands that are about all of them. */
  run(words: readonly string[], flags: never, wholeTable: () => Promise<CommandTable>): Promise<number>
}

/** A group of commands: what it is about, and what is typed most. */
export interface Group {
  readonly summary: string
  readonly examples: readonly [string, string, ...string[]]
}

/** All commands, for those that are about them: completion, the manual. */
export interface CommandTable {
  readonly chapters: readonly Chapter[]
  /** By the words before the last one of a command. */
  readonly groups: Readonly<Record<string, Group>>
}

/** A heading of the help, and the commands under it. */
export type Chapter = readonly [heading: string, commands: readonly CommandRecord[]]
