/** What a command is: one record that drives parsing and help, and loads its module only when it is called. */

export type Option = readonly [flags: string, words: string]

export interface CommandRecord {
  /** `agents create`: the words before the last one are a group. */
  readonly name: string
  /** `<agent>`, `[file]`. */
  readonly takes?: readonly string[]
  readonly summary: string
  readonly options: readonly Option[]
  /** What the summary leaves open. */
  readonly notes?: string
  /** Lines that can be run as they stand. */
  readonly examples: readonly [string, string, ...string[]]
  /** Resolves to the exit code of the process. */
  run(words: readonly string[], flags: never): Promise<number>
}

/** A heading of the help, and the commands under it. */
export type Chapter = readonly [heading: string, commands: readonly CommandRecord[]]
