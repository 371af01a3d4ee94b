// engines: embedded; process: own; lengths: long
/** The mutation tool on a module of which it is known what its tests leave out. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Bundle, standIn } from '../support/bundle.ts'
import type { Job } from '../support/jobs.ts'
import { RUNNER } from './bench.ts'
import { equivalents } from './equivalent.ts'
import { parsed, roomsOf, sceneOf, sourcesOf } from './find.ts'
import { Controls, controlOn, type Ground, judge } from './judge.ts'
import { type Mutant, nameOf, sampleOf } from './mutant.ts'
import { type Batch, planFor } from './plan.ts'
import { type Reach, runOnce } from './reach.ts'
import { interval, isNoticed, latestOf, reportText } from './report.ts'
import { SWITCH_FILE, withSwitches } from './schemata.ts'
import { sqlEdits } from './sql-operators.ts'
import { TestProcess } from './test-process.ts'
import { usersOf } from './users.ts'
import { runTests, suite } from './uvu.ts'

const FILE = 'src/shop/price.ts'
const source = readFileSync('test/mutation/fixture/price.ts', 'utf8')
const scene = sceneOf(FILE, source)

const MEMBER = 'a member pays less for ten'
const ANYBODY = 'who is no member pays the same for each'
const NOTHING = 'nothing is not sold'
const ROOM = 'basket: a basket has room for two things each'
const FILLED = 'basket: a basket takes what is put into it'
const BILL = 'basket: what was put into a basket is on its bill'

const nobody = 'survived'
const times = (count: number, name: string) => Array.from({ length: count }, () => name)

/** Who notices the changes of each line, in their order. */
const noticed: Record<number, string[]> = {
  2: times(2, MEMBER),
  6: [NOTHING, ...times(4, MEMBER), NOTHING],
  7: times(2, nobody),
  8: [...times(6, MEMBER), nobody, ...times(3, MEMBER)],
  9: times(3, MEMBER),
  18: [...times(5, ROOM), FILLED],
  21: [BILL],
  22: times(2, nobody),
  23: [BILL],
  26: times(5, 'unreached'),
}

/** A folder in which the fixture is built with all its changes, and what runs its checks there. */
async function furnish(folder: string): Promise<Ground & { folder: string }> {
  mkdirSync(join(folder, 'src/shop'), { recursive: true })
  copyFileSync('test/mutation/switch.ts', join(folder, SWITCH_FILE))
  const mutants = scene.mutants.map((mutant, number) => ({ number, mutant }))
  const bodies = scene.bodies.map((body, i) => ({ number: mutants.length + i, body }))
  writeFileSync(join(folder, FILE), withSwitches(FILE, source, [...mutants, ...bodies], scene.openings))
  copyFileSync('test/mutation/fixture/price-checks.ts', join(folder, 'src/shop/price-checks.ts'))
  await build({
    entryPoints: [resolve(RUNNER.worker), join(folder, 'src/shop/price-checks.ts')],
    outdir: join(folder, 'dist'),
    entryNames: '[name]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    nodePaths: [resolve('node_modules')],
    plugins: [standIn('uvu', RUNNER.uvu!)],
  })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const bundle: Bundle = {
    workerArguments: [join(folder, 'dist/trial-process.js')],
    pathOf: () => join(folder, 'dist/price-checks.js'),
    remove: () => {},
  }
  return {
    folder,
    start: (_job, _lane, env) => new TestProcess(bundle, env),
    stop: process => process.end(),
  }
}

const namesOf = ({ tests }: Pick<Batch, 'tests'>) => tests.map(({ name }) => name)

const job: Job = { file: 'shop/price.test.ts', engine: 'embedded', length: 'short', shares: false }

