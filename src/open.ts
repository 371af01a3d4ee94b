/** The composition root: opens everything a marketplace is made of, in order, and closes it in reverse. */
import { endpoints } from './api/endpoints/index.ts'
import { defaultKeeping, type GivenKeeping, heartbeat as heartbeatRule, type Keeping } from './api/limits.ts'
import { type Config, UsageError, version, type WayOut } from './config.ts'
import type { DebugSinks } from './debug.ts'
import { createAuthenticate, createTouch } from './market/accounts/accounts.ts'
import { ensureAdministrator, type FirstAdministrator } from './market/accounts/first-administrator.ts'
import { sendMails } from './market/accounts/mail-sender.ts'
import { planHeartbeat, startHeartbeat } from './market/checks/heartbeat.ts'
import { type Log, withShortValues } from './market/log.ts'
import { createMarket, type Market } from './market/market.ts'
import { singly } from './market/single-flight.ts'
import { removeOrphans } from './market/tasks/files.ts'
import { clockOffset } from './market/upkeep/clock.ts'
import { runDue } from './market/upkeep/due.ts'
import { instanceIdOf } from './market/upkeep/instance-id.ts'
import { watchClock } from './market/upkeep/set-back-clock.ts'
import { verbs } from './market/verbs.ts'
import { startDispatcher } from './market/webhooks/dispatcher.ts'
import { proveSecretKey, replaceSecretKey, secretKeyFor } from './secret-key.ts'
import { type Db, StoreError, type Tx } from './store/db.ts'
import { watchedDb } from './store/debug.ts'
import { noteFresh } from './store/embedded/fresh-files.ts'
import { emptyDatabase } from './store/embedded/initial-image.ts'
import { migrate, proveMigrated } from './store/migrate.ts'
import { migrations } from './store/migrations/index.ts'
import { openDatabase } from './store/open.ts'
import type { PostgresOptions } from './store/postgres/database.ts'
import { endAllTests } from './store/tables/agent-tests.ts'
import { releaseAllRequests } from './store/tables/idempotency-keys.ts'
import { releaseJobs } from './store/tables/jobs.ts'
import { countUsers } from './store/tables/users.ts'
import { type FilesOptions, openFiles } from './uploaded-files.ts'
import { contractPages } from './web/docs-pages.ts'
import { loadAhead } from './web/load-ahead.ts'
import { createMetrics } from './web/metrics.ts'
import { metricsPage, serveMetrics } from './web/metrics-page.ts'
import { createServer, type GivenBounds } from './web/server.ts'
import type { BucketOptions } from './world/bucket.ts'
import { publicRule } from './world/egress/public-rule.ts'
import type { Pems } from './world/egress/trust.ts'
import { createMailer, type MailOptions } from './world/mail.ts'
import { createWorld } from './world/real.ts'
import type { World } from './world/world.ts'

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
  /** Replaces time, randomness and network. Then `seed` and `ca` have no effect. */
  world?: World
  log?: Log
  debug?: DebugSinks | undefined
  /** Describes this process to a second one that tries to open the same file. */
  holder?: string
  /** Called if the disk fails, or if another instance uses another file location. The process should end then. */
  onFatal?: (error: Error) => void
}

