/** Settings as people write them: each is read here, or refused by a UsageError that says what it takes. */
import { isIP } from 'node:net'
import { limits } from '../api/limits.ts'
import { type DebugTopic, debugTopics } from '../shared/debug.ts'
import { hostsOf } from '../shared/postgres-address.ts'
import { UsageError } from '../shared/usage-error.ts'
import { PROJECT_FILE } from './project-file.ts'

/** The database: a file of the embedded engine, or a Postgres server. */
export type Database =
  | { readonly file: string; readonly postgres?: undefined }
  | { readonly file: null; readonly postgres: Pooled & { url: string } }

/** `prepare`: undefined unless its user has said so. */
interface Pooled {
  prepare: boolean | undefined
  poolSize: number
}

export function databaseOf(text: string, options: Pooled): Database {
  if (text === '') throw new UsageError('--db needs the path of a file, or a postgres:// address.')
  if (!isPostgres(text)) {
    const [, scheme] = /^(\w+):\/\//.exec(text) ?? []
    if (scheme) throw new UsageError(`--db takes a file or postgres://…, not ${scheme}://.`)
    return { file: text }
  }
  const hosts = hostsOf(text)
  if (hosts.length === 0)
    throw new UsageError('--db takes an address like postgres://user:password@host:5432/database.')
  const wanted = new URL(hosts[0]!).searchParams.get('target_session_attrs') ?? 'read-write'
  if (wanted !== 'read-write' && wanted !== 'primary')
    throw new UsageError(`--db takes a server that takes writes: target_session_attrs=read-write, not ${wanted}.`)
  return { file: null, postgres: { url: text, ...options } }
}

const isPostgres = (text: string) => /^postgres(?:ql)?:\/\//i.test(text)

/** Parses the argument of `marketplace db` commands: a file or a server. */
export const databaseNamed = (text: string): Database => databaseOf(text, { prepare: false, poolSize: 2 })

/** Returns the database in words, without its password. */
export function nameOf({ file, postgres }: Database): string {
  if (file !== null) return file
  const urls = hostsOf(postgres.url).map(each => new URL(each))
  const { protocol, username, pathname } = urls[0]!
  return `${protocol}//${username && `${username}@`}${urls.map(({ host }) => host).join(',')}${pathname}`
}

export function baseUrlOf(text: string | undefined, flag = '--base-url'): string {
  if (text === undefined || text === '') return ''
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (!plain) throw new UsageError(`${flag} takes an address like https://market.example, not ${text}.`)
  return url.href.replace(/\/+$/, '')
}

/** What a server on a public address must not be, and must know. */
export function checkPublic(mode: 'dev' | 'serve', host: string, baseUrl: string, payments: string): void {
  if (mode === 'dev') {
    throw new UsageError(
      `dev listens on this machine alone, not on ${host}: its keys are no secret. Use npx agent-marketplace serve there.`,
    )
  }
  if (payments === 'sandbox') {
    throw new UsageError(
      `--payments sandbox makes money out of nothing, so it is refused on ${host}. Use --payments manual.`,
    )
  }
  if (baseUrl === '') {
    throw new UsageError(
      `With --host ${host} the public address must be given, as agents call back there: --base-url https://…`,
    )
  }
}

export function portOf(flag: string, text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new UsageError(`${flag} takes a number from 0 (any free one) to 65535, not ${text}.`)
}

export function hopsOf(text: string): number {
  if (/^\d{1,2}$/.test(text)) return Number(text)
  throw new UsageError(`--trust-proxy takes the number of proxies in front, from 0 to 99, not ${text}.`)
}

export function countOf(name: string, text: string | undefined, most = 999_999): number | undefined {
  if (!text) return undefined
  if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= most) return Number(text)
  throw new UsageError(`${name} takes a number from 1 to ${most}, not ${text}.`)
}

export function secondsOf(name: string, text: string | undefined, most: number): number | undefined {
  const seconds = countOf(name, text, most)
  return seconds && seconds * 1_000
}

export function oneOf<const Value extends string>(flag: string, text: string, values: readonly Value[]): Value {
  const found = values.find(value => value === text)
  if (found !== undefined) return found
  throw new UsageError(`${flag} takes ${values.join(' or ')}, not ${text}.`)
}

export function tokenOf(text: string | undefined): string | undefined {
  if (!text) return undefined
  if (/^[\x21-\x7e]{16,}$/.test(text)) return text
  throw new UsageError('MARKETPLACE_METRICS_TOKEN needs at least 16 printable characters without spaces.')
}

/** Where mail goes out, and from whom. */
export interface Mail {
  smtpUrl: string
  from: string
}

