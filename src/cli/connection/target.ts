/** Finds the marketplace and the credentials of a command: by flag, environment, session, or a `dev` in or above this folder. */
import {
  isLoopbackName,
  programName,
  projectSettings,
  UsageError,
  variableNamed,
  version,
} from '../../settings/config.ts'
import { PROJECT_FILE } from '../../settings/project-file.ts'
import { plain } from '../output/ui.ts'
import { type Dev, storedDev } from './dev-folder.ts'
import { type SavedSession, savedSession, savedSessions, sessionOfProfile } from './session-file.ts'

const persons = ['buyer', 'builder', 'admin'] as const
export type Person = (typeof persons)[number]

export interface Target extends Address, Credential {}

/**
 * The sources of an address or a key, the least trusted first. A stranger may have written the files of a folder, as in a
 * cloned repository. A `.env` is less often a stranger's than files that are made to be committed.
 */
const sources = ['dev', PROJECT_FILE, '.env', 'user'] as const
type Source = (typeof sources)[number]

export interface Address {
  url: string
  urlFrom: string
  urlBy: Source
  /** The profile that named it, and whose session is used. */
  profile?: string | undefined
  /** Whether it is the address that a `dev` in this folder has stored. */
  isDev: boolean
  /** Whether it is an address of this machine. */
  isLocal: boolean
  /** What is to be said of a dev of this folder that runs another version than this program's. */
  otherVersion?: string | undefined
}

interface Credential {
  key: string | undefined
  /** The session that `login` has stored for this address. */
  session: SavedSession | undefined
  /** An account of the `dev` in this folder, to sign in with if an endpoint takes no key. */
  account: { email: string; password: string } | undefined
  /** The source of the credentials, for people. */
  from: string
  /**
   * The marketplace that made the credentials; undefined if the user gave them. Then `refuseUntrustedAddress` decides where they may
   * go.
   */
  madeFor: { by: 'dev' | 'login'; instance: string | null } | undefined
}

interface Asked {
  url?: string
  key?: string
  as?: string
  profile?: string
}

interface AskedAddress extends Pick<Asked, 'url' | 'profile'> {
  /** The profile may be one that nobody has signed in with. */
  isNew?: boolean
}

/** Finds the address and the credentials. Throws a UsageError if there is no address, or if a value makes no sense. */
export function locate(asked: Asked, usual: Person): Target {
  const dev = storedDev()
  const address = findAddress(asked, dev)
  return { ...address, ...credentialFor(address, asked, usual, dev) }
}

/** Finds only the address, for a sign-in. */
export const locateAddress = (asked: AskedAddress): Address => findAddress(asked, storedDev())

/** Throws a UsageError if a secret would go to an address whose source is less trusted than that of the secret. */
export function refuseUntrustedAddress(secret: string, by: Source, { url, urlBy, urlFrom, isLocal }: Address): void {
  if (isLocal || sources.indexOf(by) <= sources.indexOf(urlBy)) return
  throw new UsageError(
    `${url} is named by ${urlFrom} alone, which may be somebody else's, so ${secret} was not sent there. If you trust that address ` +
      `with it, name it yourself: add --url ${url} to the command, or type export MARKETPLACE_URL=${url} before it`,
  )
}

function findAddress(asked: AskedAddress, dev: Dev | undefined): Address {
  const profile = asked.profile ?? wantedProfile()
  const isUnknown = asked.isNew === true && profile !== undefined && !sessionOfProfile(profile)
  const { address, urlFrom, urlBy } = givenAddress(asked.url, isUnknown ? undefined : profile, dev)
  if (!address) {
    const kept = savedSessions().find(({ profile }) => profile === undefined)
    throw new UsageError(
      `Which marketplace? ${kept ? `For the one that you are signed in at type export MARKETPLACE_URL=${plain(kept.url)}, or start` : 'Start'} \`${programName()} dev\` in this folder, or name one with --url and --key (MARKETPLACE_URL, MARKETPLACE_KEY).`,
    )
  }
  const base = baseOf(address, urlFrom)
  const isDev = dev?.url !== undefined && baseOf(dev.url, dev.from) === base
  const otherVersion = isDev ? versionWords(dev.version) : undefined
  return { url: base, urlFrom, urlBy, profile, isDev, isLocal: isLoopbackName(new URL(base).hostname), otherVersion }
}

/** Of a dev that was started before an upgrade; undefined if its version is this one's or unknown. */
export const versionWords = (of: string | undefined) =>
  of === undefined || of === version
    ? undefined
    : `The dev of this folder runs version ${plain(of)}, and this is ${version}: end it and start it again.`