test('each change of a module whose tests are known is noticed or not, as they leave it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-test-'))
  try {
    const ground = await furnish(folder)
    const reach = await runOnce(ground, job, 'worker')
    assert.ok(reach.passed)
    assert.equal(namesOf(reach), [MEMBER, ANYBODY, NOTHING, ROOM, FILLED, BILL])
    const asked: string[] = []
    const control = controlOn(ground, 'control')
    const controls = new Controls((reach, tests) => {
      asked.push(tests.at(-1)!)
      return control(reach, tests)
    })
    const found: Record<number, string[]> = {}
    for (const [index, mutant] of scene.mutants.entries()) {
      const batches = planFor(mutant, [index], [reach])
      const { fate, by } = await judge(ground, controls, { mutant, index }, batches, { ms: 60_000 })
      found[mutant.line] = [...(found[mutant.line] ?? []), fate === 'killed' ? by!.replace(/^.*?: /, '') : fate]
    }
    assert.equal(found, noticed)
    // Each choice of tests is tried with nothing changed once; the last one fails by itself, and nobody is blamed for it.
    assert.equal(asked, [MEMBER, NOTHING, ROOM, FILLED, BILL])
    assert.not.ok(controls.canChoose(reach))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a process that runs no test is broken, and one that takes too long for a test is late', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-test-'))
  try {
    const { start } = await furnish(folder)
    const endOf = async (tests: string[] | null, timeFor: (at: string) => number) => {
      const process = start(job, 'worker', {})
      const { end, at } = await process.run(job.file, tests, timeFor)
      await process.end()
      return [end, at]
    }
    assert.equal(await endOf([], () => 9_000), ['broken', ''])
    assert.equal(await endOf([MEMBER], () => 9_000), ['passed', ''])
    assert.equal(await endOf([BILL], () => 9_000), ['failed', BILL])
    assert.equal(await endOf(null, () => 0), ['timeout', ''])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('of a file, the tests that are named run with their hooks; all of them if one of the names is gone', async () => {
  const ran: string[] = []
  const listener = {
    begin: (name: string) => ran.push(`begin ${name}`),
    pass: (name: string) => ran.push(`pass ${name}`),
  }
  const fill = () => {
    ran.length = 0
    for (const name of ['one', 'two']) {
      const group = suite(name)
      const note = (what: string) => () => void ran.push(`${what} ${name}`)
      group.before(note('before'))
      group.before.each(note('before each of'))
      group.after.each(note('after each of'))
      group.after(note('after'))
      group('a', note('a of'))
      group('a', note('again a of'))
      group.run()
    }
  }
  fill()
  assert.is(await runTests(['two: a (2)'], listener), 1)
  const second = ['begin two: a (2)', 'before each of two', 'again a of two', 'after each of two', 'pass two: a (2)']
  assert.equal(ran, ['before two', ...second, 'after two'])
  fill()
  assert.is(await runTests(['two: a (2)', 'two: b'], listener), 4)
  fill()
  assert.is(await runTests(null, listener), 4)
  assert.is(await runTests(null, listener), 0)
})

test('each change that is listed as equivalent is one of those that can be made', () => {
  const all = sourcesOf(roomsOf()).flatMap(({ scene }) => scene.mutants)
  const gone = equivalents.filter(
    ({ file, change }) => !all.some(one => one.file === file && one.change.includes(change)),
  )
  assert.equal(gone, [])
})

test('each change of the whole source can be parsed, alone and with all others behind its switch', () => {
  for (const { file, text, scene } of sourcesOf(roomsOf())) {
    const places = scene.mutants.map((mutant, number) => ({ number, mutant }))
    const bodies = scene.bodies.map((body, i) => ({ number: places.length + i, body }))
    assert.not.throws(() => parsed(withSwitches(file, text, [...places, ...bodies], scene.openings)), undefined, file)
  }
})

test('all that is changed can be built, for a browser too: the switch needs nothing of Node, and no module loses its name', async () => {
  const { mutants } = sceneOf('src/a.ts', "export const load = async () => (await import('undici')).Pool\n")
  assert.equal(
    mutants.filter(({ operator }) => operator === 'string'),
    [],
  )
  await build({
    entryPoints: ['test/mutation/switch.ts'],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
})

test('code that is switched does what it did: callees keep their object, chains stop where they stopped, lines begin anew', async () => {
  const code = [
    'const seen = []',
    'const o = { n: 4, get() { return this.n } }',
    'const none = undefined',
    'seen.push(o.get(), none?.a.b, [3, 1].filter(x => x > 1).length, [o.n, 5].join(`-`))',
    'o.get() > 1 && seen.push(-1)',
    "if (o.n === 4) seen.push('four')",
    "else seen.push('other')",
    'for (let i = 0; i < 2; i++) seen.push(i)',
    'export const said = JSON.stringify(seen)',
  ].join('\n')
  const { mutants, bodies, openings } = sceneOf('src/a.ts', code)
  const places = mutants.map((mutant, number) => ({ number, mutant }))
  const all = [...places, ...bodies.map((body, i) => ({ number: 1_000 + i, body }))]
  const run = (text: string) => import(`data:text/javascript,${encodeURIComponent(text)}`)
  const off = withSwitches('src/a.ts', code, all, openings).replace(/^import .*\n/, 'const __mutantOn = () => false\n')
  assert.is((await run(off)).said, (await run(code)).said)
  assert.ok(mutants.length > 30)
})

test('a text of SQL is changed in its terms, bounds, order and hints, and keeps the places of its values', () => {
  const sql =
    "UPDATE a SET n = n + $2, m = $3 WHERE id = $1 AND at < $4 AND (x = 'b' OR y IS NULL) AND NOT EXISTS (SELECT 1 FROM c)"
  assert.equal(changesOf(sql).sort(), [
    'sql arithmetic: + → -',
    'sql boundary: < → <=',
    'sql exists: NOT EXISTS → EXISTS',
    'sql null: IS NULL → IS NOT NULL',
    "sql or: x = 'b' → (x = 'b' AND 1 = 0)",
    'sql or: y IS NULL → (y IS NULL AND 1 = 0)',
    'sql set: $3 → CASE WHEN 1 = 1 THEN m ELSE $3 END',
    'sql set: n + $2 → CASE WHEN 1 = 1 THEN n ELSE n + $2 END',
    "sql term: (x = 'b' OR y IS NULL) → ((x = 'b' OR y IS NULL) OR 1 = 1)",
    'sql term: NOT EXISTS (SELECT 1 FROM c) → (NOT EXISTS (SELECT 1 FROM c) OR 1 = 1)',
    'sql term: at < $4 → (at < $4 OR 1 = 1)',
    'sql term: id = $1 → (id = $1 OR 1 = 1)',
  ])
  const page =
    'SELECT MAX(id) FROM a LEFT JOIN b ON b.x = a.x ORDER BY at DESC, id LIMIT $1 OFFSET $2 /*+ FOR UPDATE SKIP LOCKED */'
  assert.equal(
    changesOf(page).sort(),
    [
      'sql extreme: MAX → MIN',
      'sql hint: /*+ FOR UPDATE SKIP LOCKED */ → ',
      'sql hint: SKIP LOCKED → ',
      'sql join: LEFT JOIN → JOIN',
      'sql limit:  →  + 1',
      'sql limit:  →  * 0',
      'sql order:  →  DESC',
      'sql order: DESC → ASC',
      'sql term: b.x = a.x → (b.x = a.x OR 1 = 1)',
    ].sort(),
  )
  const table = 'CREATE TABLE t (a TEXT NOT NULL UNIQUE, b BIGINT CHECK (b > 0)); CREATE INDEX t_b ON t (b) WHERE b > 1'
  assert.equal(changesOf(table).sort(), [
    'sql boundary: > → >=',
    'sql constraint:  → 1 = 1 OR ',
    'sql constraint: NOT NULL → ',
    'sql constraint: UNIQUE → ',
  ])
})

test('a sample is the same for one seed, another for the next, and each mutant is as likely as any other', () => {
  const names = (seed: number) => sampleOf(scene.mutants, seed, 5).map(nameOf)
  assert.equal(names(1), names(1))
  assert.not.equal(names(1), names(2))
  const drawn = new Map<string, number>()
  for (let seed = 0; seed < 700; seed++) for (const name of names(seed)) drawn.set(name, (drawn.get(name) ?? 0) + 1)
  // 5 of 38, 700 times: 92 each, with a deviation of 9.
  assert.is(drawn.size, scene.mutants.length)
  assert.ok(Math.min(...drawn.values()) > 50 && Math.max(...drawn.values()) < 134)
})

test('what a module makes when it is loaded is reached where it is used, under whichever name', () => {
  const limits = 'export const LIMIT = 5\nexport class Queue { size = LIMIT }'
  const text =
    "import { LIMIT, Queue } from './limits.ts'\nconst { twice } = { twice: LIMIT * 2 }\nexport const f = () => twice\nexport const g = () => 1\nexport const h = () => new Queue()"
  const other =
    "import { LIMIT as most } from '../a/limits.ts'\nimport * as all from '../a/limits.ts'\nexport const i = () => most\nexport const j = () => all.LIMIT"
  const sources = Object.entries({ 'src/a/limits.ts': limits, 'src/a/use.ts': text, 'src/b/use.ts': other }).map(
    ([file, text]) => ({ file, text, scene: sceneOf(file, text) }),
  )
  const bodiesAt = (at: number) =>
    usersOf({ file: 'src/a/limits.ts', at }, sources).map(({ file, body }) =>
      sources.find(one => one.file === file)!.text.slice(body.start, body.end),
    )
  assert.equal(bodiesAt(limits.indexOf('5')).sort(), ['all.LIMIT', 'most', 'new Queue()', 'twice'])
  // A field is made with its object: that it was, is noticed there.
  assert.equal(bodiesAt(limits.indexOf('LIMIT }')), [])
})

test('the score is told with the interval of Wilson, and nothing that was drawn is left out', () => {
  const [low, high] = interval(425, 500)
  assert.ok(Math.abs(low - 0.816) < 0.001 && Math.abs(high - 0.8787) < 0.001)
  const line = {
    file: 'src/market/a.ts',
    line: 3,
    operator: 'call',
    change: 'f() → (nothing)',
    by: null,
    ms: 9,
    length: 'short',
  } as const
  const alive = { ...line, name: 'a', fate: 'survived', testsRun: 2, testsLeft: 1, equivalent: null } as const
  const lines = [
    alive,
    { ...alive, name: 'b', equivalent: 'a cache' },
    { ...alive, name: 'c', fate: 'killed', by: 'x' } as const,
  ]
  const header = { commit: 'abc', state: 's', seed: 1, count: 3, rooms: ['market'], population: 9 }
  const text = reportText(header, lines)
  assert.match(text, /all drawn +1 of +3 +33\.3 %/)
  assert.match(text, /without the equivalent +1 of +2 +50\.0 %/)
  assert.match(text, /src\/market\/a\.ts:3 {2}call: f\(\) → \(nothing\) {2}\[2 tests passed, 1 not run\]/)
  assert.match(text, /\[a cache\]/)
  const long = { ...alive, length: 'long' } as const
  const unreached = { ...long, fate: 'unreached', testsRun: 0 } as const
  assert.equal(latestOf([alive, lines[2]!, unreached]), [long, lines[2]], 'tests that do not come here say nothing')
  assert.equal(latestOf([alive, { ...long, fate: 'killed', by: 'y' }]).map(isNoticed), [true])
})

const one = sceneOf('src/shop/price.ts', 'export const price = (cents: number) => cents + 1').mutants[0]!

test('tests that are about a file, by name or by what they come to, are tried before those that pass through', () => {
  const reach = (file: string, numbers: number[], ms = 1_000, engine: Job['engine'] = 'embedded'): Reach => ({
    ...{
      file,
      engine,
      length: 'short',
      ms: 500 + ms,
      numbers: [],
      shares: true,
      passed: true,
      tests: [{ name: 'one', ms, numbers }],
    },
  })
  const through = reach('web/through.test.ts', [0, 7])
  const about = reach('web/about.test.ts', [0, 7, 8, 9], 3_000)
  const named = reach('shop/price.test.ts', [0, 7], 2_000)
  const again = reach('web/about.test.ts', [0, 7, 8, 9], 3_000, 'postgres')
  const broken = { ...through, file: 'web/broken.test.ts', passed: false }
  const elsewhere = reach('web/elsewhere.test.ts', [8, 9])
  const plan = planFor(one, [0], [again, through, broken, elsewhere, about, named], [7, 8, 9])
  assert.equal(
    plan.map(batch => batch.reach),
    [named, about, through, again],
  )
  const inPostgres = { ...one, file: 'src/store/postgres/errors.ts' }
  assert.is(planFor(inPostgres, [0], [through]).length, 1, 'a file of one engine has tests without it')
  assert.is(planFor({ ...inPostgres, operator: 'sql hint' }, [0], [through]).length, 0, 'only Postgres reads its hints')
})

test('of a file, the tests that come to a change are tried, the best of them first; all of them if it was made around them', () => {
  const tests = [
    { name: 'slow', ms: 9_000, numbers: [0, 7] },
    { name: 'elsewhere', ms: 10, numbers: [7] },
    { name: 'quick', ms: 10, numbers: [0, 7] },
  ]
  const reach: Reach = { ...job, passed: true, ms: 9_600, tests, numbers: [5] }
  const names = (number: number) => planFor(one, [number], [reach]).map(namesOf)
  assert.equal(names(0), [['quick'], ['slow']])
  assert.equal(names(5), [['elsewhere', 'quick'], ['slow']])
  assert.equal(names(6), [])
})

function wordsOf(text: string, { operator, at, until, text: to }: Pick<Mutant, 'operator' | 'at' | 'until' | 'text'>) {
  return `${operator}: ${text.slice(at, until)} → ${to}`
}

const changesOf = (sql: string) => sqlEdits(sql).map(edit => wordsOf(sql, edit))

test.run()
