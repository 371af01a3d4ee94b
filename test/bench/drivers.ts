/** What a submit asks of Postgres, sent by our own driver code and by packages that pipeline by themselves. */
import { readFileSync } from 'node:fs'
import { connected } from './pgbench.ts'
import type { PipelinedPeer } from './pipelined-peers.ts'
import type { Breath } from './pipelines.ts'
import { compared, median, type Row, rateRow } from './table.ts'
import { start, type Worker } from './worker.ts'

const ROUNDS = 16
const SUBMITS = 400
const CONNECTIONS = 32

interface Measured {
  rate: number
  /** Processor time of our process for one, in µs. */
  cpu: number
  /** And of the server. */
  server: number
}

const drivers: readonly ('ours' | PipelinedPeer)[] = ['ours', 'pg', 'postgres']

/** Each round: new drafts for each driver, recorded and undone by another process, then sent. The first round warms up. */
export async function submitOverDrivers(url: string): Promise<Row[]> {
  const recorder = start('./pipelines.ts')
  await recorder.ask('open', { url, driver: 'ours', connections: 10 })
  await recorder.ask('furnish')
  const workers = await Promise.all(drivers.map(driver => opened(url, driver)))
  const found = drivers.map((): Measured[] => [])
  for (let round = 0; round <= ROUNDS; round++) {
    for (let i = 0; i < drivers.length; i++) {
      const at = (i + round) % drivers.length
      const transactions: Breath[][] = await recorder.ask('record', SUBMITS)
      const measured = await measure(url, workers[at]!, transactions)
      if (round > 0) found[at]!.push(measured)
    }
  }
  await proveSubmitted(url, SUBMITS * drivers.length * (ROUNDS + 1))
  await Promise.all([recorder, ...workers].map(worker => worker.end()))
  const [ours] = found as [Measured[]]
  const rates = (all: readonly Measured[]) => all.map(({ rate }) => rate)
  drivers.forEach((driver, at) => {
    const [cpu, server] = (['cpu', 'server'] as const).map(of => Math.round(median(found[at]!.map(one => one[of]))))
    console.log(`A submit's statements over ${driver}: ${cpu} µs of processor time here, ${server} of the server`)
  })
  return drivers
    .map((driver, at) => rateRow(`submit's statements : ${driver}`, compared(rates(ours), rates(found[at]!)), '>= 1.1'))
    .slice(1)
}

async function opened(url: string, driver: string): Promise<Worker> {
  const worker = start('./pipelines.ts')
  await worker.ask('open', { url, driver, connections: CONNECTIONS })
  return worker
}

async function measure(url: string, worker: Worker, transactions: Breath[][]): Promise<Measured> {
  const before = await serverTime(url)
  const measured = await worker.ask('run', transactions)
  return { ...measured, server: ((await serverTime(url)) - before) / transactions.length }
}

async function proveSubmitted(url: string, count: number): Promise<void> {
  const sql = `SELECT COUNT(*) AS n FROM tasks WHERE status = 'pending'`
  const { rows } = await connected(url, client => client.query(sql))
  if (Number(rows[0].n) !== count) throw new Error(`${rows[0].n} of ${count} were submitted`)
}

/** Processor time of all processes that serve connections, in µs. A tick is 10 ms. */
async function serverTime(url: string): Promise<number> {
  const { rows } = await connected(url, client => client.query('SELECT pid FROM pg_stat_activity'))
  let ticks = 0
  for (const { pid } of rows) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // the one that was asked is gone
    }
  }
  return ticks * 10_000
}
