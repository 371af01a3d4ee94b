/**
 * Pages 1 to 5 of every list on Postgres: of an account with a thousand tasks among ten thousand, and among a million. And of an account
 * that has a million by itself, with whatever else it can read.
 */
import { createHash } from 'node:crypto'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { busyTask, type Crowd, crowdStatements, reviewedTask, SOMEONE, userId, workedTask } from '../support/crowd.ts'
import { type Ask, listsOf, listsOfAdmin, pathOf, readsOf } from '../support/lists.ts'
import { startObjectStore } from '../support/object-store.ts'
import { startDurable } from '../support/postgres-server.ts'
import type { Bench } from './bench.ts'
import { connected } from './pgbench.ts'
import { isMet, median, ms, type Row } from './table.ts'
import { start, type Worker } from './worker.ts'

const ROUNDS = 7
const DOUBTFUL = 1.3
const PAGES = [1, 2, 3, 4, 5]
const KEY = `svc_${'5'.repeat(48)}`

/** As many tasks for each trader on both sides, and the same people. */
const crowdOf = (tasks: number): Crowd => ({ tasks, people: 1_000, traders: tasks / 1_000, now: Date.now() })

/**
 * Counts and lists look through ten thousand at most, and an account with as many tasks of either side has reached that. Only one state in
 * twenty tasks reaches it later, so its count grows between both: to 3 ms at the database, and no further.
 */
const ofOne = (tasks: number): Crowd => ({ ...crowdOf(tasks), ofOne: true })

interface Side {
  worker: Worker
  crowd: Crowd
  /** Milliseconds until the whole answer is there. */
  time(ask: number, page: number | undefined): Promise<number>
}

export const pages = (bench: Bench): Promise<Row[]> =>
  withBoth(bench, [crowdOf(10_000), crowdOf(1_000_000)], (small, large) => compare(small, large, 'lists', isList))

/** Of one account. */
export const account = (bench: Bench): Promise<Row[]> =>
  withBoth(bench, [ofOne(20_000), ofOne(1_000_000)], async (small, large) => [
    ...(await compare(small, large, 'lists of one account', isList)),
    ...(await compare(small, large, 'other reads of one account', ask => !isList(ask))),
  ])

async function withBoth(
  bench: Bench,
  [few, many]: readonly [Crowd, Crowd],
  measure: (small: Side, large: Side) => Promise<Row[]>,
): Promise<Row[]> {
  const server = await startDurable()
  const { bucket, close } = await startObjectStore()
  const { ca } = await bench.bare()
  const open = async (crowd: Crowd) => {
    const name = `crowd_${crowd.tasks}`
    await connected(server.url, client => client.query(`CREATE DATABASE ${name}`))
    const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href
    const worker = start('./instance.ts')
    const port: number = await worker.ask('open', { url, bucket, ca })
    await fill(url, crowd)
    return sideOf(worker, port, crowd)
  }
  const [small, large] = [await open(few), await open(many)]
  try {
    return await measure(small, large)
  } finally {
    for (const { worker } of [small, large]) {
      await worker.ask('close')
      await worker.end()
    }
    await close()
    await server.stop()
  }
}

const fill = (url: string, crowd: Crowd) =>
  connected(url, async client => {
    // The rows are known to fit each other.
    await client.query('SET session_replication_role = replica')
    for (const sql of crowdStatements(crowd)) await client.query(sql)
    const hash = createHash('sha256').update(KEY).digest('hex')
    await client.query('UPDATE api_keys SET key_hash = $2 WHERE user_id = $1', [userId(SOMEONE), hash])
    await client.query('UPDATE users SET is_admin = 1 WHERE id = $1', [userId(SOMEONE)])
    await client.query('VACUUM ANALYZE')
  })

const asksOf = (crowd: Crowd): Ask[] => [
  ...listsOf(busyTask(crowd)),
  ...listsOfAdmin,
  ...readsOf({ busy: busyTask(crowd), reviewed: reviewedTask(crowd), worked: workedTask(crowd) }).filter(isForKey),
]

const isList = ({ name }: Ask) => 'list' in endpoints[name]

/** Asked with a key, of no simulator; and there are no files. */
function isForKey({ name }: Ask): boolean {
  const { auth, only }: Endpoint = endpoints[name]
  return auth !== 'session' && only !== 'dev' && name !== 'downloadFile'
}

function sideOf(worker: Worker, port: number, crowd: Crowd): Side {
  const asks = asksOf(crowd)
  return {
    worker,
    crowd,
    async time(ask, page) {
      const started = performance.now()
      const url = `http://127.0.0.1:${port}${pathOf(asks[ask]!, page)}`
      const reply = await fetch(url, { headers: { authorization: `Bearer ${KEY}` } })
      const text = await reply.text()
      if (reply.status !== 200) throw new Error(`${url}: ${text}`)
      return performance.now() - started
    },
  }
}

/** How they do with so many more tasks: in the middle, the worst, and each that is missed. */
async function compare(small: Side, large: Side, what: string, isWanted: (ask: Ask) => boolean): Promise<Row[]> {
  const found: Row[] = []
  for (const [at, ask] of asksOf(small.crowd).entries()) {
    if (!isWanted(ask)) continue
    const [few, many]: [number[], number[]] = [[], []]
    const measure = async (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        for (const page of isList(ask) ? PAGES : PAGES.map(() => undefined)) {
          few.push(await small.time(at, page))
          many.push(await large.time(at, page))
        }
      }
    }
    await measure(ROUNDS)
    // A few milliseconds are soon disturbed: what looks slow is looked at for longer.
    if (median(many) > median(few) * DOUBTFUL) await measure(ROUNDS * 5)
    const [ours, peer] = [median(many), median(few)]
    const name = `${ask.name} ${new URLSearchParams(ask.query)}`.trim()
    found.push({ name, ours: ms(ours), peer: ms(peer), ratio: ours / peer, wanted: '<= 1.5' })
  }
  found.sort((a, b) => b.ratio - a.ratio)
  const middle = median(found.map(({ ratio }) => ratio))
  const [few, many] = [small, large].map(({ crowd }) => crowd.tasks.toLocaleString('en'))
  const name = `${found.length} ${what} with ${many} tasks : with ${few}`
  return [
    { name: `${name}, median`, ours: '', peer: '', ratio: middle, wanted: '<= 1.5' },
    ...found.filter((row, at) => at === 0 || !isMet(row)).map(row => ({ ...row, name: `${name}: ${row.name}` })),
  ]
}
