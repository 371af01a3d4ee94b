/**
 * Changes the source by itself, one place at a time, and looks whether a test fails. A sample of all changes is drawn by
 * `--seed`; every one of them is tried against the tests that come to it.
 *
 *   npm run test:mutations -- --seed 1 --count 500   tries them; what was tried before is not tried again
 *   npm run test:mutations -- --seed 1 --count 500 --report     prints what is known so far
 *   npm run test:mutations -- --only src/market/budgets/budgets.ts   every change of a file, or of a line: budgets.ts:40
 *
 * `--rooms market,conform/checks` (folders of src; all unless given), `--tests market/,store/` (parts of names of the test files tried),
 * `--shared` (only tests that share a process: hundreds of mutants take minutes), `--budget 60`
 * (seconds of tests for one mutant), `--long` (those that no short form has noticed, against the long forms), `--list`.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { jobsOf } from '../support/jobs.ts'
import { openBench } from './bench.ts'
import { equivalents } from './equivalent.ts'
import { roomsOf, sourcesOf } from './find.ts'
import { Controls, controlOn, judge } from './judge.ts'
import { type Mutant, nameOf, sampleOf } from './mutant.ts'
import { planFor } from './plan.ts'
import { reachOf, readLines } from './reach.ts'
import { type Header, isNoticed, type Line, latestOf, lineOf, reportText } from './report.ts'
import { openWorkshop } from './workshop.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '500' },
    rooms: { type: 'string', default: roomsOf().join(',') },
    only: { type: 'string' },
    tests: { type: 'string', default: '' },
    shared: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    budget: { type: 'string', default: '60' },
    report: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})

const rooms = values.rooms.split(',')
const sources = sourcesOf(roomsOf())
const population = sources
  .filter(({ file }) => rooms.some(room => file.startsWith(`src/${room}/`)))
  .flatMap(({ scene }) => scene.mutants)
const { only } = values
const sample =
  only === undefined
    ? sampleOf(population, Number(values.seed), Number(values.count))
    : sources.flatMap(({ scene }) => scene.mutants).filter(({ file, line }) => `${file}:${line}:`.includes(`${only}:`))

const names = sample.map(nameOf)
const header: Header = {
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
  state: stateOf(names.join('\n')),
  seed: Number(values.seed),
  count: sample.length,
  rooms,
  population: population.length,
}
const kept = resolve('dist', 'mutations')
const noted = resolve(kept, `${header.state}.jsonl`)

if (values.list)
  for (const { file, line, operator, change } of sample) console.log(`${file}:${line}  ${operator}: ${change}`)
else {
  mkdirSync(kept, { recursive: true })
  if (!existsSync(noted)) writeFileSync(noted, `${JSON.stringify(header)}\n`)
  if (!values.report) await tryAll()
  console.log(`\n${reportText(header, linesSoFar())}\n\n${noted}`)
}

function linesSoFar(): Line[] {
  return latestOf(readLines<Line>(noted).slice(1))
}

async function tryAll(): Promise<void> {
  const length = values.long ? 'long' : 'short'
  const tried = new Map(linesSoFar().map(line => [line.name, line]))
  const isDone = (line: Line | undefined) =>
    line !== undefined && (length === 'short' || isNoticed(line) || line.equivalent !== null || line.length === 'long')
  const open = sample
    .map((mutant, index) => ({ mutant, index, name: names[index]! }))
    .filter(({ name }) => !isDone(tried.get(name)))
  const wanted = values.tests.split(',')
  const found = jobsOf(file => !file.startsWith('mutation/') && wanted.some(word => file.includes(word)), length)
  const jobs = found.filter(({ shares, engine }) => (shares || !values.shared) && engine !== 'narrow')
  const workshop = openWorkshop(sample, sources)
  // What was tried is noted line by line, so a run may be ended at any moment.
  process.once('exit', workshop.remove)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const bench = await openBench(
    workshop.folder,
    [...new Set(jobs.map(({ file }) => file))],
    Math.min(2, availableParallelism()),
  )
  try {
    const reaches = await reachOf(bench, jobs, resolve(kept, `${header.state}.reach.jsonl`))
    const broken = reaches.filter(({ passed }) => !passed).map(({ file, engine }) => `${file} (${engine})`)
    if (broken.length > 0) console.log(`Left out, as they fail although nothing is changed: ${broken.join(', ')}`)
    const controls = new Controls(controlOn(bench, 'control'))
    await bench.inWorkers(open, async ({ mutant, index, name }, worker) => {
      const equivalent = reasonFor(mutant)
      const [numbers, neighbours] = [workshop.numbersOf(index), workshop.neighboursOf(index)]
      const batches = equivalent === null ? planFor(mutant, numbers, reaches, neighbours) : []
      const budget = { ms: Number(values.budget) * 1_000 }
      const judgement = await judge(bench, controls, { mutant, index }, batches, budget, worker)
      const line: Line = { ...lineOf(mutant, name), ...judgement, length, equivalent }
      appendFileSync(noted, `${JSON.stringify(line)}\n`)
      say(line)
    })
  } finally {
    await bench.close()
    workshop.remove()
  }
}

function reasonFor({ file, change }: Mutant): string | null {
  return equivalents.find(one => one.file === file && change.includes(one.change))?.reason ?? null
}

function say(line: Line): void {
  const word = isNoticed(line) ? 'ok  ' : line.equivalent === null ? 'FAIL' : 'same'
  const cost = `${(line.ms / 1_000).toFixed(1)} s, ${line.testsRun} tests`
  console.log(`${word} ${line.file}:${line.line} ${line.operator}: ${line.change}  ${line.by ?? line.fate}  ${cost}`)
}

/** Another state of sources or tests, or another sample, is another report. */
function stateOf(drawn: string): string {
  const hash = createHash('sha256').update(`${drawn} ${values.tests} ${values.shared}`)
  for (const folder of ['src', 'test']) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (file.endsWith('.ts')) hash.update(file).update(readFileSync(`${folder}/${file}`))
    }
  }
  return hash.digest('hex').slice(0, 12)
}
