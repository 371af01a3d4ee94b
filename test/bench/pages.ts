/** Pages 1 to 5 of every list on Postgres: of an account with a thousand tasks among ten thousand, and among a million. */
import { createHash } from 'node:crypto'
import { busyTask, type Crowd, crowdStatements, SOMEONE, userId } from '../support/crowd.ts'
import { listsOf, listsOfAdmin, pathOf } from '../support/lists.ts'
import { startObjectStore } from '../support/object-store.ts'
import { startDurable } from '../support/postgres-server.ts'
import type { Bench } from './bench.ts'
import { connected } from './pgbench.ts'
import { median, ms, type Row } from './table.ts'
import { start, type Worker } from './worker.ts'

const ROUNDS = 7
const DOUBTFUL = 1.3
const PAGES = [1, 2, 3, 4, 5]
const KEY = `svc_${'5'.repeat(48)}`

/** As many tasks for each trader on both sides, and the same people. */
const crowdOf = (tasks: number): Crowd => ({ tasks, people: 1_000, traders: tasks / 1_000, now: Date.now() })
const [SMALL, LARGE] = [crowdOf(10_000), crowdOf(1_000_000)]

interface Side {
  worker: Worker
  /** Milliseconds until the whole answer is there. */
  time(list: number, page: number): Promise<number>
}

export async function pages(bench: Bench): Promise<Row[]> {
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
  const [small, large] = [await open(SMALL), await open(LARGE)]
  try {
    return await compare(small, large)
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

const asksOf = (crowd: Crowd) => [...listsOf(busyTask(crowd)), ...listsOfAdmin]

function sideOf(worker: Worker, port: number, crowd: Crowd): Side {
  const asks = asksOf(crowd)
  return {
    worker,
    async time(list, page) {
      const started = performance.now()
      const url = `http://127.0.0.1:${port}${pathOf(asks[list]!, page)}`
      const reply = await fetch(url, { headers: { authorization: `Bearer ${KEY}` } })
      const text = await reply.text()
      if (reply.status !== 200) throw new Error(`${url}: ${text}`)
      return performance.now() - started
    },
  }
}

/** The list that suffers most from a hundred times the tasks, and how all of them do. */
async function compare(small: Side, large: Side): Promise<Row[]> {
  const found: Row[] = []
  for (const [list, { name, query }] of asksOf(SMALL).entries()) {
    const [few, many]: [number[], number[]] = [[], []]
    const measure = async (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        for (const page of PAGES) {
          few.push(await small.time(list, page))
          many.push(await large.time(list, page))
        }
      }
    }
    await measure(ROUNDS)
    // A few milliseconds are soon disturbed: what looks slow is looked at for longer.
    if (median(many) > median(few) * DOUBTFUL) await measure(ROUNDS * 5)
    const [ours, peer] = [median(many), median(few)]
    const what = `${name} ${new URLSearchParams(query)}`.trim()
    found.push({ name: what, ours: ms(ours), peer: ms(peer), ratio: ours / peer, wanted: '<= 1.5' })
  }
  const worst = found.sort((a, b) => b.ratio - a.ratio)[0]!
  const middle = median(found.map(({ ratio }) => ratio))
  const name = `${found.length} lists with ${LARGE.tasks.toLocaleString('en')} tasks : with ${SMALL.tasks.toLocaleString('en')}`
  return [
    { name: `${name}, median`, ours: '', peer: '', ratio: middle, wanted: '<= 1.5' },
    { ...worst, name: `${name}, worst: ${worst.name}` },
  ]
}
