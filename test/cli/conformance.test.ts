// engines: embedded; process: shared
/** `marketplace conformance`, as people and pipelines call it. */
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import type { Report } from '../../src/conform/judging/report.ts'
import { until } from '../support/patience.ts'
import { shellLine } from '../support/shell-line.ts'
import { isAlive } from './process-life.ts'
import { run, start } from './program.ts'

const right = shellLine('node', fileURLToPath(new URL('../../examples/node-agent.mjs', import.meta.url)))

const test = suite('conformance')
let folder: string
/** It believes everybody. */
let wrong: string
/** What came of it once, for tests that only judge. */
let kept: string

const ONLY = ['--only', 'sig.valid', 'sig.missing-signature', 'conn.endpoint-200']

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-conformance-'))
  const agent = readFileSync(new URL('../../examples/node-agent.mjs', import.meta.url), 'utf8')
  const believing = agent.replace('return response.writeHead(401).end()', 'void 0')
  assert.is.not(believing, agent)
  writeFileSync(join(folder, 'wrong.mjs'), believing)
  wrong = 'node wrong.mjs'
  kept = join(folder, 'run.jsonl')
  const { code, out, err } = await run(
    ['conformance', '--start', wrong, '--seed', '7', ...ONLY, '--save-history', kept],
    folder,
  )
  assert.is(code, exitCodes.check, out + err)
  assert.match(out, /✖ sig\.missing-signature {2}must: refuses a webhook without a signature\n/)
  assert.match(out, /again marketplace conformance --start 'node wrong\.mjs' --seed 7 --only sig\.missing-signature/)
  assert.match(out, 'must 2/3 · should 0/0\n')
})

test.after(() => rmSync(folder, { recursive: true, force: true }))

const judged = (...args: string[]) => run(['conformance', '--history', kept, ...args], folder)

test('a right agent is exit 0, and --json is the report and nothing else', async () => {
  const { code, out, err } = await run(['conformance', '--start', right, ...ONLY, '--json', '--repeat', '2'], folder)
  assert.is(code, exitCodes.ok, err)
  const report: Report = JSON.parse(out)
  assert.equal(
    report.checks.map(({ id, level, verdict }) => [id, level, verdict]),
    [
      ['conn.endpoint-200', 'must', 'pass'],
      ['sig.valid', 'must', 'pass'],
      ['sig.missing-signature', 'must', 'pass'],
    ],
  )
  assert.is(report.summary.pass, 3)
})

test('a kept history gets the same verdicts without the agent', async () => {
  const { code, out } = await judged(...ONLY, '--json')
  assert.is(code, exitCodes.check)
  const report: Report = JSON.parse(out)
  assert.is(report.seed, 7)
  assert.is(report.checks.find(({ id }) => id === 'sig.missing-signature')!.verdict, 'fail')
})

test('a kept history of a run that was asked for some checks is judged for those, and says so', async () => {
  const idsOf = (out: string) => (JSON.parse(out) as Report).checks.map(({ id }) => id)
  const about = /The run was asked for 3 of \d+ checks, and the report is about those: --only names others\./
  const all = await judged('--json')
  assert.is(all.code, exitCodes.check)
  assert.equal(idsOf(all.out), ['conn.endpoint-200', 'sig.valid', 'sig.missing-signature'])
  assert.match(all.err, about)

  const less = await judged('--skip', 'conn', '--json')
  assert.equal(idsOf(less.out), ['sig.valid', 'sig.missing-signature'])
  assert.match(less.err, about)
  assert.match((await judged('--skip', 'conn', 'sig')).err, 'No check is left: --skip names all that there are.')

  const other = await judged('--only', 'dup.retry', '--json')
  assert.equal(idsOf(other.out), ['dup.retry'])
  assert.is((JSON.parse(other.out) as Report).checks[0]!.text, 'the run was made without it')
  assert.not.match(other.err, 'was asked for')

  const set = await judged('--requirements', '2026-11')
  assert.is(set.code, exitCodes.usage)
  assert.match(set.err, 'the run of --history was asked for some alone')
})

test('a kept history that does not say which checks it is for is judged for all', async () => {
  const [begin, ...rest] = readFileSync(kept, 'utf8').split('\n')
  const { chosen: _, ...older } = JSON.parse(begin!)
  for (const [at, chosen] of [undefined, 'sig.valid', ['no.such-check'], [7]].entries()) {
    const path = join(folder, `older-${at}.jsonl`)
    writeFileSync(path, [JSON.stringify({ ...older, chosen }), ...rest].join('\n'))
    const { out, err } = await run(['conformance', '--history', path, '--json'], folder)
    assert.ok((JSON.parse(out) as Report).checks.length > 100, `${chosen}`)
    assert.not.match(err, 'was asked for')
  }
})

