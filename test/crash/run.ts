/**
 * The long run: crash images of the journal, changed bytes, failing operations; then the built program, killed (also three of it on
 * one Postgres), ended, traced and started again. Arguments: a seed, and the names of parts (all unless some are named).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crashes, failures, failuresOfOperations, flips, interruptions } from '../store/crash.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { failingSync, fullDisk, writeUntilItFails } from './disk.ts'
import { drainRounds, endedTwice } from './ends.ts'
import { heartbeats } from './fleet-heartbeat.ts'
import { capsUnderKills } from './fleet-limits.ts'
import { fleetRounds } from './fleet-rounds.ts'
import { killRounds } from './kill.ts'
import { startAfter } from './start.ts'
import { canTrace, traceWrites } from './trace.ts'

const [given, ...wanted] = process.argv.slice(2)
const seed = Number(given ?? Date.now() % 1_000_000)

const parts: Record<string, (folder: string) => Promise<unknown>> = {
  async images() {
    await crashes(3_500, seed)
    const interrupted = await interruptions(1_500, seed)
    return `${3_500 + interrupted} crash images: nothing lost, no half transaction, no start refused`
  },
  bytes: () => flips(2000, seed),
  failures: () => failures(seed),
  'failures of operations': () => failuresOfOperations(seed, 100),
  kill: folder => killRounds(folder, 50, seed),
  instances: folder => onPostgres(() => fleetRounds(folder, { rounds: 25, seed })),
  heartbeats: folder => onPostgres(() => heartbeats(folder)),
  caps: folder =>
    onPostgres(async () => {
      const reports = []
      while (reports.length < 5) reports.push(await capsUnderKills(folder, 3))
      return reports
    }),
  async drain(folder) {
    return { tookMs: await drainRounds(folder, 5, seed, true) }
  },
  async twice(folder) {
    const code = await endedTwice(folder)
    if (code !== 130) throw new Error(`a second signal ended the server with ${code}, not 130`)
    return { code }
  },
  async start(folder) {
    const report = await startAfter(folder, 10_000, 5)
    const median = report.readyMs.sort((a, b) => a - b)[2]!
    return { ...report, median }
  },
  full: folder => writeUntilItFails(folder, fullDisk).then(failed),
  sync: folder => traced(() => writeUntilItFails(folder, failingSync).then(failed)),
  trace: folder => traced(() => traceWrites(folder, 100)),
}

/** Of the server that TEST_DATABASE_URL names, else of one of its own. */
async function onPostgres<Report>(proof: () => Promise<Report>): Promise<Report> {
  const server = await startPostgres()
  process.env.TEST_DATABASE_URL = server.url
  return proof().finally(() => server.stop())
}

function failed<Report extends { code: number | null; said: string }>(report: Report): Report {
  if (report.code === 1 && report.said.includes("can't be written")) return report
  throw new Error(`the server ended with ${report.code}: ${report.said}`)
}

/** Where it can't be proved, that is a failure too: nobody should take silence for a proof. */
function traced<Report>(proof: () => Promise<Report>): Promise<Report> {
  if (canTrace()) return proof()
  throw new Error('NOT PROVED: strace is not here, or may not trace a process. Install it and run this again.')
}

console.log(`seed ${seed}`)
for (const [name, part] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const folder = mkdtempSync(join(tmpdir(), `marketplace-crash-${name}-`))
  try {
    console.log(name, await part(folder))
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    process.exitCode = 1
    console.log(`${name} FAILED; its files are in ${folder}`)
    console.log(error)
  }
}
console.log(process.exitCode ? 'FAILED' : 'all passed')
