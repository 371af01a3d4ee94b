/** What a marketplace can be opened with. */
import type { GivenKeeping } from '../api/limits.ts'
import type { FirstAdministrator } from '../market/accounts/first-administrator.ts'
import type { StampedEntry } from '../market/log.ts'
import type { OnExchange } from '../market/recording.ts'
import type { Config, WayOut } from '../settings/config.ts'
import type { DebugSinks } from '../shared/debug.ts'
import type { PostgresOptions } from '../store/postgres/database.ts'
import type { GivenBounds } from '../web/sockets/server-bounds.ts'
import type { BucketOptions } from '../world/bucket.ts'
import type { Pems } from '../world/egress/trust.ts'
import type { MailOptions } from '../world/mail.ts'
import type { World } from '../world/world.ts'

export interface OpenOptions {
  mode: Config['mode']
  host?: string
  /** 0 takes a free port. */
  port?: number
  /** The database file. null: in memory, or on Postgres if that is given. */
  file: string | null
  /** Postgres instead of the embedded engine. Then a secret key must be given. Source: A-8. */
  postgres?: PostgresOptions | undefined
  /** The size in bytes from which on the embedded engine counts as full. Source: A-50. */
  dbLimit?: number | undefined
  /** false: refuses a database whose schema is not up to date, instead of migrating it. */
  migrate?: boolean | undefined
  /** The folder of uploaded files; next to the database file unless given. */
  filesFolder?: string | undefined
  /** An object store instead of a folder. Several instances can share it. */
  bucket?: BucketOptions | undefined
  /** The public base URL; the address that the server listens on unless given. */
  baseUrl?: string
  payments?: Config['payments']
  currency?: string
  /** `strict` in serve and `off` in dev unless given. */
  rateLimits?: Config['rateLimits']
  /** How many trusted proxies are in front of the server. */
  trustProxy?: number
  /** Bounds of connections and of unread responses. */
  bounds?: GivenBounds
  /** How many agents one run of the heartbeat tests at most. */
  heartbeatBatch?: number | undefined
  /** Retention and quotas; the defaults of the interface unless given. */
  keeping?: GivenKeeping | undefined
  /** Where webhooks may go, and how names are resolved. */
  wayOut?: WayOut | undefined
  /** Base64 of 32 bytes; read from the key file next to the database unless given. */
  secretKey?: string | undefined
  /** Makes a new key if the one of this database is lost, and deletes what was sealed with the old one. */
  newSecretKey?: boolean | undefined
  /** The administrator to create at the start if no account has this email. Source: A-5. */
  admin?: FirstAdministrator | undefined
  /** Optional unless given. Source: A-194. */
  adminTotp?: Config['adminTotp']
  /** Without it, the simulator shows mails in its log and a deployment sends none. */
  mail?: MailOptions | undefined
  /** The bearer token for `/metrics` in a deployment. */
  metricsToken?: string | undefined
  /** Also serves `/metrics` on this port of the loopback address, without a token. */
  metricsPort?: number | undefined
  /** Makes ids, secrets and random numbers repeatable. Only for an empty database. */
  seed?: number | undefined
  /** Certificate authorities that webhooks trust besides Node's own, in PEM. */
  ca?: Pems | Promise<Pems>
  /** `quick` shortens the waits between the attempts of a webhook, in the simulator alone. `real` unless given. Source: A-236. */
  retries?: 'quick' | 'real' | undefined
  /** How many times as fast as real time the simulator's clock runs; 1 unless given. */
  clockScale?: number | undefined
  /** Replaces time, randomness and network. Then `seed` and `ca` have no effect. */
  world?: World
  log?: (entry: StampedEntry) => void
  /** Takes each webhook and each callback with its response, signature headers included. Only in dev. */
  onExchange?: OnExchange
  debug?: DebugSinks | undefined
  /** Describes this process to a second one that tries to open the same file. */
  holder?: string
  /** Called if the disk fails, or if another instance uses another file location. The process should end then. */
  onFatal?: (error: Error) => void
}
