/** The settings of a marketplace. Only this file reads them from the environment. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parseEnv } from 'node:util'
import type { GivenKeeping, Keeping } from '../api/limits.ts'
import { areSimilar } from '../shared/similar.ts'
import { UsageError } from '../shared/usage-error.ts'
import { type Brand, brandOf } from './brand.ts'
import { configFolderOf, PROJECT_FILE, projectFile } from './project-file.ts'
import {
  addressRangeOf,
  type BucketSettings,
  baseUrlOf,
  bucketOf,
  checkPublic,
  countOf,
  type Database,
  type DebugSettings,
  databaseOf,
  dbLimitOf,
  debugOf,
  hopsOf,
  isBucket,
  kebab,
  type LogLevel,
  listOf,
  logLevels,
  type Mail,
  mailOf,
  oneOf,
  portOf,
  portRangeOf,
  secondsOf,
  tokenOf,
  variable,
  withSource,
} from './values.ts'

export interface Config {
  readonly mode: 'dev' | 'serve'
  readonly host: string
  readonly port: number
  /** The public base URL without a trailing slash, with which every callbackUrl begins; set once the server listens. */
  baseUrl: string
  /** The 32-byte key that encrypts secrets at rest. It changes when it is rotated. Source: A-8. */
  secretKey: Buffer
  /** Keys that only open what they have sealed, until nothing is left. */
  otherSecretKeys?: readonly Buffer[]
  readonly payments: 'sandbox' | 'manual'
  readonly currency: string
  /** Rate limits are off, only logged, or enforced. Source: A-40. */
  readonly rateLimits: 'strict' | 'warn' | 'off'
  /** How many trusted proxies are in front, which append to X-Forwarded-For. 0: the header is ignored. Source: A-40. */
  readonly trustProxy: number
  /** How many agents one run of the heartbeat tests at most. Source: A-43. */
  readonly heartbeatBatch: number
  readonly keeping: Keeping
  /** Waits between the attempts of one webhook, ±20 %. Source: A-37, A-236. */
  readonly retryScheduleMs: readonly number[]
  /** Whether administrators need a second factor to settle money. Source: A-194. */
  readonly adminTotp: 'required' | 'optional'
  /** Whether there are pages at /console. */
  readonly console: 'on' | 'off'
  /** What the operator gives the public pages. Source: A-308. */
  readonly brand: Brand
  readonly version: string
  /** The id of the database. Source: A-198. */
  readonly instanceId: string
}

export { type LogLevel, UsageError }

/** The flags of a command line. Each has an environment variable of the same name. Source: A-2. */
export interface Flags {
  host?: string
  port?: string
  db?: string
  baseUrl?: string
  payments?: string
  rateLimits?: string
  console?: string
  trustProxy?: string
  metricsPort?: string
  dbPrepare?: string
  dbPool?: string
  dbLimit?: string
  files?: string
  logLevel?: string
}

export interface Settings {
  readonly host: string
  readonly port: number
  readonly db: Database
  /** The size in bytes from which on the database is full; the default of its engine unless given. Source: A-50. */
  readonly dbLimit: number | undefined
  readonly filesFolder: string | undefined
  /** An object store instead of a folder. */
  readonly bucket: BucketSettings | undefined
  /** '': the address that the server listens on. */
  readonly baseUrl: string
  readonly payments: Config['payments']
  readonly rateLimits: Config['rateLimits']
  readonly console: Config['console']
  readonly trustProxy: number
  /** Overrides of the web server's bounds. */
  readonly bounds: ReturnType<typeof boundsOf>
  /** The default of the interface unless given. */
  /** How long `/readyz` says no before the server takes no more connections. */
  readonly lameDuckMs: number | undefined
  readonly heartbeatBatch: number | undefined
  readonly keeping: GivenKeeping
  /** Further rules for where webhooks may go. Only `serve` applies them. */
  readonly wayOut: WayOut
  /** Base64, or several with commas between. Unless given, a key file next to the database is used. Source: A-8. */
  readonly secretKey: string | undefined
  readonly adminEmail: string | undefined
  readonly adminPassword: string | undefined
  readonly adminTotp: Config['adminTotp']
  /** undefined: the metrics can't be read over the network. Source: A-7. */
  readonly metricsToken: string | undefined
  readonly metricsPort: number | undefined
  /** Whether spans are made of what happens. */
  readonly tracing: boolean
  /** undefined: no mail is sent. */
  readonly mail: Mail | undefined
  readonly brand: Brand
  readonly logLevel: LogLevel
  /** Names of the settings that come from the project file. */
  readonly fromProject: readonly string[]
  /** Variables that are given and are no settings, and the settings that were meant, it seems. */
  readonly misspelt: readonly (readonly [name: string, meant: string])[]
}

