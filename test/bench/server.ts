/** Our side: the built marketplace on a file, furnished with agents and tasks, in a process of its own. */
import { copyFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Market } from '../../src/market/market.ts'
import type { Marketplace } from '../../src/open/open.ts'
import type { SqliteDb } from '../../src/store/embedded/database.ts'
import { noFiles } from '../support/no-files.ts'
import { built } from './built.ts'
import { configOf } from './config.ts'
import { buyer, type Furnished, furnish, insertDrafts } from './furnish.ts'
import { recording, type Step } from './record.ts'
import { answer } from './worker.ts'

interface Options {
  file: string
  agents: number
  tasks: number
  sinkPort: number
  ca: string
  /** Off unless given; addresses are then those that a proxy names. */
  rateLimits?: 'strict'
}

const { openMarketplace } = await built<typeof import('../../src/open/open.ts')>('open/open')
const { verbs } = await built<typeof import('../../src/market/verbs.ts')>('market/verbs')
const { startDispatcher } =
  await built<typeof import('../../src/market/webhooks/dispatcher.ts')>('market/webhooks/dispatcher')

let market: Market
let file = ''
let furnished: Furnished
let marketplace: Marketplace | undefined
let writing: NodeJS.Timeout | undefined
/** Called for each webhook that is not tried again, once that is durable. */
let onEnded = () => {}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const database = () => market.db as SqliteDb
const fail = (error: Error) => {
  throw error
}

const submit = (id: string, before?: () => void) =>
  market.db.write(tx => {
    if (before) tx.afterCommit(before)
    return verbs.submitTask({ ...market, tx, actor: buyer(furnished) }, { params: { id }, query: {}, body: undefined })
  })

const undo = new Error('undone')

/** The statements of one submit, done on this database and undone. */
async function record(id: string): Promise<Step[]> {
  const steps: Step[] = []
  const work = market.db.write(async tx => {
    const ctx = { ...market, tx: recording(tx, steps), actor: buyer(furnished) }
    await verbs.submitTask(ctx, { params: { id }, query: {}, body: undefined })
    throw undo
  })
  await work.catch(error => error === undo || fail(error))
  return steps
}

const openDeliveries = async () => {
  const count = 'SELECT COUNT(*) AS count FROM deliveries WHERE ended_at IS NULL'
  return (await market.db.read(q => q.get<{ count: number }>(count)))!.count
}

async function settled(): Promise<void> {
  // What our own thread still does aside would slow the peer.
  while ((await openDeliveries()) > 0 || database().stats().folding) await pause(20)
}

async function longestStall(work: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  await work()
  delays.disable()
  return delays.max / 1e6
}

answer({
  /** The whole, as it is deployed: server, dispatcher, clock. A simulator would record each exchange besides. */
  async open(options: Options) {
    file = options.file
    const { createWorld } = await built<typeof import('../../src/world/real.ts')>('world/real')
    const world = createWorld({ requireHttps: true, allowLoopback: true, ca: options.ca })
    const { rateLimits = 'off' } = options
    const trustProxy = rateLimits === 'off' ? 0 : 1
    const asDeployed = { mode: 'serve', payments: 'sandbox', rateLimits, trustProxy } as const
    marketplace = await openMarketplace({ ...asDeployed, file, world, onFatal: fail })
    market = marketplace.market
    furnished = await furnish(market, options)
    return { port: Number(new URL(marketplace.url).port), key: furnished.key, tasks: furnished.taskIds }
  },

  /** The market alone: nobody listens, nothing is sent. */
  async openQuiet(options: Options) {
    file = options.file
    const { openSqlite } = await built<typeof import('../../src/store/embedded/database.ts')>('store/embedded/database')
    const { migrate } = await built<typeof import('../../src/store/migrate.ts')>('store/migrate')
    const { migrations } = await built<typeof import('../../src/store/migrations/index.ts')>('store/migrations/index')
    const { createWorld } = await built<typeof import('../../src/world/real.ts')>('world/real')
    const db = await openSqlite({ file, onFatal: fail })
    const world = createWorld({ requireHttps: true, allowLoopback: true, ca: options.ca })
    await migrate(db, migrations, Date.now)
    const { createMarket } = await built<typeof import('../../src/market/market.ts')>('market/market')
    const secretKey = Buffer.alloc(32, 7)
    market = createMarket({
      db,
      files: noFiles,
      world,
      log: line => line.type === 'webhook' && line.outcome !== 'retry' && onEnded(),
      config: configOf(secretKey),
    })
    furnished = await furnish(market, options)
  },

  /** Makes tasks that can be submitted, and answers their ids. */
  drafts: (count: number) => insertDrafts(market, furnished, count),

  /** Submits tasks with `atOnce` under way; answers how many a second. */
  async submit({ ids, atOnce }: { ids: string[]; atOnce: number }) {
    const started = performance.now()
    let at = 0
    const worker = async () => {
      while (at < ids.length) await submit(ids[at++]!)
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    return ids.length / ((performance.now() - started) / 1000)
  },

  /** Submits one task after the other with a pause; answers when each was durable, by its delivery. */
  async submitIdle({ ids, pauseMs }: { ids: string[]; pauseMs: number }) {
    const committed: [string, bigint][] = []
    for (const id of ids) {
      await submit(id, () => committed.push([id, process.hrtime.bigint()]))
      await pause(pauseMs)
    }
    await settled()
    const deliveries = await market.db.read(q =>
      q.all<{ id: string; taskId: string }>('SELECT id, task_id AS "taskId" FROM deliveries ORDER BY id'),
    )
    const byTask = new Map(deliveries.map(({ id, taskId }) => [taskId, id]))
    return committed.map(([taskId, at]): [string, bigint] => [byTask.get(taskId)!, at])
  },

  async record(ids: string[]) {
    const all: Step[][] = []
    for (const id of ids) all.push(await record(id))
    return all
  },

  snapshot: () => database().snapshot(),

  /** A plain SQLite file with all that is in the database. */
  async copy(to: string) {
    await database().snapshot()
    copyFileSync(file, to)
  },

  /** Sends what waits in the outbox; answers how many a second, logged. */
  async dispatch() {
    const count = await openDeliveries()
    let left = count
    const ended = new Promise<void>(resolve => {
      onEnded = () => --left === 0 && resolve()
    })
    const started = performance.now()
    const dispatcher = startDispatcher(market)
    if (count > 0) await ended
    const seconds = (performance.now() - started) / 1000
    await settled()
    await dispatcher.close()
    return count / seconds
  },

  /** Changes one agent of the list each `everyMs`. */
  write(everyMs: number) {
    let at = 0
    const { agentIds, builders } = furnished
    writing = setInterval(() => {
      const of = at++ % agentIds.length
      const id = agentIds[of]!
      const actor = builders[of % builders.length]!
      const body = { tagline: `Written anew for the ${at}th time` }
      void market.db.write(tx => verbs.updateAgent({ ...market, tx, actor }, { params: { id }, query: {}, body }))
    }, everyMs)
  },

  rest: () => clearInterval(writing),

  settled,

  /** Gives each task a text of so many characters. */
  lengthen: (length: number) =>
    market.db.write(tx => tx.run('UPDATE tasks SET description = $1', ['w'.repeat(length)])),

  /** Processor time so far, in ms. */
  cpu() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },

  /** The longest that the event loop stood still while a snapshot was made, and while none was, in ms. */
  stall: async () => ({
    quiet: await longestStall(() => pause(500)),
    busy: await longestStall(() => database().snapshot()),
  }),

  async close() {
    await marketplace?.close(0)
    if (!marketplace) await market.db.close()
  },
})
