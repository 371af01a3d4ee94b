/** One Postgres: what an instance reaches of what the server alone can do, and whether instances share without overlap. */
import type { BucketOptions } from '../../src/world/bucket.ts'
import { startObjectStore } from '../support/object-store.ts'
import { startDurable } from '../support/postgres-server.ts'
import { type Bench, get, post } from './bench.ts'
import { submitOverDrivers } from './drivers.ts'
import type { Draft } from './many-buyers.ts'
import { connected, pgbenchSubmits } from './pgbench.ts'
import { perSecond, type Row, rateRow, rounds } from './table.ts'
import { start } from './worker.ts'

const ROUNDS = 3
const SUBMITS = 3200
const CONNECTIONS = 32
const READ_MS = 1500
const EVENTS = 10_000

export async function postgres(bench: Bench): Promise<Row[]> {
  const server = await startDurable()
  const store = await startObjectStore() // two instances share one
  const place = { server: server.url, pgbench: server.pgbench, bucket: store.bucket }
  try {
    return [
      ...(await oneInstance(bench, place)),
      ...(await submitOverDrivers(await makeDatabase(server.url, 'drivers'))),
      ...(await twoDispatchers(bench, place)),
    ]
  } finally {
    await store.close()
    await server.stop()
  }
}

interface Place {
  server: string
  pgbench: string
  bucket: BucketOptions
}

async function makeDatabase(server: string, name: string): Promise<string> {
  await connected(server, client => client.query(`CREATE DATABASE ${name}`))
  return Object.assign(new URL(server), { pathname: `/${name}` }).href
}

async function oneInstance(bench: Bench, { server, pgbench, bucket }: Place): Promise<Row[]> {
  const url = await makeDatabase(server, 'one')
  const bare = await bench.bare()
  const instance = start('./instance.ts')
  const port: number = await instance.ask('open', { url, bucket, ca: bare.ca })
  await instance.ask('furnish', bare.sinkPort)
  const drafts = (agents?: number): Promise<Draft[]> => instance.ask('drafts', { count: SUBMITS, agents })
  const submits = async (agents?: number) => {
    const ours = async () => {
      const requests = (await drafts(agents)).map(({ id, key }) => post(`/api/tasks/${id}/submit`, '', key))
      const rate = await bench.load({ port, connections: CONNECTIONS, requests })
      await instance.ask('settled')
      return rate
    }
    const peer = async () => {
      const rate = await pgbenchSubmits(url, pgbench, await drafts(agents), CONNECTIONS)
      await instance.ask('wake')
      await instance.ask('settled')
      return rate
    }
    await ours() // not counted: what is compiled and planned then is so in all rounds
    return rounds(ROUNDS, ours, peer)
  }
  const name = 'POST submit on Postgres, 32 clients'
  const rows = [
    rateRow(`${name} : pgbench, one statement`, await submits(), '>= 0.6'),
    rateRow(`${name}, one agent : pgbench`, await submits(1), '>= 0.5'),
    await readsById(bench, port, (await drafts()).slice(0, 1000)),
  ]
  await instance.ask('close')
  await instance.end()
  return rows
}

async function readsById(bench: Bench, port: number, tasks: readonly Draft[]): Promise<Row> {
  const bare = await bench.bare()
  const pages: Record<string, string> = {}
  for (const { id, key } of tasks) {
    const url = `/api/tasks/${id}`
    const reply = await fetch(`http://127.0.0.1:${port}${url}`, { headers: { authorization: `Bearer ${key}` } })
    pages[url] = await reply.text()
  }
  await bare.worker.ask('pages', pages)
  const requests = tasks.map(({ id, key }) => get(`/api/tasks/${id}`, key))
  const load = { connections: CONNECTIONS, requests, ms: READ_MS }
  await bench.load({ ...load, port })
  const reads = await rounds(
    ROUNDS,
    () => bench.load({ ...load, port }),
    () => bench.load({ ...load, port: bare.port }),
  )
  return rateRow('GET /api/tasks/:id on Postgres : bare polka', reads, '>= 0.2')
}

/** Two instances find the same 10,000 events; the sink counts what comes. */
async function twoDispatchers(bench: Bench, { server, bucket }: Place): Promise<Row[]> {
  const url = await makeDatabase(server, 'two')
  const bare = await bench.bare()
  const first = start('./instance.ts')
  await first.ask('open', { url, bucket, ca: bare.ca })
  await first.ask('furnish', bare.sinkPort)
  const drafts: Draft[] = await first.ask('drafts', { count: EVENTS })
  const second = start('./instance.ts')
  await second.ask('open', { url, bucket, ca: bare.ca })
  await bare.worker.ask('counts')
  await writeEvents(url, drafts)
  const started = performance.now()
  await Promise.all([first.ask('wake'), second.ask('wake')])
  await first.ask('settled')
  const seconds = (performance.now() - started) / 1000
  const shares: number[] = [await first.ask('sent'), await second.ask('sent')]
  const { ids, requests }: { ids: number; requests: number } = await bare.worker.ask('counts')
  await Promise.all([first.ask('close'), second.ask('close')])
  await Promise.all([first.end(), second.end()])
  const name = `${EVENTS.toLocaleString('en')} events by two instances`
  const rate = perSecond(EVENTS / seconds)
  return [
    { name: `${name}: events that did not come`, ours: rate, peer: '', ratio: EVENTS - ids, wanted: '<= 0' },
    { name: `${name}: that came twice`, ours: rate, peer: '', ratio: requests - ids, wanted: '<= 0' },
    {
      name: `${name}: smaller share`,
      ours: shares.join(' + '),
      peer: '',
      ratio: Math.min(...shares) / EVENTS,
      wanted: '>= 0.2',
    },
  ]
}

/** One event for each task, as if it had been submitted. */
const writeEvents = (url: string, drafts: readonly Draft[]) =>
  connected(url, client =>
    client.query(
      `INSERT INTO deliveries (id, agent_id, task_id, event, body, state, next_at, created_at)
       SELECT 'dlv_' || substr(t.id, 6), t.agent_id, t.id, 'task.submitted', '{"event":"task.submitted"}', 'pending', $2, $2
       FROM unnest($1::text[]) AS given (id) JOIN tasks t ON t.id = given.id`,
      [drafts.map(({ id }) => id), Date.now()],
    ),
  )
