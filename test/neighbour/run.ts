/**
 * The long run of the noisy neighbour: ten minutes unless `--seconds` says otherwise. `--by strangers`: the attacks of those who
 * know the pages alone. `--only` names some. `--engine postgres`: twice as much is allowed. Ends with 1 if anything is missed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { FULL_BYTES } from '../../src/store/embedded/fill-level.ts'
import { startDurable } from '../support/postgres-server.ts'
import { neighbours } from './neighbour.ts'

/** Its limit, from which on nothing new is accepted. */
const FULL_MB = FULL_BYTES / 1e6

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    people: { type: 'string', default: '40' },
    by: { type: 'string', default: 'insiders' },
    only: { type: 'string' },
    engine: { type: 'string', default: 'embedded' },
  },
})
const server = values.engine === 'postgres' ? await startDurable() : null
const times = server ? 2 : 1
const folder = mkdtempSync(join(tmpdir(), 'marketplace-neighbour-'))
const report = await neighbours(folder, {
  seconds: Number(values.seconds),
  people: Number(values.people),
  by: values.by as 'insiders' | 'strangers',
  ...(server && { postgres: server.url }),
  ...(values.only && { only: values.only.split(',') }),
})
await server?.stop()
console.log(report)
const goals: [what: string, met: boolean][] = [
  [`p99 of reads: ${report.reads.p99} ms (${100 * times})`, report.reads.p99 <= 100 * times],
  [`p99 of writes: ${report.writes.p99} ms (${250 * times})`, report.writes.p99 <= 250 * times],
  [
    `p99 of webhooks: ${report.webhooks.p99} ms (${1000 * times})`,
    report.webhooks.p99 <= 1000 * times && report.missing === 0,
  ],
  [`the thread was held for ${report.held.p999} ms at a time, p99.9 (10)`, report.held.p999 <= 10],
  [`peak memory: ${Math.round(report.peakMb)} MB (${400 * times})`, report.peakMb <= 400 * times],
  [`requests of others that failed: ${report.faults.length} (0)`, report.faults.length === 0],
  [
    `descriptors left: ${report.descriptors[1] - report.descriptors[0]} (20)`,
    report.descriptors[1] - report.descriptors[0] <= 20,
  ],
  [`database: ${Math.round(report.databaseMb)} MB (below ${Math.round(FULL_MB)})`, report.databaseMb < FULL_MB],
  [`errors in the log: ${report.errors.length} (0)`, report.errors.length === 0],
  // Of those who know the program: a slow machine takes none within the seconds of the short run.
  [
    'files of the hostile were delivered',
    'deliveries 200' in report.attacks || values.by === 'strangers' || values.only !== undefined,
  ],
  ['the process lives, ends with 0, and starts again', report.code === 0 && report.startsAgain],
]
for (const [what, met] of goals) console.log(`${met ? 'ok  ' : 'FAIL'} ${what}`)
if (goals.every(([, met]) => met)) rmSync(folder, { recursive: true, force: true })
else process.exitCode = 1
