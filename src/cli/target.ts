/** Which marketplace a command talks to, and as whom: flag, environment, session, then a dev in this folder. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLoopbackName, projectSettings, UsageError, variableNamed } from '../config.ts'
import { PROJECT_FILE } from '../project-file.ts'
import { type SavedSession, savedSession } from './session-file.ts'

const persons = ['buyer', 'builder', 'admin'] as const
export type Person = (typeof persons)[number]

export interface Found extends Place, Credential {}

/**
 * Who says an address or a key. Whoever wrote a file of the folder may be a stranger, as in a repository that was cloned;
 * `.env` is less often a stranger's than what is made to be committed. The one trusted least comes first.
 */
const sayers = ['dev', PROJECT_FILE, '.env', 'user'] as const
type Sayer = (typeof sayers)[number]

export interface Place {
  url: string
  urlFrom: string
  urlBy: Sayer
  /** The address is the one that a dev in this folder wrote down. */
  isDev: boolean
  /** The address leads to this machine. */
  isLocal: boolean
}

interface Credential {
  key: string | undefined
  /** What `login` keeps for this address. */
  session: SavedSession | undefined
  /** Who can sign in by himself, where an endpoint takes no key: somebody of the dev in this folder. */
  account: { email: string; password: string } | undefined
  /** In words, for people. */
  from: string
  /** Where the credentials come from; undefined: they were named, so they go wherever `checkMayGo` lets them. */
  madeFor: { by: 'dev' | 'login'; instance: string | null } | undefined
}

interface Asked {
  url?: string
  key?: string
  as?: string
}

/** Where a dev without a --db of its own writes its address and its keys. */
export const CREDENTIALS_FILE = join('.marketplace', 'credentials.json')
const DEV = 'a dev in this folder'

/** Throws a UsageError where nothing is known, or what is known makes no sense. */
export function locate(asked: Asked, usual: Person): Found {
  const dev = devHere()
  const place = placeOf(asked.url, dev)
  return { ...place, ...credentialFor(place, asked, usual, dev) }
}

/** The address alone, for those who are about to sign in. */
export const locatePlace = (url: string | undefined): Place => placeOf(url, devHere())

/** Throws a UsageError where a secret that `by` has named would go to an address that only a file of this folder names. */
export function checkMayGo(secret: string, by: Sayer, { url, urlBy, urlFrom, isLocal }: Place): void {
  if (isLocal || sayers.indexOf(by) <= sayers.indexOf(urlBy)) return
  throw new UsageError(
    `${url} is named by ${urlFrom} alone, which may be somebody else's, so ${secret} was not sent there. If you trust that address ` +
      `with it, name it yourself: add --url ${url} to the command, or type export MARKETPLACE_URL=${url} before it`,
  )
}

function placeOf(url: string | undefined, dev: Dev | undefined): Place {
  const { address, urlFrom, urlBy } = addressOf(url, dev)
  if (!address) {
    throw new UsageError(
      'Which marketplace? Start `marketplace dev` in this folder, or name one with --url and --key (MARKETPLACE_URL, MARKETPLACE_KEY).',
    )
  }
  const base = baseOf(address, urlFrom)
  const isDev = dev?.url !== undefined && baseOf(dev.url, DEV) === base
  return { url: base, urlFrom, urlBy, isDev, isLocal: isLoopbackName(new URL(base).hostname) }
}

interface Named {
  address: string | undefined
  urlFrom: string
  urlBy: Sayer
}

function addressOf(flag: string | undefined, dev: Dev | undefined): Named {
  if (flag) return { address: flag, urlFrom: '--url', urlBy: 'user' }
  const variable = variableNamed('MARKETPLACE_URL')
  if (variable) return { address: variable.text, urlFrom: nameOf('MARKETPLACE_URL', variable.by), urlBy: variable.by }
  const { url: written } = projectSettings()
  if (written) return { address: written, urlFrom: PROJECT_FILE, urlBy: PROJECT_FILE }
  return { address: dev?.url, urlFrom: DEV, urlBy: 'dev' }
}

const nameOf = (variable: string, by: 'user' | '.env') => (by === 'user' ? variable : `${variable} of .env`)

/** What was named goes over what is kept; a session of one's own over a dev's people. */
function credentialFor(place: Place, { key, as }: Asked, usual: Person, dev?: Dev): Credential {
  const person = personOf(as)
  if (key && as) throw new UsageError('--key and --as both name a key: give one of them.')
  const instance = dev?.instance ?? null
  const kept = savedSession(place.url)
  // Of two marketplaces at one address after each other, the one that is here counts.
  const session = place.isDev && kept?.instance !== instance ? undefined : kept
  if (key) return named(place, 'user', key, '--key')
  if (person) {
    if (place.isDev) return personOfDev(dev, person)
    throw new UsageError(`--as ${person} means a key of ${DEV}, and none answers at ${place.url}. Give --key.`)
  }
  const variable = variableNamed('MARKETPLACE_KEY')
  if (variable) return named(place, variable.by, variable.text, nameOf('MARKETPLACE_KEY', variable.by))
  if (session) {
    const madeFor = { by: 'login', instance: session.instance } as const
    return { key: undefined, session, account: undefined, from: `the session of ${session.email}`, madeFor }
  }
  if (place.isDev) return personOfDev(dev, usual)
  return { key: undefined, session: undefined, account: undefined, from: 'no key', madeFor: undefined }
}

function named(place: Place, by: Sayer, text: string, source: string): Credential {
  const key = keyOf(text, source)
  const from = `the key of ${source}`
  checkMayGo(from, by, place)
  return { key, session: undefined, account: undefined, from, madeFor: undefined }
}

function personOfDev(dev: Dev | undefined, person: Person): Credential {
  const account = dev?.accounts?.[person]
  const madeFor = { by: 'dev', instance: dev?.instance ?? null } as const
  return { key: account?.apiKey, session: undefined, account, from: `the key of its ${person}`, madeFor }
}

interface Dev {
  url?: string
  instance?: string
  accounts?: Partial<Record<Person, { email: string; password: string; apiKey: string }>>
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
  const usable = url && /^https?:$/.test(url.protocol) && PLAIN.test(url.href)
  if (!usable) throw new UsageError(`${from} takes an address like http://127.0.0.1:4000, not ${text}.`)
  return url.href.replace(/\/+$/, '')
}

/** Without user, password and search; and what is shown of it can be typed, whatever it was made to do to a shell. */
const PLAIN = /^[a-z]+:\/\/[\w.:[\]~%/-]+$/i

/** The key may be a secret of somebody's, so what it is instead is not repeated. */
function keyOf(text: string, from: string): string {
  if (/^svc_[\x21-\x7e]+$/.test(text)) return text
  throw new UsageError(`${from} takes an API key, which begins with svc_.`)
}