interface WayOut {
  readonly resolver: 'dns' | 'system'
  /** Ranges of ports: from and to. */
  readonly ports: readonly (readonly [number, number])[]
  /** Addresses and ranges. */
  readonly denied: readonly string[]
  /** Those that are not public, and may be called. */
  readonly allowed: readonly string[]
}

export type Environment = Readonly<Record<string, string | undefined>>

const manifest = createRequire(import.meta.url)('agent-marketplace/package.json')
export const version: string = manifest.version
/** The oldest Node that runs this package, such as `20.19`. */
export const requiredNode = (): string => manifest.engines.node.replace('>=', '')

/** By default this shows when the database is connected to. */
const PREPARE = { auto: undefined, on: true, off: false }

export const defaults = {
  host: '127.0.0.1',
  port: '4000',
  poolSize: 10,
  egressPorts: '443,1024-65535',
  dev: { db: '.marketplace/dev.db', files: '.marketplace/files', payments: 'sandbox', rateLimits: 'off' },
  serve: { db: 'marketplace.db', files: 'marketplace.files', payments: 'manual', rateLimits: 'strict' },
} as const

/**
 * Reads each setting from flag, environment, `.env`, project file or default, in this order. Throws a UsageError that says
 * what is wrong. Source: A-2.
 */
export function readSettings(mode: Config['mode'], flags: Flags, env: Environment = environment()): Settings {
  try {
    return settingsFrom(mode, flags, env)
  } catch (error) {
    throw error instanceof UsageError
      ? new UsageError(withSource(error.message, { flags, env, project: projectSettings() }))
      : error
  }
}

/** What a command line does not show, and a log says first: which settings come from a file, and which may be missing. */
export const remarksOn = ({ fromProject, misspelt }: Settings) => [
  ...(fromProject.length > 0
    ? [{ type: 'info' as const, message: `${PROJECT_FILE} of this folder sets ${fromProject.join(', ')}` }]
    : []),
  ...misspelt.map(([name, meant]) => ({
    type: 'warning' as const,
    message: `${name} is no setting, so it does nothing. Did you mean ${meant}?`,
  })),
]

function settingsFrom(mode: Config['mode'], flags: Flags, given: Environment): Settings {
  const read = new Set<string>()
  const env = new Proxy(given, { get: (all, name: string) => read.add(name) && all[name] })
  const project = projectSettings()
  const fromProject: string[] = []
  const written = (name: string) => {
    if (project[name] !== undefined) fromProject.push(name)
    return project[name]
  }
  const named = (flag: keyof Flags) => flags[flag] ?? env[variable(flag)]
  const set = (flag: keyof Flags) => named(flag) ?? written(kebab(flag))
  const host = set('host') ?? defaults.host
  const files = set('files')
  const bucket = files !== undefined && isBucket(files) ? bucketOf(files, env) : undefined
  const payments = oneOf('--payments', set('payments') ?? defaults[mode].payments, ['manual', 'sandbox'])
  const baseUrl = baseUrlOf(set('baseUrl'))
  if (!isLoopbackName(host)) checkPublic(mode, host, baseUrl, payments)
  const db = databaseOf(
    named('db') ?? (mode === 'serve' ? env.DATABASE_URL : undefined) ?? written('db') ?? defaults[mode].db,
    {
      prepare: PREPARE[oneOf('--db-prepare', set('dbPrepare') ?? 'auto', ['auto', 'on', 'off'])],
      poolSize: countOf('--db-pool', set('dbPool'), 999) ?? defaults.poolSize,
    },
  )
  return {
    host,
    port: portOf('--port', set('port') ?? defaults.port),
    db,
    dbLimit: dbLimitOf(set('dbLimit'), db),
    filesFolder: bucket ? undefined : (files ?? (db.postgres ? defaults[mode].files : undefined)),
    bucket,
    baseUrl,
    payments,
    rateLimits: oneOf('--rate-limits', set('rateLimits') ?? defaults[mode].rateLimits, ['strict', 'warn', 'off']),
    console: oneOf('--console', set('console') ?? 'on', ['on', 'off']),
    trustProxy: hopsOf(set('trustProxy') ?? '0'),
    lameDuckMs: secondsOf('MARKETPLACE_LAME_DUCK', env.MARKETPLACE_LAME_DUCK, 60),
    heartbeatBatch: countOf('MARKETPLACE_HEARTBEAT_BATCH', env.MARKETPLACE_HEARTBEAT_BATCH, 9_999),
    bounds: boundsOf(env),
    keeping: keepingOf(env),
    wayOut: wayOutOf(env),
    secretKey: env.MARKETPLACE_SECRET_KEY,
    adminEmail: env.MARKETPLACE_ADMIN_EMAIL,
    adminPassword: env.MARKETPLACE_ADMIN_PASSWORD,
    adminTotp: oneOf('MARKETPLACE_ADMIN_TOTP', env.MARKETPLACE_ADMIN_TOTP || 'optional', ['required', 'optional']),
    metricsToken: tokenOf(env.MARKETPLACE_METRICS_TOKEN),
    tracing: oneOf('MARKETPLACE_TRACING', env.MARKETPLACE_TRACING || 'off', ['on', 'off']) === 'on',
    metricsPort: metricsPortOf(set('metricsPort')),
    brand: brandOf(env.MARKETPLACE_BRAND_NAME, env.MARKETPLACE_BRAND_COLORS, env.MARKETPLACE_BRAND_LOGO),
    mail: mailOf(env.MARKETPLACE_SMTP_URL, env.MARKETPLACE_MAIL_FROM),
    logLevel: oneOf('--log-level', set('logLevel') ?? 'info', logLevels),
    fromProject,
    misspelt: misspeltOf(given, read),
  }
}

