/** `marketplace.json`: settings for commands in its folder. Flags and the environment take precedence. Source: A-2. */

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { UsageError } from '../shared/usage-error.ts'
export const PROJECT_FILE = 'marketplace.json'

/**
 * Reads the file in the working folder. Returns each value as the text of a flag; nothing if there is no file. `names`: the
 * names of the flags, without dashes. Throws the error that `fault` makes of a message.
 */
export function projectFile(names: readonly string[], fault: (words: string) => Error): Record<string, string> {
  const text = textOf(fault)
  if (text === null) return {}
  const settings = objectIn(text, fault)
  const strange = Object.keys(settings).filter(name => !names.includes(name))
  if (strange.length > 0) {
    throw fault(`${PROJECT_FILE} names ${strange.join(', ')}, which is no setting. It takes: ${names.join(', ')}.`)
  }
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, settingOf(name, value, fault)]))
}

function textOf(fault: (words: string) => Error): string | null {
  try {
    return readFileSync(PROJECT_FILE, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw fault(`${PROJECT_FILE} can't be read: ${message}.`)
  }
}

function objectIn(text: string, fault: (words: string) => Error): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {}
  throw fault(`${PROJECT_FILE} must hold one JSON object, like {"port": 4100, "rate-limits": "warn"}.`)
}

function settingOf(name: string, value: unknown, fault: (words: string) => Error): string {
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value)
  throw fault(`${PROJECT_FILE}: ${name} takes a text, a number, true or false.`)
}

/** The folder of what is the user's own, whatever the working folder, by the rules of XDG. A relative folder would leave sessions in any working folder. */
export function configFolderOf({ XDG_CONFIG_HOME: given, HOME }: NodeJS.ProcessEnv): string {
  return join(given && isAbsolute(given) ? given : join(homeFolder(HOME), '.config'), 'marketplace')
}

/** In a container a user may have none. */
function homeFolder(given: string | undefined): string {
  try {
    if (given === undefined || isAbsolute(given)) return homedir()
  } catch {} // said below
  throw new UsageError(
    'This user has no home folder to keep a session in: set XDG_CONFIG_HOME to a folder, or give --key.',
  )
}
