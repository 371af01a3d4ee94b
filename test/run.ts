/**
 * Runs every test file in a process of its own, and adds up what they say. A file that opens a house runs
 * twice: on the embedded engine and on Postgres; one about several instances runs on Postgres. Arguments are parts of file names; `--engine embedded|postgres` is one alone.
 */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Bundle, bundleTests } from './support/bundle.ts'
import { makeTemplate } from './support/databases.ts'
import { type PostgresServer, startPostgres } from './support/postgres-server.ts'

const fileTimeoutMs = 180_000
/** A test that fails may leave a marketplace open, and its process with it. */
const failedTimeoutMs = 3_000

interface Job {
  file: string
  engine: 'embedded' | 'postgres'
}

interface Outcome extends Job {
  passed: number
  failed: number
  output: string
  ms: number
}

const { positionals: wanted, values } = parseArgs({
  allowPositionals: true,
  options: { engine: { type: 'string' } },
})
const jobs = jobsOf(
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.ts') && (wanted.length === 0 || wanted.some(part => file.includes(part))))
    .sort(),
)
const bundle = await bundleTests([...new Set(jobs.map(({ file }) => file))])
process.once('exit', bundle.remove)
const postgres = jobs.some(({ engine }) => engine === 'postgres') ? await startPostgres() : null
const template = postgres && (await makeTemplate(postgres.url))
if (template) process.env.TEST_TEMPLATE = template.name
const outcomes = await runAll(jobs, bundle, postgres)
  .finally(() => template?.drop())
  .finally(() => postgres?.stop())
const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0)
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

function jobsOf(files: string[]): Job[] {
  const all = files.flatMap((file): Job[] => {
    const text = readFileSync(`test/${file}`, 'utf8')
    if (/\b(openInstances|fleetRounds|capsUnderKills|freshDatabase|startStoppable)\b/.test(text))
      return [{ file, engine: 'postgres' }]
    return /\b(openHouse|openStage)\b/.test(text)
      ? [
          { file, engine: 'embedded' },
          { file, engine: 'postgres' },
        ]
      : [{ file, engine: 'embedded' }]
  })
  return values.engine === undefined ? all : all.filter(({ engine }) => engine === values.engine)
}

async function runAll(queue: Job[], bundle: Bundle, server: PostgresServer | null): Promise<Outcome[]> {
  const done: Outcome[] = []
  const worker = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const outcome = await run(job, bundle, server)
      done.push(outcome)
      const { file, engine, passed, failed, ms } = outcome
      const name = engine === 'postgres' ? `${file} (postgres)` : file
      console.log(
        `${failed ? 'FAIL' : 'ok  '} ${name}  ${passed} passed${failed ? `, ${failed} failed` : ''}  ${ms} ms`,
      )
      if (failed) console.log(outcome.output)
    }
  }
  await Promise.all(Array.from({ length: Math.min(3, availableParallelism() + 1) }, worker))
  return done
}

function run({ file, engine }: Job, bundle: Bundle, server: PostgresServer | null): Promise<Outcome> {
  const started = performance.now()
  const child = spawn(process.execPath, bundle.argumentsFor(file), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TEST_ENGINE: engine, ...(server && { TEST_DATABASE_URL: server.url }) },
  })
  let output = ''
  const end = (why: string) => {
    output += `\nended ${why}\n`
    child.kill('SIGKILL')
  }
  const deadline = setTimeout(end, fileTimeoutMs, `after ${fileTimeoutMs} ms`)
  let closing: NodeJS.Timeout | undefined
  const hear = (chunk: Buffer) => {
    output += chunk
    if (hasFailed(output)) closing ??= setTimeout(end, failedTimeoutMs, `${failedTimeoutMs} ms after it had failed`)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  return new Promise(resolve => {
    child.on('close', code => {
      clearTimeout(deadline)
      clearTimeout(closing)
      resolve({ file, engine, ...judge(file, output, code), ms: Math.round(performance.now() - started) })
    })
  })
}

/** All its tests have run, and not all have passed. */
function hasFailed(output: string) {
  return /^\s*Duration:/m.test(output) && count(output, 'Passed') < count(output, 'Total')
}

// uvu colours its totals only on a terminal; a file that forgets `.run()` says nothing at all.
function count(output: string, word: string) {
  const totals = output.matchAll(new RegExp(`^\\s*${word}:\\s+(\\d+)`, 'gm'))
  return [...totals].reduce((sum, [, number]) => sum + Number(number), 0)
}

function judge(file: string, said: string, code: number | null) {
  let output = said
  const total = count(output, 'Total')
  const passed = count(output, 'Passed')
  const skipped = count(output, 'Skipped')
  let failed = total - passed
  if (total === 0) output += `\n${file} ran no test\n`
  if (skipped > 0) output += `\n${file} skipped ${skipped}\n`
  if (failed === 0 && (code !== 0 || total === 0 || skipped > 0)) failed = 1
  return { passed, failed, output }
}