export interface Marketplace {
  readonly market: Market
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

const TICK_MS = 1000
// A little less than the ten seconds of A-4, because making everything durable takes time too.
const GRACE_MS = 9_000

/** Opens the database, migrates it and listens. If a step fails, it closes everything and throws an error for people. */
export async function openMarketplace(options: OpenOptions): Promise<Marketplace> {
  const metrics = createMetrics()
  const log = metrics.tap(withShortValues(options.log ?? (() => {})))
  const closers: (() => Promise<unknown>)[] = [async () => metrics.close()]
  const closeAll = async () => {
    const failures: unknown[] = []
    // If one part fails to close, the others are closed all the same.
    for (const close of closers.splice(0).reverse()) await close().catch(error => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
  const { file, postgres, secretKey: given, metricsPort, bounds = {}, debug } = options
  if (postgres && given === undefined) throw new UsageError(KEY_NEEDED)
  const undoFresh = file === null ? async () => {} : await noteFresh(file, folderOf(options) ?? '')
  try {
    const db = await openDb(options, log)
    closers.push(() => db.close())
    const { secretKey, replaces } = await secretKeyFor(db, { given, file, renew: options.newSecretKey })
    const world = await openWorld(options, db)
    closers.push(() => world.egress.close())
    closers.push(async () => world.mail?.close())
    if (!replaces) await proveSecretKey(db, world, secretKey)
    const files = await openFiles(filesOf(options, log), { db, world })
    closers.push(() => files.close())
    const config = configOf(options, secretKey, await instanceIdOf(db))
    const market = createMarket({ db, files, world, config, log })
    if (replaces) await replaceSecretKey(market)
    if (options.mode === 'serve') await loadAhead(world)
    if (options.admin) await ensureAdministrator(market, options.admin)
    await planHeartbeat(market)
    await watchClock(market)
    const authenticate = createAuthenticate(world, createTouch(market))
    const pages = {
      ...contractPages(endpoints, market.config),
      '/metrics': metricsPage(market, metrics, options.metricsToken),
    }
    const server = createServer({ endpoints, verbs, market, authenticate, pages, bounds, debug: debug?.http })
    metrics.watch(server.figures)
    const { url } = await server.listen()
    closers.push(() => server.close(0))
    const metricsServer = metricsPort === undefined ? null : await serveMetrics(market, metrics, metricsPort)
    closers.push(async () => metricsServer?.close())
    const dispatcher = startDispatcher(market)
    const due = ticking(market, runDue, 'What is due could not be done')
    const post = ticking(market, sendMails, 'Mails could not be sent')
    const sweep = ticking(market, removeOrphans, 'Files that nothing holds could not be removed')
    const heartbeat = startHeartbeat(market)
    const doDue = async () => {
      await due.run()
      dispatcher.wake()
      await heartbeat.run()
      await post.run()
      await sweep.run()
    }
    world.onAdvance(() => doDue().catch(() => {}))
    let closing: Promise<void> | undefined
    const close = async (graceMs: number) => {
      // An agent may keep a webhook waiting for longer than a closing marketplace waits; the webhook is sent again after
      // the start.
      const cutOff = world.after(graceMs, () => {
        void world.egress.close()
        void world.mail?.close()
      })
      await heartbeat.stop()
      await server.close(graceMs)
      await due.stop()
      await post.stop()
      await sweep.stop()
      await dispatcher.close()
      cutOff.cancel()
      await closeAll()
    }
    return {
      market,
      url,
      metricsPort: metricsServer?.port ?? null,
      file: options.file,
      runDue: doDue,
      close(graceMs = GRACE_MS) {
        closing ??= close(graceMs)
        return closing
      },
    }
  } catch (error) {
    await closeAll()
      .then(undoFresh)
      .catch(() => {})
    throw error
  }
}

const KEY_NEEDED =
  'With Postgres the key that seals webhook secrets must be given, the same to every instance: MARKETPLACE_SECRET_KEY, ' +
  '32 bytes as base64 (for example from: openssl rand -base64 32).'

async function openDb(options: OpenOptions, log: Log): Promise<Db> {
  const { file, postgres, debug } = options
  const opened = await openDatabase({
    file,
    image: file === null && !postgres ? await emptyDatabase() : undefined,
    postgres,
    fullBytes: options.dbLimit,
    holder: holderOf(options),
    onFatal: fatally(options, log),
    warn: message => log({ type: 'warning', message }),
  })
  const db = debug?.sql ? watchedDb(opened, debug.sql) : opened
  try {
    if (options.migrate === false) await proveMigrated(db, migrations)
    else await migrateTo(db, log)
    if (!db.shared) await db.write(dropWorkInHand)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}

async function migrateTo(db: Db, log: Log): Promise<void> {
  const applied = await migrate(db, migrations, Date.now)
  if (applied.length === 0) return
  const before = migrations.filter(({ name }) => !applied.includes(name))
  log({ type: 'migration', from: before.at(-1)?.id ?? 0, to: migrations.at(-1)!.id, applied })
}

const holderOf = ({ holder, mode }: OpenOptions) => holder ?? `marketplace ${mode}`

const fatally =
  ({ onFatal }: OpenOptions, log: Log) =>
  (error: Error) => {
    log({ type: 'error', message: error.message })
    onFatal?.(error)
  }

/** Returns the folder of uploaded files; null for a temporary one. */
const folderOf = ({ filesFolder, file }: OpenOptions) => filesFolder ?? (file === null ? null : `${file}.files`)

const filesOf = (options: OpenOptions, log: Log): FilesOptions => ({
  folder: folderOf(options),
  bucket: options.bucket,
  holder: holderOf(options),
  lost: fatally(options, log),
})

/** Finishes or undoes what an earlier process left. On a shared database some of it may belong to other processes. */
async function dropWorkInHand(tx: Tx) {
  await releaseAllRequests(tx)
  await endAllTests(tx)
  await releaseJobs(tx)
}

/** Reads the offset of dev's clock, which is stored. A deployment always uses the machine's clock. Source: A-44. */
async function openWorld({ mode, seed, ca, mail, wayOut, baseUrl, debug, world: given }: OpenOptions, db: Db) {
  if (given) return withAdvanceHook(mail ? { ...given, mail: createMailer(mail) } : given)
  const { offset, users } = await db.read(async q => ({
    offset: await clockOffset(q),
    users: await countUsers(q),
  }))
  if (seed !== undefined && users > 0) {
    throw new StoreError(
      'A seed would give the same ids again, so it needs an empty database. Add --ephemeral, or name a new file.',
    )
  }
  const world = createWorld({
    offsetMs: mode === 'dev' ? offset : 0,
    ...(seed === undefined ? {} : { seed }),
    requireHttps: true,
    allowLoopback: mode === 'dev',
    names: { resolver: wayOut?.resolver },
    debug: debug?.webhooks,
    ...(mode === 'serve' && publicRule(wayOut, baseUrl)),
    mail,
    ...(ca === undefined ? {} : { ca }),
  })
  return withAdvanceHook(world)
}

/** Moving the clock also makes things due, so it starts the work at once. */
function withAdvanceHook(world: World) {
  let moved = async () => {}
  let catchingUp = Promise.resolve()
  return {
    ...world,
    advance(to: number) {
      world.advance(to)
      catchingUp = moved()
    },
    caughtUp: () => catchingUp,
    onAdvance(hook: () => Promise<void>) {
      moved = hook
    },
  }
}

/** Fills in the defaults of the interface. */
const keepingOf = (given: GivenKeeping): Keeping => ({
  deliveryDays: given.deliveryDays ?? defaultKeeping.deliveryDays,
  notificationDays: given.notificationDays ?? defaultKeeping.notificationDays,
  fileMiB: given.fileMiB ?? defaultKeeping.fileMiB,
  textMiB: given.textMiB ?? defaultKeeping.textMiB,
  agents: given.agents ?? defaultKeeping.agents,
  deliverables: given.deliverables ?? defaultKeeping.deliverables,
  waitingEvents: given.waitingEvents ?? defaultKeeping.waitingEvents,
  idempotencyKeys: given.idempotencyKeys ?? defaultKeeping.idempotencyKeys,
})

const configOf = (options: OpenOptions, secretKey: Buffer, instanceId: string): Config => ({
  mode: options.mode,
  host: options.host ?? '127.0.0.1',
  port: options.port ?? 0,
  baseUrl: options.baseUrl ?? '',
  secretKey,
  instanceId,
  payments: options.payments ?? (options.mode === 'dev' ? 'sandbox' : 'manual'),
  currency: options.currency ?? 'USD',
  rateLimits: options.rateLimits ?? (options.mode === 'dev' ? 'off' : 'strict'),
  trustProxy: options.trustProxy ?? 0,
  heartbeatBatch: options.heartbeatBatch ?? heartbeatRule.batch,
  keeping: keepingOf(options.keeping ?? {}),
  adminTotp: options.adminTotp ?? 'optional',
  version,
})

/** Runs `work` every second. */
function ticking(market: Market, work: (market: Market) => Promise<void>, fault: string) {
  const { run, stop } = singly(() => work(market))
  let stopped = false
  const fail = (error: Error) => market.log({ type: 'error', message: `${fault}: ${error.message}` })
  const tick = () => {
    if (stopped) return
    run()
      .catch(fail)
      .then(() => {
        timer = market.world.after(TICK_MS, tick)
      })
  }
  let timer = market.world.after(TICK_MS, tick)
  return {
    run,
    async stop() {
      stopped = true
      timer.cancel()
      await stop()
    },
  }
}
