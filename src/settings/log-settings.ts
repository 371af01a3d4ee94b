/** What a log holds: its level, and the topics of debug lines. */
import { type DebugTopic, debugTopics } from '../shared/debug.ts'
import { UsageError } from '../shared/usage-error.ts'

export const logLevels = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

/** Not of a running marketplace: a command that fails prints its stack. */
const STACKS = ['stacks', '1']

export interface DebugSettings {
  readonly topics: readonly DebugTopic[]
  /** Whether a command that fails prints its stack. Any topic asks for it. */
  readonly stacks: boolean
}

const NONE: DebugSettings = { topics: [], stacks: false }

/** `webhooks,sql`. Throws a UsageError that names the topics if one is unknown. */
export function debugOf(text: string | undefined): DebugSettings {
  const names = (text ?? '').split(',').map(name => name.trim())
  const named = names.filter(name => name !== '')
  if (named.length === 0) return NONE
  const known: readonly string[] = [...debugTopics, ...STACKS]
  const unknown = named.find(name => !known.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(
      `MARKETPLACE_DEBUG takes ${debugTopics.join(', ')} or stacks, several with commas between, not ${unknown}.`,
    )
  }
  return { topics: debugTopics.filter(topic => named.includes(topic)), stacks: true }
}