interface Named {
  address: string | undefined
  urlFrom: string
  urlBy: Source
}

function givenAddress(flag: string | undefined, profile: string | undefined, dev: Dev | undefined): Named {
  const kept = profile === undefined ? undefined : sessionOfProfile(profile)
  if (flag) return { address: flag, urlFrom: '--url', urlBy: 'user' }
  if (kept) return { address: kept.url, urlFrom: `profile ${profile}`, urlBy: 'user' }
  if (profile !== undefined) {
    throw new UsageError(
      `There is no profile ${profile}. Sign in with it once: \`${programName()} login --url https://market.example --profile ${profile}\``,
    )
  }
  const variable = variableNamed('MARKETPLACE_URL')
  if (variable) return { address: variable.text, urlFrom: nameOf('MARKETPLACE_URL', variable.by), urlBy: variable.by }
  const { url: written } = projectSettings()
  if (written) return { address: written, urlFrom: PROJECT_FILE, urlBy: PROJECT_FILE }
  return { address: dev?.url, urlFrom: dev?.from ?? '', urlBy: 'dev' }
}

/** Only the user's own environment chooses a profile: a file of a folder must not choose whose session is used. */
function wantedProfile(): string | undefined {
  const variable = variableNamed('MARKETPLACE_PROFILE')
  return variable?.by === 'user' ? variable.text : undefined
}

const nameOf = (variable: string, by: 'user' | '.env') => (by === 'user' ? variable : `${variable} of .env`)

/** Given credentials take precedence over stored ones, and a session of `login` over the accounts of `dev`. */
function credentialFor(address: Address, { key, as }: Asked, usual: Person, dev?: Dev): Credential {
  const person = personOf(as)
  if (key && as) throw new UsageError('--key and --as both name a key: give one of them.')
  const instance = dev?.instance ?? null
  const kept = sessionAt(address)
  // A session may belong to an earlier marketplace at the same address.
  const session = address.isDev && kept?.instance !== instance ? undefined : kept
  if (key) return givenKey(address, 'user', key, '--key')
  if (person) {
    if (address.isDev) return personOfDev(dev, person)
    throw new UsageError(
      `--as ${person} means a key of a dev in this folder, and none answers at ${address.url}. Give --key.`,
    )
  }
  const variable = variableNamed('MARKETPLACE_KEY')
  if (variable && !address.profile && !isKeyOf(dev, variable.text))
    return givenKey(address, variable.by, variable.text, nameOf('MARKETPLACE_KEY', variable.by))
  if (session) {
    const madeFor = { by: 'login', instance: session.instance } as const
    return { key: undefined, session, account: undefined, from: `the session of ${session.email}`, madeFor }
  }
  if (address.isDev) return personOfDev(dev, usual)
  return { key: undefined, session: undefined, account: undefined, from: 'no key', madeFor: undefined }
}

/** A profile has its own session, which is for its own address alone. */
function sessionAt({ url, profile }: Address): SavedSession | undefined {
  if (profile === undefined) return savedSession(url)
  const kept = sessionOfProfile(profile)
  return kept?.url === url ? kept : undefined
}

/** Such a key names the dev, of whose accounts each command uses the one that fits. */
const isKeyOf = (dev: Dev | undefined, key: string) =>
  Object.values(dev?.accounts ?? {}).some(({ apiKey }) => apiKey === key)

function givenKey(address: Address, by: Source, text: string, source: string): Credential {
  const key = keyOf(text, source)
  const from = `the key of ${source}`
  refuseUntrustedAddress(from, by, address)
  return { key, session: undefined, account: undefined, from, madeFor: undefined }
}

function personOfDev(dev: Dev | undefined, person: Person): Credential {
  const account = dev?.accounts?.[person]
  const madeFor = { by: 'dev', instance: dev?.instance ?? null } as const
  return { key: account?.apiKey, session: undefined, account, from: `the key of its ${person}`, madeFor }
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

/** An address without user, password and query, and without characters that a shell would interpret. */
const PLAIN = /^[a-z]+:\/\/[\w.:[\]~%/-]+$/i

/** The message does not repeat a wrong key, because it may be another secret. */
function keyOf(text: string, from: string): string {
  if (/^svc_[\x21-\x7e]+$/.test(text)) return text
  throw new UsageError(`${from} takes an API key, which begins with svc_.`)
}
