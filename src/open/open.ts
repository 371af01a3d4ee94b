/** The composition root: opens everything a marketplace is made of, in order, and closes it in reverse. */
import type { RequestListener } from 'node:http'
import { endpoints } from '../api/endpoints/index.ts'
import {
  defaultKeeping,
  type GivenKeeping,
  heartbeat as heartbeatRule,
  type Keeping,
  quickRetryScheduleMs,
  retryScheduleMs,
} from '../api/limits.ts'
import { createAuthenticate, createTouch } from '../market/accounts/accounts.ts'
import { ensureAdministrator } from '../market/accounts/first-administrator.ts'
import { planHeartbeat } from '../market/checks/heartbeat.ts'
import { type Log, type StampedEntry, stamped, withShortValues } from '../market/log.ts'
import { createMarket, type Market } from '../market/market.ts'
import { Recording } from '../market/recording.ts'
import type { Key } from '../market/sealing.ts'
import { Tracing } from '../market/tracing.ts'
import { ClockScale } from '../market/upkeep/clock-scale.ts'
import { instanceIdOf } from '../market/upkeep/instance-id.ts'
import { watchClock } from '../market/upkeep/set-back-clock.ts'
import { verbs } from '../market/verbs.ts'
import { type Config, UsageError, version } from '../settings/config.ts'
import { FaultBoard } from '../sim/fault-board.ts'
import { measuredDb } from '../store/around.ts'
import type { Db, Tx } from '../store/db.ts'
import { watchedDb } from '../store/debug.ts'
import { noteFresh } from '../store/embedded/fresh-files.ts'
import { emptyDatabase } from '../store/embedded/initial-image.ts'
import { migrate, proveMigrated } from '../store/migrate.ts'
import { migrations } from '../store/migrations/index.ts'
import { openDatabase } from '../store/open.ts'
import { endAllTests } from '../store/tables/agents/agent-tests.ts'
import { releaseAllRequests } from '../store/tables/requests/idempotency-keys.ts'
import { releaseJobs } from '../store/tables/upkeep/jobs.ts'
import { consolePages } from '../web/console.ts'
import { contractPages } from '../web/docs-pages.ts'
import { loadAhead } from '../web/load-ahead.ts'
import { createMetrics, type Metrics } from '../web/metrics.ts'
import { metricsPage, serveMetrics } from '../web/metrics-page.ts'
import { publicPages, publicVerbs, refusalPages } from '../web/public/routes.ts'
import { PublicFiles, publicFilePages } from '../web/public/style.ts'
import { createServer, type Server } from '../web/server.ts'
import type { World } from '../world/world.ts'
import { startBackground } from './background.ts'
import type { Marketplace as PublicMarketplace } from './embed.ts'
import type { OpenOptions } from './options.ts'
import { keyFileOf, proveSecretKeys, replaceSecretKey, secretKeysFor } from './secret-key.ts'
import { loadTracer, tracedDb } from './tracing.ts'
import { type FilesOptions, openFiles } from './uploaded-files.ts'
import { openWorld } from './world.ts'

export interface Marketplace extends PublicMarketplace {
  readonly market: Market
}

// A little less than the ten seconds of A-4, because making everything durable takes time too.
const GRACE_MS = 9_000

