/** Which test files there are, and how each runs: its first line says so. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Length } from './length.ts'

export interface Job {
  file: string
  /** `narrow`: a Postgres that refuses what servers refuse that only speak as it does. */
  engine: 'embedded' | 'postgres' | 'narrow'
  length: Length
  /** Its process may have run other files, and run more; passwords have quick hashes. */
  shares: boolean
}

const FIRST_LINE =
  /^\/\/ engines: (embedded|postgres|embedded, postgres(?:(?: and narrow)? at length)?); process: (own|shared)(?:; lengths: (long|short, long))?\n/

/** What the statements of the marketplace are in: in the long run they are tried on a narrow Postgres too. */
const NARROW = /^(?:store|market)\//

type IsWanted = (file: string) => boolean

/** Each test file in `folder` once on each engine, in the longest form that it has there: the long one has all that the short one has. */
export function longestJobsOf(isWanted: IsWanted, folder = 'test'): Job[] {
  const long = jobsOf(isWanted, 'long', folder)
  const isLong = ({ file, engine }: Job) => long.some(one => one.file === file && one.engine === engine)
  const others = jobsOf(isWanted, 'short', folder).filter(job => !isLong(job))
  return [...long, ...others].sort(longestFirst)
}

/** The jobs of the test files in `folder` that have this length. Throws if one of them doesn't say how it runs. */
export function jobsOf(isWanted: IsWanted, length: Length = 'short', folder = 'test'): Job[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.ts') && isWanted(file))
    .sort()
  const said = files.map(file => ({ file, line: FIRST_LINE.exec(readFileSync(`${folder}/${file}`, 'utf8')) }))
  const silent = said.filter(({ line }) => line === null)
  if (silent.length > 0) throw new Error(refusalOf(silent.map(({ file }) => `${folder}/${file}`)))
  const jobs = said.flatMap(({ file, line }) => {
    const [, engines, process, lengths = 'short'] = line!
    const fitting = engines!.split(', ').filter(one => (one.endsWith(' at length') ? 'long' : lengths).includes(length))
    const jobs = fitting.map((one): Job => {
      const engine = one.startsWith('embedded') ? 'embedded' : 'postgres'
      return { file, engine, length, shares: process === 'shared' }
    })
    const isNarrow =
      length === 'long' && NARROW.test(file) && process === 'shared' && /, postgres(?:$| and)/.test(engines!)
    return isNarrow ? [...jobs, { file, engine: 'narrow', length, shares: true } as const] : jobs
  })
  return jobs.sort(longestFirst)
}

/** So that no worker is left with a long one at the end: what has a process of its own, then what waits for a server. */
const longestFirst = (a: Job, b: Job) => Number(a.shares) - Number(b.shares) || b.engine.localeCompare(a.engine)

const refusalOf = (
  files: readonly string[],
) => `The first line of a test file says on which engines it runs, and whether its \
process is for other files too: "// engines: embedded, postgres; process: shared". One engine may stand alone; "own" gives the \
file a process of its own; "postgres at length", and "; lengths: short, long" or "; lengths: long" at its end, are for long proofs \
(docs/contributing/tests.md). These files don't say it:
${files.map(file => `  ${file}`).join('\n')}`