/** `read`: the names of all settings. Nobody else is asked: a variable that begins as they do may be of another version, or of a command. */
const misspeltOf = (given: Environment, read: ReadonlySet<string>) =>
  Object.keys(given)
    .filter(name => name.startsWith('MARKETPLACE_') && !read.has(name))
    .flatMap(name => [...read].filter(setting => areSimilar(setting, name)).map(setting => [name, setting] as const))

/**
 * The settings that a project file may have: all flags with an environment variable.
 * @internal A test compares them with the flags.
 */
export const projectNames = [
  ...['host', 'port', 'db', 'base-url', 'payments'],
  ...['rate-limits', 'console', 'trust-proxy', 'metrics-port', 'db-prepare', 'db-pool', 'db-limit'],
  ...['files', 'json', 'log-level', 'url'],
] as const

export const projectSettings = (): Partial<Record<string, string>> =>
  projectFile(projectNames, words => new UsageError(words))

/** Whether a command prints JSON, by the environment. */
export function wantsJson(): boolean {
  const env = environment()
  const text = env.MARKETPLACE_JSON ?? projectSettings().json ?? ''
  if (/^(?:true|1|yes|on)$/i.test(text)) return true
  if (/^(?:false|0|no|off)?$/i.test(text)) return false
  throw new UsageError(`MARKETPLACE_JSON takes true or false, not ${text}.`)
}

/** The variables of the process, and below them those of a `.env` in the working folder. */
export const environment = (): Environment => ({ ...dotEnv(), ...process.env })

/** Returns a variable that is not empty, and its source: the user, or a file of the folder. */
export function variableNamed(name: string): { text: string; by: 'user' | '.env' } | undefined {
  const { [name]: text } = environment()
  return text ? { text, by: process.env[name] === undefined ? '.env' : 'user' } : undefined
}

/** The variables that another process of this program gets, besides its own. */
export const inherited = (): Environment => process.env

/**
 * The variables that somebody else's program, such as an agent, gets from this process: no settings of a marketplace, as some are
 * secrets of its operator. `DATABASE_URL` may be the agent's own.
 */
export const inheritedByOthers = (): Environment =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MARKETPLACE_')))

/** Whether the process that has started this one hears of its run over the channel between them. */
export const tellsParent = () => process.env.MARKETPLACE_TELLS_PARENT === '1'

/** The credentials that `exec` gives to its command, as JSON. Not for a `.env`, which may be a stranger's. */
export const givenCredentials = () => process.env.MARKETPLACE_CREDENTIALS

