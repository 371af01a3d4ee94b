/** Which entries a log of some level holds. */

import type { LogEntry } from '../../market/log.ts'
import type { LogLevel } from '../../settings/config.ts'

/** What is not named is `info`. */
const levels: Partial<Record<LogEntry['type'], 'warn' | 'error'>> = {
  warning: 'warn',
  cut_off: 'warn',
  error: 'error',
}

export const levelOf = ({ type }: LogEntry): 'error' | 'warn' | 'info' => levels[type] ?? 'info'

const order: readonly LogLevel[] = ['error', 'warn', 'info', 'debug']

export const isWithin = (entry: LogEntry, level: LogLevel) => order.indexOf(levelOf(entry)) <= order.indexOf(level)
