/**
 * Runs every test file, and adds up what they say. The first line of a file names the engines that it runs on, and says
 * whether its process is for other files too: half of the time of a small file would be the start of one. Arguments are
 * parts of file names; `--engine embedded|postgres|narrow` is one alone; `--long` runs the long proofs instead, `--whole` each file
 * once in its longest form; `--again` gives what failed beside others a second run alone.
 */
import { availableParallelism } from 'node:os'
import { delimiter, dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { type Bundle, bundleTests } from './support/bundle.ts'
import { makeTemplate } from './support/databases.ts'
import { buildIfStale } from './support/fresh-build.ts'
import { type Job, jobsOf, longestJobsOf } from './support/jobs.ts'
import type { Length } from './support/length.ts'
import { startNarrowPostgres } from './support/narrow-postgres.ts'
import { makeUnusedServer, startPostgres } from './support/postgres-server.ts'
import { type Outcome, withSecondRuns } from './support/second-runs.ts'
import { idleParts, unknownParts } from './support/unmatched.ts'
import { Worker } from './support/worker.ts'

/** For each processor: tests wait for processes, for Postgres and for time-outs, for three quarters of their time. */
const WORKERS = 4
const MOST_WORKERS = 7

/** For one file: it ends what hangs, and judges no speed. */
const PATIENCE_MS = { short: 600_000, long: 1_800_000 }

const { positionals: wanted, values } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string' },
    long: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
  },
})
const length: Length = values.long ? 'long' : 'short'
const unknown = unknownParts(wanted)
if (unknown.length > 0) {
  for (const sentence of unknown) console.error(sentence)
  process.exit(2)
}
const isWanted = (file: string) => wanted.length === 0 || wanted.some(part => file.includes(part))
const jobs = (values.whole ? longestJobsOf(isWanted) : jobsOf(isWanted, length)).filter(
  ({ engine }) => values.engine === undefined || engine === values.engine,
)
// What a test starts as `node` is the Node that runs the tests.
process.env.PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
// Node would read the machine's own authorities at the start of each process, for 0.04 s; curl and Python's agents would ask a proxy for
// servers of this machine. Only who installs a package talks to other machines.
const access = Object.entries(process.env).filter(([name]) => /^NODE_EXTRA_CA_CERTS$|_proxy$/i.test(name))
for (const [name] of access) delete process.env[name]
process.env.TEST_REGISTRY_ACCESS = JSON.stringify(Object.fromEntries(access))
buildIfStale()
const bundle = await bundleTests([...new Set(jobs.map(({ file }) => file))])
process.once('exit', bundle.remove)
const needsPostgres = jobs.some(({ engine }) => engine !== 'embedded')
const unused = needsPostgres ? makeUnusedServer() : null
if (unused) process.env.TEST_UNUSED_SERVER = unused.path
process.once('exit', () => unused?.remove())
const servers: Server[] = []
for (const [engine, starts] of Object.entries({ postgres: startPostgres, narrow: startNarrowPostgres })) {
  if (!jobs.some(job => job.engine === engine)) continue
  const server = await starts()
  const template = await makeTemplate(server.url)
  servers.push({ engine, url: server.url, template: template.name, end: () => template.drop().finally(server.stop) })
}
const runAlone = (wanted: string, on: Job['engine']) =>
  runAll(
    jobs.filter(({ file, engine }) => file === wanted && engine === on),
    bundle,
  )
const outcomes = await runAll([...jobs], bundle)
  .then(all => (values.again ? withSecondRuns(all, runAlone, console.log) : all))
  .finally(() => Promise.all(servers.map(({ end }) => end())))
const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0)
if (!values.whole) for (const sentence of idleParts({ wanted, length, engine: values.engine })) console.log(sentence)
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

interface Server {
  engine: string
  url: string
  template: string
  end(): Promise<void>
}

function environmentOf(server: Server | undefined) {
  return server && { TEST_DATABASE_URL: server.url, TEST_TEMPLATE: server.template }
}

async function runAll(queue: Job[], bundle: Bundle): Promise<Outcome[]> {
  const done: Outcome[] = []
  const worker = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      done.push(...(await runWorker(job, queue, bundle)))
    }
  }
  await Promise.all(Array.from({ length: Math.min(MOST_WORKERS, WORKERS * availableParallelism()) }, worker))
  return done
}

/** One process, with as many files as may share it: a file that fails is the last. */
async function runWorker(first: Job, queue: Job[], bundle: Bundle): Promise<Outcome[]> {
  const { engine, length, shares } = first
  const env = {
    TEST_ENGINE: engine === 'narrow' ? 'postgres' : engine,
    TEST_LENGTH: length,
    ...environmentOf(servers.find(server => server.engine === engine) ?? servers[0]),
    ...(engine === 'narrow' && { TEST_NARROW: 'on' }),
    ...(shares && { TEST_QUICK_PASSWORDS: 'on' }),
  }
  const worker = new Worker(bundle, env, PATIENCE_MS[length])
  const outcomes: Outcome[] = []
  let hasFailed = false
  for (let job: Job | undefined = first; job; job = shares && !hasFailed ? nextLike(first, queue) : undefined) {
    const { file } = job
    const started = performance.now()
    const verdict = await worker.run(file)
    hasFailed = verdict.failed > 0
    outcomes.push({ file, engine, ...verdict, ms: Math.round(performance.now() - started) })
    note(outcomes.at(-1)!)
  }
  const ended = await worker.end(hasFailed)
  if (ended === '' || hasFailed) return outcomes
  const left = {
    file: outcomes.map(({ file }) => file).join(', '),
    engine,
    passed: 0,
    failed: 1,
    output: ended,
    ms: 0,
    cpuMs: 0,
  }
  note(left)
  return [...outcomes, { ...left, afterAll: true }]
}

function nextLike({ engine, length }: Job, queue: Job[]): Job | undefined {
  const at = queue.findIndex(job => job.shares && job.engine === engine && job.length === length)
  return at === -1 ? undefined : queue.splice(at, 1)[0]
}

function note({ file, engine, passed, failed, output, ms, cpuMs }: Outcome): void {
  const name = engine === 'embedded' ? file : `${file} (${engine})`
  console.log(
    `${failed ? 'FAIL' : 'ok  '} ${name}  ${passed} passed${failed ? `, ${failed} failed` : ''}  ${ms} ms, ${cpuMs} ms of CPU`,
  )
  if (failed) console.log(output)
  // What a machine lacks is said, though nothing has failed.
  else for (const line of output.match(/^not tried: .*$/gm) ?? []) console.log(`     ${line}`)
}
