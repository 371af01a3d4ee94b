/** Which test files come to which mutants: every file runs once, with all mutants off. */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Job } from '../support/jobs.ts'
import type { Bench } from './bench.ts'

export interface Reach extends Job {
  readonly passed: boolean
  /** How long it takes when nothing is changed. */
  readonly ms: number
  /** Of mutants and of functions. */
  readonly numbers: readonly number[]
}

const TIMEOUT_MS = 300_000

/** What is noted in the file already is taken as it is, so that a run that was cut off goes on. */
export async function reachOf(bench: Bench, jobs: readonly Job[], noted: string): Promise<Reach[]> {
  const known = existsSync(noted) ? readLines<Reach>(noted) : []
  const isKnown = ({ file, engine }: Job) => known.some(one => one.file === file && one.engine === engine)
  const found = await bench.inLanes(
    jobs.filter(job => !isKnown(job)),
    async (job, lane) => {
      const first = await runOnce(bench, job, lane)
      // Left out for good if it fails, so a moment of bad luck gets another try.
      const reach = first.passed ? first : await runOnce(bench, job, lane)
      appendFileSync(noted, `${JSON.stringify(reach)}\n`)
      console.log(
        `${reach.passed ? 'ok  ' : 'FAIL'} ${job.file} (${job.engine})  ${reach.ms} ms  ${reach.numbers.length}`,
      )
      return reach
    },
  )
  return [...known, ...found]
}

export async function runOnce(bench: Pick<Bench, 'folder' | 'start' | 'stop'>, job: Job, lane: string): Promise<Reach> {
  const path = join(bench.folder, `${lane}.reach`)
  rmSync(path, { force: true })
  const process = bench.start(job, lane, { MUTANT_REACH: path })
  const started = performance.now()
  const end = await process.run(job.file, TIMEOUT_MS)
  const ms = Math.round(performance.now() - started)
  if (end !== 'passed') console.log(`${end}: ${process.output}`)
  await bench.stop(process)
  const numbers = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').map(Number) : []
  return { ...job, passed: end === 'passed', ms, numbers: [...new Set(numbers)] }
}

/** A last line that was cut off is left out. */
export const readLines = <T>(path: string): T[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as T)