export function mailOf(smtpUrl: string | undefined, from: string | undefined): Mail | undefined {
  if (!smtpUrl && !from) return undefined
  if (!smtpUrl || !from) {
    throw new UsageError('MARKETPLACE_SMTP_URL and MARKETPLACE_MAIL_FROM go together; one is missing.')
  }
  // The URL may contain a password, so the message does not repeat it.
  if (!/^smtps?:\/\/[^/]/i.test(smtpUrl) || !URL.canParse(smtpUrl)) {
    throw new UsageError('MARKETPLACE_SMTP_URL takes an address like smtps://user:password@mail.example.')
  }
  if (!/^[^\r\n]*[^\s@]@[^\s@]+$/.test(from)) {
    throw new UsageError(`MARKETPLACE_MAIL_FROM takes an address like market@example.com, not ${from}.`)
  }
  return { smtpUrl, from }
}

/** Parses the settings for where webhooks may go: lists of ports, addresses and ranges. */
export const listOf = (text = '') =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)

export function portRangeOf(text: string): readonly [number, number] {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  if (from && Number(from) > 0 && Number(from) <= Number(to) && Number(to) <= 65_535) return [Number(from), Number(to)]
  throw new UsageError(`MARKETPLACE_EGRESS_PORTS takes ports and ranges like 443,1024-65535, not ${text}.`)
}

export const addressRangeOf =
  (setting: string) =>
  (text: string): string => {
    const [address = '', bits, ...more] = text.split('/')
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
    if (most > 0 && more.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)))
      return text
    throw new UsageError(`${setting} takes addresses and ranges like 203.0.113.7,198.51.100.0/24, not ${text}.`)
  }

const UNITS = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }
// SQLite has 2 GiB of memory here. The rest is for finishing open work, and for the memory of a statement.
const { mostMebibytes } = limits.database

/** Parses the setting for the size of the database. Source: A-50. */
export function dbLimitOf(text: string | undefined, { postgres }: Database): number | undefined {
  if (text === undefined || text === '') return undefined
  const [, number, unit = ''] = /^(\d{1,12}(?:\.\d{1,3})?) ?([KMG]B)?$/i.exec(text) ?? []
  const bytes = Math.floor(Number(number) * (UNITS[unit.toUpperCase() as keyof typeof UNITS] ?? 1))
  const most = postgres ? Number.MAX_SAFE_INTEGER : mostMebibytes * UNITS.MB
  if (bytes >= UNITS.MB && bytes <= most) return bytes
  const sizes = postgres ? 'from 1MB on' : `from 1MB to ${mostMebibytes}MB`
  throw new UsageError(`--db-limit takes a size ${sizes}, like 512MB or 1GB, not ${text}.`)
}

/** What a log holds: its level, and the topics of debug lines. */
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

type Texts = Readonly<Record<string, string | undefined>>

interface Sources {
  readonly flags: object
  readonly env: Texts
  readonly project: Texts
}

/** `baseUrl` → `base-url`. */
export const kebab = (flag: string) => flag.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** `baseUrl` → `MARKETPLACE_BASE_URL`. */
export const variable = (flag: string) => `MARKETPLACE_${kebab(flag).replaceAll('-', '_').toUpperCase()}`

/** A message about a setting begins with its flag. If the value came from elsewhere, names that instead. */
export const withSource = (message: string, { flags, env, project }: Sources) =>
  message.replace(/^--([a-z-]+)/, (flag, name: string) => {
    const attribute = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    if ((flags as Texts)[attribute] !== undefined) return flag
    const names = name === 'db' ? [variable('db'), 'DATABASE_URL'] : [variable(attribute)]
    const set = names.find(known => env[known] !== undefined)
    return set ?? (project[name] === undefined ? flag : `${name} of ${PROJECT_FILE}`)
  })

/** An S3-compatible object store and its credentials. */
export interface BucketSettings {
  readonly name: string
  /** '' or with a slash at its end. */
  readonly prefix: string
  readonly region: string
  /** undefined: Amazon's own. */
  readonly endpoint: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

export const isBucket = (text: string) => /^s3:\/\//i.test(text)

/** Uses the environment variables that other S3 programs use. */
export function bucketOf(text: string, env: Readonly<Record<string, string | undefined>>): BucketSettings {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const fault =
    !url || url.username || url.password || url.port || url.hash || ![...url.searchParams.keys()].every(known)
  if (fault || !BUCKET_NAME.test(url.hostname) || !PREFIX.test(url.pathname)) throw new UsageError(BUCKET_WANTED)
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!accessKeyId || !secretAccessKey) {
    throw new UsageError('--files s3://… needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.')
  }
  const asked = url.searchParams
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '')
  return {
    name: url.hostname,
    prefix: prefix && `${prefix}/`,
    region: asked.get('region') || env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1',
    endpoint: endpointOf(asked.get('endpoint') || env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL),
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
  }
}

const known = (name: string) => name === 'region' || name === 'endpoint'
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PREFIX = /^[\w./-]{0,200}$/
// The message does not repeat the URL, because it may contain a secret by mistake.
const BUCKET_WANTED =
  '--files takes a folder, or s3://bucket/prefix?region=…&endpoint=https://… with the credentials in the environment.'

function endpointOf(text: string | undefined): string | undefined {
  if (!text) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (plain) return url.href
  throw new UsageError('The endpoint of the object store is an address like https://s3.example, without a password.')
}
