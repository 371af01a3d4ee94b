/** The same statements over one driver: ours, pg's own pipeline, or the package `postgres`. In a process of its own. */

import type { Market } from '../../src/market/market.ts'
import type { Db, Step, Tx, Value } from '../../src/store/db.ts'
import { noFiles } from '../support/no-files.ts'
import { built } from './built.ts'
import { configOf } from './config.ts'
import { furnishForMany, type MakeDrafts } from './many-buyers.ts'
import { connectPeer, type PipelinedPeer } from './pipelined-peers.ts'
import { answer } from './worker.ts'

/** What a submit asks in one breath; the last one travels with COMMIT. */
export type Breath = readonly Ask[]
type Ask = { readonly how: 'all' | 'run' | 'runAll'; readonly steps: readonly Step[] }

interface DriverOptions {
  url: string
  driver: 'ours' | PipelinedPeer
  connections: number
}

const { openPostgres } = await built<typeof import('../../src/store/postgres/database.ts')>('store/postgres/database')
const { migrate } = await built<typeof import('../../src/store/migrate.ts')>('store/migrate')
const { migrations } = await built<typeof import('../../src/store/migrations/index.ts')>('store/migrations/index')
const { createWorld } = await built<typeof import('../../src/world/real.ts')>('world/real')
const { createMarket } = await built<typeof import('../../src/market/market.ts')>('market/market')
const { verbs } = await built<typeof import('../../src/market/verbs.ts')>('market/verbs')
const { createAuthenticate } =
  await built<typeof import('../../src/market/accounts/credentials.ts')>('market/accounts/credentials')
const { prefetcherOf } = await built<typeof import('../../src/market/tasks/prefetch.ts')>('market/tasks/prefetch')
const { endpoints } = await built<typeof import('../../src/api/endpoints/index.ts')>('api/endpoints/index')

let db: Db
let market: Market
let makeDrafts: MakeDrafts
let transact: (breaths: readonly Breath[]) => Promise<unknown>
let connections = 0

const undo = new Error('undone')

answer({
  async open({ url, driver, connections: count }: DriverOptions) {
    connections = count
    if (driver === 'ours') {
      db = await openPostgres({ url, poolSize: count })
      transact = breaths => db.write(tx => replay(tx, breaths))
    } else transact = await connectPeer(driver, url, count)
  },

  /** A marketplace that nobody serves and that sends nothing. Only for `ours`. */
  async furnish() {
    const world = createWorld({ requireHttps: true, allowLoopback: true })
    await migrate(db, migrations, Date.now)
    const config = configOf(Buffer.alloc(32, 7))
    market = createMarket({ db, files: noFiles, world, log: () => {}, config })
    makeDrafts = await furnishForMany(market, 1)
  },

  /** What the submits of so many new drafts ask, breath by breath. Only for `ours`. */
  async record(count: number): Promise<Breath[][]> {
    const drafts = await makeDrafts(count)
    const all: Breath[][] = []
    for (const draft of drafts) all.push(await record(draft))
    return all
  },

  /** Runs each as one transaction, over all connections; tells how many a second, and the processor time of one in µs. */
  async run(transactions: Breath[][]) {
    const cpu = process.cpuUsage()
    const started = performance.now()
    let at = 0
    const worker = async () => {
      while (at < transactions.length) await transact(transactions[at++]!)
    }
    await Promise.all(Array.from({ length: connections }, worker))
    const { user, system } = process.cpuUsage(cpu)
    const seconds = (performance.now() - started) / 1000
    return { rate: transactions.length / seconds, cpu: (user + system) / transactions.length }
  },
})

/** One submit as the server does it, undone. */
async function record({ id, key }: { id: string; key: string }): Promise<Breath[]> {
  const breaths: Ask[][] = []
  const authenticate = createAuthenticate(market.world)
  const prefetch = prefetcherOf(endpoints.submitTask, db)!
  const work = db.write(async plain => {
    breaths.length = 0
    const tx = listening(plain, breaths)
    const prefetched = prefetch(tx, id)
    const actor = (await authenticate.key(tx, key))!
    await verbs.submitTask({ ...market, tx, prefetched, actor }, { params: { id }, query: {}, body: undefined })
    throw undo
  })
  await work.catch(error => {
    if (error !== undo) throw error
  })
  return breaths
}

/** A breath ends when an answer is heard. */
function listening(tx: Tx, breaths: Ask[][]): Tx {
  let heard = true
  const note = (ask: Ask) => {
    if (heard) breaths.push([])
    heard = false
    breaths.at(-1)!.push(ask)
  }
  const hear = <T>(answer: Promise<T>): Promise<T> => {
    const listen = () => {
      heard = true
    }
    answer.then(listen, listen)
    return answer
  }
  const one = (how: 'all' | 'run', sql: string, values: readonly Value[] = []) =>
    note({ how, steps: [{ sql, values }] })
  return {
    changes: null,
    get(sql, values) {
      one('all', sql, values)
      return hear(tx.get(sql, values))
    },
    all(sql, values) {
      one('all', sql, values)
      return hear(tx.all(sql, values))
    },
    run(sql, values) {
      one('run', sql, values)
      return hear(tx.run(sql, values))
    },
    runAll(steps) {
      note({ how: 'runAll', steps: steps.map(({ sql, values }) => ({ sql, values })) })
      return tx.runAll(steps)
    },
    lock(table, id) {
      one('all', `SELECT id FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`, [id!])
      return hear(tx.lock(table, id!))
    },
    afterCommit: () => {},
  }
}

async function replay(tx: Tx, breaths: readonly Breath[]): Promise<void> {
  for (const breath of breaths) await Promise.all(breath.map(ask => asked(tx, ask)))
}

function asked(tx: Tx, { how, steps }: Ask): Promise<unknown> {
  if (how === 'runAll') return tx.runAll(steps)
  const [{ sql, values }] = steps as [Step]
  return tx[how](sql, values)
}
