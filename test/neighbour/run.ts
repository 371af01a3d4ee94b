/** The long run of the noisy neighbour: ten minutes unless `--seconds` says otherwise; `--only` names attacks. Ends with 1 if anything is missed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { FULL_BYTES } from '../../src/store/embedded/fill-level.ts'
import { neighbours } from './neighbour.ts'

/** Its limit, from which on nothing new is accepted. */
const FULL_MB = FULL_BYTES / 1e6

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    people: { type: 'string', default: '40' },
    only: { type: 'string' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'marketplace-neighbour-'))
const report = await neighbours(folder, {
  seconds: Number(values.seconds),
  people: Number(values.people),
  ...(values.only && { only: values.only.split(',') }),
})
console.log(report)
const goals: [what: string, met: boolean][] = [
  [`p99 of reads: ${report.reads.p99} ms (100)`, report.reads.p99 <= 100],
  [`p99 of writes: ${report.writes.p99} ms (250)`, report.writes.p99 <= 250],
  [`p99 of webhooks: ${report.webhooks.p99} ms (1000)`, report.webhooks.p99 <= 1000 && report.missing === 0],
  [`the thread was held for ${report.held.p999} ms at a time, p99.9 (10)`, report.held.p999 <= 10],
  [`peak memory: ${Math.round(report.peakMb)} MB (400)`, report.peakMb <= 400],
  [`requests of others that failed: ${report.faults.length} (0)`, report.faults.length === 0],
  [
    `descriptors left: ${report.descriptors[1] - report.descriptors[0]} (20)`,
    report.descriptors[1] - report.descriptors[0] <= 20,
  ],
  [`database: ${Math.round(report.databaseMb)} MB (below ${Math.round(FULL_MB)})`, report.databaseMb < FULL_MB],
  [`errors in the log: ${report.errors.length} (0)`, report.errors.length === 0],
  ['the process lives, ends with 0, and starts again', report.code === 0 && report.startsAgain],
]
for (const [what, met] of goals) console.log(`${met ? 'ok  ' : 'FAIL'} ${what}`)
if (goals.every(([, met]) => met)) rmSync(folder, { recursive: true, force: true })
else process.exitCode = 1
