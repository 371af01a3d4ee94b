/** Which tests come to which mutants: every file runs once, with all mutants off. */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Job } from '../support/jobs.ts'
import type { Bench } from './bench.ts'
import type { Passed } from './test-process.ts'

export interface Reach extends Job {
  readonly passed: boolean
  /** How long it takes when nothing is changed, from the start of its process on. */
  readonly ms: number
  readonly tests: readonly Passed[]
  /** Where it comes to outside of its tests: while it is loaded, and in what runs before or after them. */
  readonly numbers: readonly number[]
}

/** Of what a file does outside of its tests, the start of its process included. */
export const outsideMs = ({ ms, tests }: Reach) => Math.max(0, ms - tests.reduce((sum, test) => sum + test.ms, 0))

/** For one test. Node may stand still for ever as it ends, so nobody waits for that for long (nodejs/node#54918). */
const TIMEOUT_MS = 90_000

/** What is noted in the file already is taken as it is, so that a run that was cut off goes on. */
export async function reachOf(bench: Bench, jobs: readonly Job[], noted: string): Promise<Reach[]> {
  const isSame = (a: Job, b: Job) => a.file === b.file && a.engine === b.engine && a.length === b.length
  const kept = existsSync(noted) ? readLines<Reach>(noted) : []
  const known = kept.filter(reach => jobs.some(job => isSame(job, reach)))
  const isKnown = (job: Job) => known.some(reach => isSame(job, reach))
  const found = await bench.inWorkers(
    jobs.filter(job => !isKnown(job)),
    async (job, worker) => {
      const first = await runOnce(bench, job, worker)
      // Left out for good if it fails, so a moment of bad luck gets another try.
      const reach = first.passed ? first : await runOnce(bench, job, worker)
      appendFileSync(noted, `${JSON.stringify(reach)}\n`)
      console.log(
        `${reach.passed ? 'ok  ' : 'FAIL'} ${job.file} (${job.engine})  ${reach.ms} ms  ${reach.tests.length}`,
      )
      return reach
    },
  )
  return [...known, ...found]
}

export async function runOnce(
  bench: Pick<Bench, 'folder' | 'start' | 'stop'>,
  job: Job,
  worker: string,
): Promise<Reach> {
  const path = join(bench.folder, `${worker}.reach`)
  rmSync(path, { force: true })
  const process = bench.start(job, worker, { MUTANT_REACH: path })
  const started = performance.now()
  const { end, at, passed, numbers } = await process.run(job.file, null, () => TIMEOUT_MS)
  const ms = Math.round(performance.now() - started)
  if (end !== 'passed') console.log(`${end} at '${at}': ${process.output}`)
  await bench.stop(process)
  return { ...job, passed: end === 'passed', ms, tests: passed, numbers }
}

/** A last line that was cut off is left out. */
export const readLines = <T>(path: string): T[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as T)
