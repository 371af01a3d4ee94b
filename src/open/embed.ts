/** What a program sees that runs a marketplace in its own process: nothing of the inside. */
import type { GivenKeeping } from '../api/limits.ts'
import type { Exchange } from '../market/exchange.ts'
import type { StampedEntry } from '../market/log.ts'
import type { BucketOptions } from '../world/bucket.ts'
import type { Pems } from '../world/egress/trust.ts'

export interface OpenOptions {
  mode: 'dev' | 'serve'
  host?: string
  /** 0 takes a free port. */
  port?: number
  /** The database file. null: in memory, or on Postgres if that is given. */
  file: string | null
  /** Postgres instead of the embedded engine. Then a secret key must be given. Source: A-8. */
  postgres?:
    | {
        /** postgres://user:password@host:port/database; of several hosts, with commas between, the one that takes writes is used */
        url: string
        /** How many connections this process opens at most. */
        poolSize?: number
        /** Whether statements are prepared by name; unless given, they are if no pooler is between. */
        prepare?: boolean | undefined
        /** How long one statement may run, in ms. */
        statementTimeoutMs?: number
        /** How long a unit may wait until one of the connections is free, in ms. */
        queueTimeoutMs?: number
      }
    | undefined
  /** The size in bytes from which on the database counts as full. On Postgres there is none unless given. Source: A-50. */
  dbLimit?: number | undefined
  /** false: refuses a database whose schema is not up to date, instead of migrating it. */
  migrate?: boolean | undefined
  /** The folder of uploaded files; next to the database file unless given. */
  filesFolder?: string | undefined
  /** An object store instead of a folder. Several instances can share it. */
  bucket?: BucketOptions | undefined
  /** The public base URL; the address that the server listens on unless given. */
  baseUrl?: string
  payments?: 'sandbox' | 'manual'
  currency?: string
  /** `strict` in serve and `off` in dev unless given. */
  rateLimits?: 'strict' | 'warn' | 'off'
  /** The pages at /console; `on` unless given. */
  console?: 'on' | 'off'
  /** How many trusted proxies are in front of the server. */
  trustProxy?: number
  /** How many agents one run of the heartbeat tests at most. */
  heartbeatBatch?: number | undefined
  /** Retention and quotas; the defaults of the interface unless given. */
  keeping?: GivenKeeping | undefined
  /** Where webhooks may go, and how names are resolved. */
  wayOut?:
    | {
        resolver: 'dns' | 'system'
        /** Ranges of ports: from and to. */
        ports: readonly (readonly [number, number])[]
        /** Addresses and ranges that are never called, besides those that nobody may call. */
        denied: readonly string[]
        /** Addresses and ranges that are called although they are not public: an intranet's. Only in serve. */
        allowed?: readonly string[]
      }
    | undefined
  /**
   * Base64 of 32 bytes; read from the key file next to the database unless given. Several with commas between: the first seals,
   * the others open what they have sealed.
   */
  secretKey?: string | undefined
  /** Makes a new key if the one of this database is lost, and deletes what was sealed with the old one. */
  newSecretKey?: boolean | undefined
  /** The administrator to create at the start if no account has this email. Source: A-5. */
  admin?: { email: string; password: string } | undefined
  /** Optional unless given. Source: A-194. */
  adminTotp?: 'required' | 'optional'
  /** Without it, the simulator shows mails in its log and a deployment sends none. */
  mail?: { smtpUrl: string; from: string } | undefined
  /** The name, the colours and the logo of the public pages. Colours: `#rrggbb`, for light and for dark ground. */
  brand?:
    | {
        name: string | null
        colors: { light: string; dark: string } | null
        logo: { type: string; bytes: Buffer } | null
      }
    | undefined
  /** Makes spans of requests, transactions and webhooks, by the optional package @opentelemetry/api. */
  tracing?: boolean | undefined
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
  log?: (entry: StampedEntry) => void
  /** Takes each webhook and each callback with its response, signature headers included. Only in dev. */
  onExchange?: (exchange: Exchange) => void
  /** Called if the disk fails, or if another instance uses another file location. The process should end then. */
  onFatal?: (error: Error) => void
}

export interface Marketplace {
  readonly url: string
  /** The loopback port of `/metrics`; null if there is none. */
  readonly metricsPort: number | null
  /** The database file; null if there is none. */
  readonly file: string | null
  /** Does what is due now, such as clearing and heartbeats, and wakes the dispatcher. */
  runDue(): Promise<void>
  /** Accepts no more requests, finishes those in flight within `graceMs`, and makes everything durable. */
  close(graceMs?: number): Promise<void>
}
