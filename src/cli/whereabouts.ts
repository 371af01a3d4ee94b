/** Which marketplace a command talks to, and with which key: flag, environment, then a dev in this folder. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, isLoopbackName, UsageError } from '../config.ts'

export const persons = ['buyer', 'builder', 'admin'] as const
export type Person = (typeof persons)[number]

export interface Found {
  url: string
  urlFrom: string
  key: string | undefined
  /** In words, for people. */
  keyFrom: string
  /** The address is the one that a dev in this folder wrote down. */
  isDev: boolean
  /** The address leads to this machine. */
  isLocal: boolean
}

interface Asked {
  url?: string
  key?: string
  as?: string
}

/** Where a dev without a --db of its own writes its address and its keys. */
export const CREDENTIALS_FILE = join('.marketplace', 'credentials.json')
const DEV = 'a dev in this folder'

/** A dev's own keys go to that dev alone. Throws a UsageError where nothing is known, or what is known makes no sense. */
export function locate({ url, key, as }: Asked, usual: Person, env: Environment): Found {
  const person = personOf(as) ?? usual
  const dev = devHere()
  const [address, urlFrom] = url
    ? [url, '--url']
    : env.MARKETPLACE_URL
      ? [env.MARKETPLACE_URL, 'MARKETPLACE_URL']
      : [dev?.url, DEV]
  if (!address) {
    throw new UsageError(
      'Which marketplace? Start `marketplace dev` in this folder, or name one with --url and --key (MARKETPLACE_URL, MARKETPLACE_KEY).',
    )
  }
  const base = baseOf(address, urlFrom)
  const isDev = dev?.url !== undefined && baseOf(dev.url, DEV) === base
  const place = { url: base, urlFrom, isDev, isLocal: isLoopbackName(new URL(base).hostname) }
  if (key && as) throw new UsageError('--key and --as both name a key: give one of them.')
  if (key) return { ...place, key: keyOf(key, '--key'), keyFrom: 'the key of --key' }
  if (as && !isDev)
    throw new UsageError(`--as ${person} means a key of ${DEV}, and none answers at ${base}. Give --key.`)
  if (env.MARKETPLACE_KEY && !as) {
    return { ...place, key: keyOf(env.MARKETPLACE_KEY, 'MARKETPLACE_KEY'), keyFrom: 'the key of MARKETPLACE_KEY' }
  }
  return { ...place, key: isDev ? dev.accounts?.[person]?.apiKey : undefined, keyFrom: `the key of its ${person}` }
}

interface Dev {
  url?: string
  accounts?: Partial<Record<Person, { apiKey: string }>>
}

/** What a dev in this folder wrote down; it may have ended since. */
function devHere(): Dev | undefined {
  try {
    return JSON.parse(readFileSync(CREDENTIALS_FILE, 'utf8'))
  } catch {
    return undefined
  }
}

function personOf(text: string | undefined): Person | undefined {
  const person = persons.find(name => name === text)
  if (text !== undefined && !person) throw new UsageError(`--as takes ${persons.join(' or ')}, not ${text}.`)
  return person
}

function baseOf(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const usable = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (!usable) throw new UsageError(`${from} takes an address like http://127.0.0.1:4000, not ${text}.`)
  return url.href.replace(/\/+$/, '')
}

/** The key may be a secret of somebody's, so what it is instead is not repeated. */
function keyOf(text: string, from: string): string {
  if (/^svc_[\x21-\x7e]+$/.test(text)) return text
  throw new UsageError(`${from} takes an API key, which begins with svc_.`)
}
