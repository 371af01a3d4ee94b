/** The measurements over HTTP: reads, submits, webhooks. */

import { rates } from '../../src/api/limits.ts'
import { type Bench, type BenchServer, get, post } from './bench.ts'
import { median, ms, quantile, type Row, rateRow, rounds } from './table.ts'

const ROUNDS = 9
const ROUND_MS = 1200
const SUBMITS = 1500
const CONNECTIONS = 32
const REFUSED = 2_000
const SERVED = 200

const SORTS = ['popular', 'newest', 'price_asc', 'price_desc']
const listUrls = SORTS.flatMap(sort =>
  Array.from({ length: 50 }, (_, page) => `/api/agents?sort=${sort}&page=${page + 1}&limit=20`),
)

const bodies = async (port: number, urls: readonly string[], key?: string) => {
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  const pages: Record<string, string> = {}
  for (const url of urls) pages[url] = await (await fetch(`http://127.0.0.1:${port}${url}`, { headers })).text()
  return pages
}

async function reads(bench: Bench, urls: readonly string[], withKey: boolean) {
  const [server, bare] = [await bench.server(1000), await bench.bare()]
  const key = withKey ? server.key : undefined
  await bare.worker.ask('pages', await bodies(server.port, urls, key))
  const requests = urls.map(url => get(url, key))
  const load = { connections: CONNECTIONS, requests, ms: ROUND_MS }
  return rounds(
    ROUNDS,
    () => bench.load({ ...load, port: server.port }),
    () => bench.load({ ...load, port: bare.port }),
  )
}

export async function agentList(bench: Bench): Promise<Row[]> {
  const { worker } = await bench.server(1000)
  await worker.ask('write', 100)
  const both = await reads(bench, listUrls, false)
  await worker.ask('rest')
  return [rateRow('GET /api/agents, 200 URLs, a write every 100 ms : bare polka', both, '>= 0.3')]
}

const taskUrls = ({ tasks }: BenchServer) => tasks.map(id => `/api/tasks/${id}`)

export async function oneTask(bench: Bench): Promise<Row[]> {
  const both = await reads(bench, taskUrls(await bench.server(1000)), true)
  return [rateRow('GET /api/tasks/:id, 1,000 tasks : bare polka', both, '>= 0.25')]
}

async function submits(bench: Bench, { worker, port, key }: BenchServer) {
  const ids: string[] = await worker.ask('drafts', SUBMITS)
  const requests = ids.map(id => post(`/api/tasks/${id}/submit`, '', key))
  const rate = await bench.load({ port, connections: CONNECTIONS, requests })
  await worker.ask('settled')
  return rate
}

export async function submitOverHttp(bench: Bench): Promise<Row[]> {
  const [server, bare] = [await bench.server(1000), await bench.bare()]
  const url = taskUrls(server)[0]!
  const body = (await bodies(server.port, [url], server.key))[url]!
  const load = { port: bare.port, connections: CONNECTIONS, requests: [post('/echo', body)], ms: ROUND_MS }
  const both = await rounds(
    ROUNDS,
    () => submits(bench, server),
    () => bench.load(load),
  )
  return [rateRow('POST submit, dispatcher running : bare polka, echo', both, '>= 0.15')]
}

export async function latency(bench: Bench): Promise<Row[]> {
  const [server, bare] = [await bench.server(1000), await bench.bare()]
  const ids: string[] = await server.worker.ask('drafts', 300)
  await bare.worker.ask('arrivals')
  const committed: [string, bigint][] = await server.worker.ask('submitIdle', { ids, pauseMs: 10 })
  const arrived = new Map<string, bigint>(await bare.worker.ask('arrivals'))
  const waits = committed.map(([id, at]) => Number(arrived.get(id)! - at) / 1e6)
  const row = (name: string, value: number, wanted: string) => ({
    name: `commit to bytes at the agent, idle, ${name} in ms`,
    ours: ms(value),
    peer: '',
    ratio: value,
    wanted,
  })
  return [row('p50', median(waits), '<= 5'), row('p99', quantile(waits, 0.99), '<= 25')]
}

/** What an address over its limit costs of the processor, in hundredths of what it would be served. */
export async function refused(bench: Bench): Promise<Row[]> {
  const { worker, port, key } = await bench.server(1000, 'strict')
  await worker.ask('lengthen', 10_000)
  const costOf = async (count: number, status: number, from: () => string) => {
    const requests = Array.from({ length: count }, () => get('/api/tasks?limit=100', key, from()))
    const before: number = await worker.ask('cpu')
    await bench.load({ port, connections: 2, requests, status })
    return ((await worker.ask('cpu')) - before) / count
  }
  let addresses = 0
  const newAddress = () => `10.0.${++addresses >> 8}.${addresses & 255}`
  const { ours, peer, ratio } = await rounds(
    ROUNDS,
    async () => {
      const address = newAddress()
      const cheap = Array.from({ length: rates.general.limit }, () => get('/api/categories', undefined, address))
      await bench.load({ port, connections: 1, requests: cheap })
      return costOf(REFUSED, 429, () => address)
    },
    () => costOf(SERVED, 200, newAddress),
  )
  const name = 'refused, in hundredths of a served list of 100 tasks of 10 kB'
  return [{ name, ours: ms(ours), peer: ms(peer), ratio: ratio * 100, wanted: '<= 1' }]
}

/** The same with a hundred times the tasks; the peer is our own small server. */
export async function manyTasks(bench: Bench): Promise<Row[]> {
  const [small, large] = [await bench.server(1000), await bench.server(100_000)]
  const name = (what: string) => `${what} with 100,000 tasks : with 1,000`
  const rows: Row[] = []
  const add = async (what: string, rate: (server: BenchServer) => Promise<number>) => {
    const both = await rounds(
      ROUNDS,
      () => rate(large),
      () => rate(small),
    )
    rows.push(rateRow(name(what), both, '>= 0.8'))
  }
  const read = (requests: (server: BenchServer) => string[]) => (server: BenchServer) =>
    bench.load({ port: server.port, connections: CONNECTIONS, requests: requests(server), ms: ROUND_MS })
  await add(
    'GET /api/agents',
    read(() => listUrls.map(url => get(url))),
  )
  await add(
    'GET /api/tasks/:id',
    read(server => taskUrls(server).map(url => get(url, server.key))),
  )
  await add('POST submit', server => submits(bench, server))
  const { busy, quiet } = await large.worker.ask('stall')
  rows.push({
    name: 'longest stall while a snapshot of 100,000 tasks is made, in ms (peer: idle)',
    ours: ms(busy),
    peer: ms(quiet),
    ratio: busy,
    wanted: '<= 25',
  })
  return rows
}