const refusals: readonly [args: string[], said: RegExp][] = [
  [[], /Which agent\? --start 'node agent\.js'/],
  [['--only', 'sig.vald'], /no check sig\.vald\. Did you mean sig\.valid\?/],
  [['--only', 'missing-all'], /no check missing-all\./],
  [['--skip', 'conn', 'nothing.here'], /no check nothing\.here\. The areas: conn/],
  [['--report', 'pdf'], /--report knows no pdf\. It takes json, ctrf/],
  [['--report', 'junit='], /needs the file behind =/],
  [
    ['--report', 'junit=a.xml', 'html=./a.xml'],
    /--report junit and --report html can't be one file: give each its own, not .*a\.xml twice/,
  ],
  [['--report', 'json=./a.jsonl', '--save-history', 'a.jsonl'], /--save-history and --report json can't be one file/],
  [
    ['--save-history', 'b.yaml', '--baseline', './b.yaml', '--write-baseline'],
    /--save-history and --baseline can't be/,
  ],
  [['--history', 'run.jsonl', '--start', 'node x.js'], /plays nothing: leave out --start, or --history/],
  [['--history', 'run.jsonl', '--repeat', '3'], /plays nothing: leave out --repeat, or --history/],
  [['--report', 'junit', 'tap'], /Only one report fits on stdout/],
  [['--json', '--report', 'junit'], /every --report needs a file/],
  [['--repeat', '0'], /--repeat/],
  [['--seed', 'x'], /--seed/],
  [['--requirements', '1999-01'], /There is no set 1999-01/],
  [['--history', 'none.jsonl'], /--history: none\.jsonl can't be read/],
  [['--config', 'none.yaml'], /none\.yaml can't be read/],
  [['--explain', 'sig'], /There is no check sig\./],
]

for (const [args, said] of refusals) {
  test(`wrong usage is exit 2 and a sentence: ${args.join(' ') || 'nothing'}`, async () => {
    const { code, out, err } = await run(['conformance', ...args], folder)
    assert.is(code, exitCodes.usage, out + err)
    assert.match(err, said)
  })
}

const settings: readonly [yaml: string, said: RegExp][] = [
  ['start: [1', /conformance\.yaml is no YAML/],
  ['starts: node agent.js', /conformance\.yaml: .*starts/],
  ['patience: { answer: soon }', /conformance\.yaml: patience\.answer: A duration is written like/],
  ['accepts: [{ title: Hi, description: long enough to be a description }]', /accepts\.0\.title/],
  ['accepts: [{ title: A title, description: { file: none.txt } }]', /none\.txt can't be read/],
  ['work: never', /conformance\.yaml: work/],
]

for (const [yaml, said] of settings) {
  test(`settings that are wrong say where: ${yaml}`, async () => {
    const path = join(folder, 'conformance.yaml')
    writeFileSync(path, yaml)
    try {
      const { code, err } = await run(['conformance', '--start', right], folder)
      assert.is(code, exitCodes.usage, err)
      assert.match(err, said)
    } finally {
      rmSync(path)
    }
  })
}

test('settings of the folder say which agent, and what is sent to it', async () => {
  const path = join(folder, 'conformance.yaml')
  writeFileSync(join(folder, 'sample.txt'), 'Please translate the leaflet of a museum into German.')
  const sample = '{ title: Translate a leaflet, description: { file: sample.txt }, price: 700 }'
  writeFileSync(
    path,
    `start: ${JSON.stringify(right)}\naccepts: [${sample}]\nrevisions: false\npatience: { quiet: 200ms }\n`,
  )
  const history = join(folder, 'sample.jsonl')
  try {
    const { code, out, err } = await run(['conformance', ...ONLY, '--save-history', history], folder)
    assert.is(code, exitCodes.ok, err)
    assert.match(out, 'declared: it takes no revisions')
    const lines = readFileSync(history, 'utf8')
    assert.match(lines, /"kind":"task","label":"first-task"[^\n]*"price":700,"sample":"accepts"/)
    assert.match(lines, 'Please translate the leaflet')
  } finally {
    rmSync(path)
  }
})

test('several reports are written at once, into folders that are made', async () => {
  const junit = join(folder, 'out', 'junit.xml')
  const page = join(folder, 'out', 'report.html')
  const { code, out } = await judged(...ONLY, '--report', `junit=${junit}`, `html=${page}`, 'tap')
  assert.is(code, exitCodes.check)
  assert.match(out, /^TAP version 14\n1\.\.3\n/)
  assert.match(readFileSync(junit, 'utf8'), '<testsuites')
  assert.ok(existsSync(page))
})

test('a file that can not be written is refused before anything is played', async () => {
  for (const [flag, value, why] of [
    ['--report', 'junit=run.jsonl/x.xml', 'a part of its path is no folder'],
    ['--report', 'json=.', 'is a folder; give a file in it'],
    ['--save-history', join(kept, 'x.jsonl'), 'a part of its path is no folder'],
  ] as const) {
    const { code, out, err } = await run(['conformance', '--start', 'false', flag, value], folder)
    assert.is(code, exitCodes.usage, out + err)
    assert.match(err, flag)
    assert.match(err, why)
  }
})

test('a file that can not be written takes no other with it, and no verdict', async () => {
  const [page, full, history] = [join(folder, 'lost', 'report.html'), 'full.xml', 'full.jsonl']
  for (const name of [full, history]) symlinkSync('/dev/full', join(folder, name))
  const files = ['--save-history', history, '--report', `junit=${full}`, `html=${page}`]
  const { code, out, err } = await judged('--only', 'sig.missing-signature', ...files)
  assert.is(code, exitCodes.check, err)
  assert.match(out, '✖ sig.missing-signature')
  assert.match(err, "--report junit: full.xml can't be written: the disk is full.")
  assert.match(err, "--save-history: full.jsonl can't be written: the disk is full.")
  assert.ok(existsSync(page))
  const green = await judged('--only', 'conn.endpoint-200', '--report', `junit=${full}`)
  assert.is(green.code, exitCodes.failed, 'a pipeline that misses its report is not green')
})

test('a history whose last lines are missing is judged, and says that they are', async () => {
  const cut = join(folder, 'cut.jsonl')
  writeFileSync(cut, `${readFileSync(kept, 'utf8').trimEnd().split('\n').slice(0, -2).join('\n')}\n`)
  const atLine = await run(['conformance', '--history', cut], folder)
  assert.match(atLine.err, 'The history has no end')
  // A full disk cuts where it is full.
  writeFileSync(join(folder, 'half.jsonl'), `${readFileSync(cut, 'utf8')}{"kind":"webhook","label":"on`)
  assert.equal(await run(['conformance', '--history', 'half.jsonl'], folder), atLine)
  writeFileSync(join(folder, 'torn.jsonl'), `${readFileSync(cut, 'utf8')}{"kind":\n`)
  const torn = await run(['conformance', '--history', 'torn.jsonl'], folder)
  assert.is(torn.code, exitCodes.usage)
  assert.match(torn.err, /--history: torn\.jsonl can't be read: line \d+ is no JSON\./)
  assert.not.match((await judged()).err, 'has no end')
})

test('an agent that is not there is exit 5, with its last words', async () => {
  const ended = await run(
    ['conformance', '--start', `node -e 'console.error("no key"); process.exit(3)'`, ...ONLY],
    folder,
  )
  assert.is(ended.code, exitCodes.network)
  assert.match(ended.err, /The agent ended with exit code 3, before it listened/)
  assert.match(ended.err, 'no key')
  const away = await run(['conformance', '--url', 'http://127.0.0.1:9/webhook', ...ONLY], folder, {
    MARKETPLACE_WEBHOOK_SECRET: 'whsec_x',
  })
  assert.is(away.code, exitCodes.network)
  assert.match(away.err, 'Nobody listens at http://127.0.0.1:9/webhook')
})

test('an agent gets nothing from a .env that is not its own, and what it prints of its secrets is not told', async () => {
  writeFileSync(join(folder, '.env'), 'MARKETPLACE_ADMIN_PASSWORD=of-the-file\nFROM_FILE=of-the-file-too\n')
  const names = 'FROM_FILE, DB_PASSWORD, SHOWN, MARKETPLACE_ADMIN_PASSWORD, MARKETPLACE_WEBHOOK_SECRET, MARKETPLACE_KEY'
  const tells = `node -e 'const { ${names} } = process.env; console.error({ ${names} }); process.exit(3)'`
  const given = { DB_PASSWORD: 'correct-horse', MARKETPLACE_ADMIN_PASSWORD: 'of-the-shell', SHOWN: 'what is no secret' }
  const { err } = await run(['conformance', '--start', tells, ...ONLY], folder, given)
  rmSync(join(folder, '.env'))
  assert.match(err, "DB_PASSWORD: 'XXXXXXXXXXXXX'")
  assert.match(err, "WEBHOOK_SECRET: 'whsec_XXX")
  assert.match(err, "KEY: 'svc_XXX")
  assert.match(err, 'FROM_FILE: undefined')
  assert.match(err, 'what is no secret')
  assert.not.match(err, /of-the-|correct-horse|whsec_[^X]|svc_[^X]/)
})

test('an agent whose port another program has is exit 5, and nobody else is judged in its place', async () => {
  const other = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/webhook`
  const listens = `node -e 'require("net").createServer().listen(${port}, "127.0.0.1")'`
  const { code, err } = await run(['conformance', '--start', listens, '--url', url, ...ONLY], folder)
  other.close()
  assert.is(code, exitCodes.network)
  assert.match(err, `something else listens at ${url} already`)
  assert.match(err, 'EADDRINUSE')
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends it with 130 and with the report of what was seen, and leaves no agent`, async () => {
    // It takes its time, so that there is a midst to be interrupted in.
    const slow = readFileSync(join(folder, 'wrong.mjs'), 'utf8').replace(
      'response.writeHead(200)',
      "await import('node:fs').then(fs => { fs.writeFileSync('pid', String(process.pid)); fs.writeFileSync('begun', '') }); await new Promise(r => globalThis.setTimeout(r, 400)); response.writeHead(200)",
    )
    writeFileSync(join(folder, 'slow.mjs'), slow)
    const temporary = join(folder, 'temporary')
    mkdirSync(temporary)
    const { child, ended } = start(['conformance', '--start', 'node slow.mjs', '--json'], folder, { TMPDIR: temporary })
    await until('a webhook has come', () => existsSync(join(folder, 'begun')))
    child.kill(signal)
    const { code, out, err } = await ended
    assert.is(code, exitCodes.interrupted, err)
    const report: Report = JSON.parse(out)
    assert.ok(report.interrupted)
    assert.ok(report.checks.some(({ verdict, text }) => verdict === 'inconclusive' && text !== ''))
    assert.equal(readdirSync(temporary), [])
    rmSync(temporary, { recursive: true })
    rmSync(join(folder, 'begun'))
    await until('the agent has ended', () => !isAlive(Number(readFileSync(join(folder, 'pid'), 'utf8'))))
  })
}

test('--bail ends it at the first broken must, which is told at once', async () => {
  const { code, out, err } = await run(['conformance', '--start', wrong, '--bail', '--json'], folder)
  assert.is(code, exitCodes.check, err)
  const report: Report = JSON.parse(out)
  assert.ok(report.interrupted)
  assert.ok(report.summary.fail > 0 && report.summary.inconclusive > 0)
  const told = await run(['conformance', '--start', wrong, '--bail'], folder)
  assert.match(told.err, /^✖ sig\.[a-z-]+: the agent took it/m)
})

test('the list is short, and what is listed is explained', async () => {
  const { out } = await run(['conformance', '--list', '--json'], folder)
  const { items } = JSON.parse(out).data
  const { id, fix } = items.find((item: { id: string }) => item.id === 'sig.valid')
  assert.match((await run(['conformance', '--explain', id], folder)).out, fix)
  assert.match(
    (await run(['conformance', '--list', '--only', 'conn.endpoint-200'], folder)).out,
    /^conn\.endpoint-200 {2}must {2}/,
  )
})

test('an explanation with a history shows the requests that broke the check, as they went over the wire', async () => {
  const seen = await judged('--explain', 'sig.missing-signature')
  assert.is(seen.code, exitCodes.ok)
  assert.match(
    seen.out,
    /seen {2}fail: the agent took it.*\n\n→ task\.submitted.*\n {2}POST http.*\n {2}\{"event":.*\n {2}200\n/s,
  )
  const { verdict, events } = JSON.parse((await judged('--explain', 'sig.missing-signature', '--json')).out).data
  assert.equal([verdict, events[0].kind], ['fail', 'webhook'])
  assert.match((await judged('--explain', 'sig.valid')).out, /seen {2}pass\n$/)
  assert.not.match((await judged('--explain', 'dup.retry')).out, 'seen', 'it was not played')
})

test.run()
