/** What a `dev` has stored for commands: in the working folder, or in one above it, as git finds a repository. */
import { readFileSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { givenCredentials, isLoopbackName } from '../../settings/config.ts'

/** Where a `dev` without --db stores its address and its keys. */
export const CREDENTIALS_FILE = join('.marketplace', 'credentials.json')

export interface Dev {
  url?: string
  /** Where it lets agents call back, if that is another address. */
  publicUrl?: string
  instance?: string
  /** Of the program that runs it. */
  version?: string
  accounts?: Record<string, { id: string; email: string; password: string; apiKey: string }>
  agents?: readonly { id: string; slug: string; webhookSecret: string; webhookUrl?: string; forwardTo?: string }[]
  /** For people: which folder it is. */
  from: string
}

/** Reads what `exec` has given to its command, else what the nearest `dev` has stored. It may have ended since. */
export function storedDev(): Dev | undefined {
  const given = givenCredentials()
  if (given !== undefined) return { ...parsed(given), from: 'the exec around this command' }
  const here = process.cwd()
  for (const folder of [here, ...foldersAbove(here)]) {
    const stored = storedIn(folder)
    if (stored) return { ...stored, from: folder === here ? 'a dev in this folder' : `a dev in ${folder}` }
  }
  return undefined
}

/** The agent that the dev of this folder sends webhooks to at this address. Its secret is sent nowhere. */
export const agentAt = (to: string) =>
  storedDev()?.agents?.find(
    ({ forwardTo, webhookUrl }) => webhookUrl === to || (forwardTo !== undefined && isSameAddress(forwardTo, to)),
  )

/** `127.0.0.1` and `localhost` are the same machine. */
function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)]
  const isSameHost = a.hostname === b.hostname || (isLoopbackName(a.hostname) && isLoopbackName(b.hostname))
  return isSameHost && a.port === b.port && a.pathname + a.search === b.pathname + b.search
}

/**
 * The folders above that are safe to read: what somebody else has put into a folder that everybody can write to, such as
 * /tmp, must not decide where commands go. So the file must be this user's, and on the same file system.
 */
function* foldersAbove(start: string): Generator<string> {
  const user = process.getuid?.()
  if (user === undefined) return
  const device = stateOf(start)?.dev
  for (let folder = dirname(start); ; folder = dirname(folder)) {
    if (stateOf(folder)?.dev !== device) return
    if (stateOf(join(folder, CREDENTIALS_FILE))?.uid === user) yield folder
    if (folder === dirname(folder)) return
  }
}

/** Returns undefined if there is no such file, or if it may not be looked at. */
function stateOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function storedIn(folder: string): Omit<Dev, 'from'> | undefined {
  try {
    return parsed(readFileSync(join(folder, CREDENTIALS_FILE), 'utf8'))
  } catch {
    return undefined
  }
}

function parsed(text: string): Omit<Dev, 'from'> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