/** A value with a `#` inside a word, where Node sees a comment, and shells, systemd and Docker see none. */
const UNQUOTED =
  /^(\s*(?:export\s+)?[\w.-]+\s*=[ \t]*)(?=\S)((?:[^'"`\s]|[ \t]+(?=[^\s#]))*#(?:[^'"`\s]|[ \t]+(?=[^\s#]))*)(?=\s*$|[ \t]+#)/gm

function dotEnv(): Environment {
  try {
    return parseEnv(readFileSync('.env', 'utf8').replace(UNQUOTED, "$1'$2'")) as Environment
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // A folder of this name is one of Python's virtual environments.
    if (code === 'ENOENT' || code === 'EISDIR') return {}
    throw new UsageError(`.env can't be read: ${message}.`)
  }
}

/** The user's own configuration folder. A `.env` can't change it. */
export const configFolder = (): string => configFolderOf(process.env)

/** What `MARKETPLACE_DEBUG` asks for. Not for a `.env`: a file of a folder turns nothing on that tells more. */
export const wantedDebug = (): DebugSettings => debugOf(process.env.MARKETPLACE_DEBUG)

/**
 * How this program is called on a command line: whoever has started it through npm or npx has no such command on the path.
 */
export function programName(): string {
  const { npm_command: script } = process.env
  const isFetched = /[/\\]_npx[/\\]/.test(process.argv[1] ?? '')
  return script !== undefined || isFetched ? ANYWHERE : 'marketplace'
}

/** How texts of rooms that do not know who reads them call it: that can be typed wherever npm is. */
const ANYWHERE = 'npx agent-marketplace'

/** A text of such a room, for whoever has typed a command. */
export const asTypedHere = (text: string): string => text.replaceAll(`${ANYWHERE} `, `${programName()} `)

/** Whether a stream shows colours: if it is a terminal, unless the environment says otherwise. */
export function wantsColour(stream: { isTTY?: boolean }): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return Boolean(stream.isTTY) && TERM !== 'dumb'
}

/** Whether a terminal moves its cursor when it is told to. */
export const canMoveCursor = (stream: { isTTY?: boolean }) => Boolean(stream.isTTY) && process.env.TERM !== 'dumb'

/** Whether a name can only mean this machine. */
export const isLoopbackName = (host: string) => /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

const metricsPortOf = (text: string | undefined) =>
  text === undefined || text === '' ? undefined : portOf('--metrics-port', text)

const wayOutOf = (env: Environment): WayOut => ({
  resolver: oneOf('MARKETPLACE_RESOLVER', env.MARKETPLACE_RESOLVER || 'dns', ['dns', 'system']),
  ports: listOf(env.MARKETPLACE_EGRESS_PORTS || defaults.egressPorts).map(portRangeOf),
  denied: listOf(env.MARKETPLACE_EGRESS_DENY).map(addressRangeOf('MARKETPLACE_EGRESS_DENY')),
  allowed: listOf(env.MARKETPLACE_EGRESS_ALLOW).map(addressRangeOf('MARKETPLACE_EGRESS_ALLOW')),
})

const boundsOf = (env: Environment) => ({
  connections: countOf('MARKETPLACE_CONNECTIONS', env.MARKETPLACE_CONNECTIONS),
  ofAddress: countOf('MARKETPLACE_CONNECTIONS_PER_ADDRESS', env.MARKETPLACE_CONNECTIONS_PER_ADDRESS),
  unreadMegabytes: countOf('MARKETPLACE_UNREAD_MB', env.MARKETPLACE_UNREAD_MB),
  uploadMegabytes: countOf('MARKETPLACE_UPLOADS_MB', env.MARKETPLACE_UPLOADS_MB),
})

const keepingOf = (env: Environment): GivenKeeping => ({
  deliveryDays: countOf('MARKETPLACE_RETENTION_DELIVERIES', env.MARKETPLACE_RETENTION_DELIVERIES, 3_650),
  notificationDays: countOf('MARKETPLACE_RETENTION_NOTIFICATIONS', env.MARKETPLACE_RETENTION_NOTIFICATIONS, 3_650),
  fileMiB: countOf('MARKETPLACE_QUOTA_FILES', env.MARKETPLACE_QUOTA_FILES),
  allFilesMiB: countOf('MARKETPLACE_LIMIT_FILES', env.MARKETPLACE_LIMIT_FILES),
  textMiB: countOf('MARKETPLACE_QUOTA_TEXTS', env.MARKETPLACE_QUOTA_TEXTS),
  agents: countOf('MARKETPLACE_QUOTA_AGENTS', env.MARKETPLACE_QUOTA_AGENTS, 100_000),
  deliverables: countOf('MARKETPLACE_QUOTA_DELIVERABLES', env.MARKETPLACE_QUOTA_DELIVERABLES, 1_000),
  waitingEvents: countOf('MARKETPLACE_QUOTA_EVENTS', env.MARKETPLACE_QUOTA_EVENTS, 100_000),
  idempotencyKeys: countOf('MARKETPLACE_QUOTA_IDEMPOTENCY_KEYS', env.MARKETPLACE_QUOTA_IDEMPOTENCY_KEYS),
})