/** Opens the database, migrates it and listens. If a step fails, it closes everything and throws an error for people. */
export async function openMarketplace(options: OpenOptions): Promise<Marketplace> {
  // A program in JavaScript has no compiler that asks for it.
  if (options.file === undefined) throw new UsageError(FILE_NEEDED)
  const { metrics, recording, log, setClock } = openLog(options)
  const closers: Closer[] = [async () => metrics.close()]
  const closeAll = () => closeInReverse(closers)
  const { file, postgres, secretKey: given, metricsPort, bounds = {}, debug } = options
  if (postgres && given === undefined) throw new UsageError(KEY_NEEDED)
  const undoFresh = file === null ? async () => {} : await noteFresh(file, folderOf(options) ?? '')
  try {
    const tracer = options.tracing ? await loadTracer() : null
    const opened = await openDb(options, log, metrics)
    const db = tracer ? tracedDb(opened, tracer) : opened
    closers.push(() => db.close())
    const { replaces, ...keys } = await secretKeysFor(db, {
      given,
      file,
      renew: options.newSecretKey,
      isDev: options.mode === 'dev',
    })
    const world = await openWorld(options, db)
    setClock(world)
    closers.push(() => world.egress.close())
    closers.push(async () => world.mail?.close())
    if (!replaces) await proveSecretKeys(db, world, keys)
    const files = options.storage?.files ?? (await openFiles(filesOf(options, log), { db, world }))
    closers.push(() => files.close())
    const config = configOf(options, keys, await instanceIdOf(db))
    const keyFile = file === null || given !== undefined ? null : keyFileOf(file, config)
    const faults =
      options.mode === 'dev' ? new FaultBoard(log, () => world.bytes(18).toString('base64url'), world.now) : null
    const market = createMarket({ db, files, world, config, log, recording, faults, keyFile })
    market.memory.of(Tracing).tracer = tracer
    if (replaces) await replaceSecretKey(market)
    if (options.mode === 'serve') await loadAhead(world)
    if (options.admin) await ensureAdministrator(market, options.admin)
    await planHeartbeat(market)
    await watchClock(market)
    const authenticate = createAuthenticate(world, createTouch(market))
    const pages = pagesOf(market, metrics, options)
    const around = faults ? (serve: RequestListener) => faults.around(serve) : undefined
    const server = createServer({
      endpoints: { ...endpoints, ...publicPages },
      verbs: { ...verbs, ...publicVerbs },
      market,
      authenticate,
      pages,
      refusalPage: refusalPages(market),
      bounds,
      around,
      debug: debug?.http,
    })
    metrics.watch(server.figures)
    const { url } = await server.listen()
    closers.push(() => server.close(0))
    const metricsServer = metricsPort === undefined ? null : await serveMetrics(market, metrics, metricsPort)
    closers.push(async () => metricsServer?.close())
    const background = startBackground(market)
    if (options.clockScale !== undefined) market.memory.of(ClockScale).set(market, options.clockScale)
    let closing: Promise<void> | undefined
    return {
      market,
      url,
      metricsPort: metricsServer?.port ?? null,
      file: options.file,
      runDue: background.run,
      close(graceMs = GRACE_MS) {
        closing ??= retire({ world, server }, graceMs > 0 ? options.lameDuckMs : 0)
          .then(() => endWork({ world, server, background }, graceMs))
          .then(closeAll)
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

/** Lets balancers see that it is to go, before it takes no more connections. */
async function retire({ world, server }: Pick<Working, 'world' | 'server'>, ms = 0): Promise<void> {
  if (ms === 0) return
  server.retire()
  await new Promise<void>(resolve => world.after(ms, resolve))
}

/** Ends what is under way: at once what can be done again after the next start, and the rest within `graceMs`. */
async function endWork({ world, server, background }: Working, graceMs: number): Promise<void> {
  // An agent may keep a webhook waiting for longer than a closing marketplace waits; the webhook is sent again after the
  // start.
  const cutOff = world.after(graceMs, () => {
    void world.egress.close()
    void world.mail?.close()
  })
  await background.stopTests()
  await server.close(graceMs)
  await background.stop()
  cutOff.cancel()
}

interface Working {
  world: World
  server: Server
  background: ReturnType<typeof startBackground>
}

/** What the log passes on its way: it is cut, counted and stamped. */
function openLog(options: OpenOptions) {
  const recording = recordingOf(options)
  const metrics = createMetrics()
  const write = (entry: StampedEntry) => {
    recording?.entries.add(entry)
    options.log?.(entry)
  }
  const { log, setClock } = stamped(write, options.world ?? machineClock)
  return { metrics, recording, setClock, log: metrics.tap(withoutLooks(withShortValues(log))) }
}

/** Whoever looks into a simulator, as its pages do all the time, would see himself looking. */
const withoutLooks =
  (log: Log): Log =>
  entry => {
    const isLook =
      entry.type === 'request' && entry.method === 'GET' && entry.status < 400 && entry.route?.startsWith('/api/dev/')
    if (!isLook) log(entry)
  }

const machineClock = { now: Date.now, realNow: Date.now }

const pagesOf = (market: Market, metrics: Metrics, { metricsToken }: OpenOptions) => ({
  ...contractPages(endpoints, market.config),
  ...(market.config.console === 'on' && consolePages(market.config, market.memory.of(PublicFiles))),
  ...publicFilePages(market.config, market.memory.of(PublicFiles)),
  '/metrics': metricsPage(market, metrics, metricsToken),
})

function recordingOf({ mode, onExchange }: OpenOptions): Recording | null {
  if (mode === 'dev') return new Recording(onExchange)
  if (onExchange)
    throw new UsageError('Exchanges hold signatures and the words of people, so a deployment records none.')
  return null
}

type Closer = () => Promise<unknown>

/** If one part fails to close, the others are closed all the same. */
async function closeInReverse(closers: Closer[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of closers.splice(0).reverse()) await close().catch(error => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

const FILE_NEEDED = 'openMarketplace needs `file`: the path of its database, or null for one in memory or on Postgres.'
const KEY_NEEDED =
  'With Postgres the key that seals webhook secrets must be given, the same to every instance: MARKETPLACE_SECRET_KEY, ' +
  '32 bytes as base64 (for example from: openssl rand -base64 32).'

async function openDb(options: OpenOptions, log: Log, metrics: Metrics): Promise<Db> {
  const { file, postgres, debug, storage } = options
  const open = storage?.openDatabase ?? openDatabase
  const opened = await open({
    file,
    image: file === null && !postgres && !storage ? await emptyDatabase() : undefined,
    postgres,
    fullBytes: options.dbLimit,
    holder: holderOf(options),
    onFatal: fatally(options, log),
    warn: message => log({ type: 'warning', message }),
  })
  const measured = measuredDb(opened, metrics.unit)
  const db = debug?.sql ? watchedDb(measured, debug.sql) : measured
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

/** Fills in the defaults of the interface. */
const keepingOf = (given: GivenKeeping): Keeping => ({
  deliveryDays: given.deliveryDays ?? defaultKeeping.deliveryDays,
  notificationDays: given.notificationDays ?? defaultKeeping.notificationDays,
  fileMiB: given.fileMiB ?? defaultKeeping.fileMiB,
  allFilesMiB: given.allFilesMiB ?? defaultKeeping.allFilesMiB,
  textMiB: given.textMiB ?? defaultKeeping.textMiB,
  agents: given.agents ?? defaultKeeping.agents,
  deliverables: given.deliverables ?? defaultKeeping.deliverables,
  waitingEvents: given.waitingEvents ?? defaultKeeping.waitingEvents,
  idempotencyKeys: given.idempotencyKeys ?? defaultKeeping.idempotencyKeys,
})

const configOf = (options: OpenOptions, keys: Key, instanceId: string): Config => ({
  mode: options.mode,
  host: options.host ?? '127.0.0.1',
  port: options.port ?? 0,
  baseUrl: options.baseUrl ?? '',
  ...keys,
  instanceId,
  payments: options.payments ?? (options.mode === 'dev' ? 'sandbox' : 'manual'),
  currency: options.currency ?? 'USD',
  rateLimits: options.rateLimits ?? (options.mode === 'dev' ? 'off' : 'strict'),
  trustProxy: options.trustProxy ?? 0,
  heartbeatBatch: options.heartbeatBatch ?? heartbeatRule.batch,
  keeping: keepingOf(options.keeping ?? {}),
  retryScheduleMs: options.mode === 'dev' && options.retries === 'quick' ? quickRetryScheduleMs : retryScheduleMs,
  adminTotp: options.adminTotp ?? 'optional',
  console: options.console ?? 'on',
  brand: options.brand ?? { name: null, colors: null, logo: null },
  version,
})
