// engines: embedded; process: own; lengths: short, long
/** Each form of a report, read by a program that others have written for it. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import axe from 'axe-core'
import { validate as validateCtrf } from 'ctrf'
import { XMLValidator } from 'fast-xml-parser'
import { Parser as TapParser } from 'tap-parser'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checks as census } from '../../src/conform/checks/index.ts'
import { contentOf, type Happening, History } from '../../src/conform/history/history.ts'
import {
  behind,
  broken,
  type Check,
  type Finding,
  holds,
  inconclusive,
  type Level,
  untested,
} from '../../src/conform/judging/check.ts'
import { type Report, reportOf } from '../../src/conform/judging/report.ts'
import { areas } from '../../src/conform/reports/areas.ts'
import { annotations } from '../../src/conform/reports/github.ts'
import { reports } from '../../src/conform/reports/index.ts'
import type { ReportName } from '../../src/conform/reports/names.ts'
import { reportSchema } from '../docs/report-schema.ts'
import { openBrowser } from '../support/browser.ts'
import { isLong } from '../support/length.ts'
import { begin, historyOf, played, reply } from './made-up.ts'
import { junitSuites, sarifRun, tapFailures } from './report-readers.ts'

const test = suite('reports')

/** What an agent may answer. */
const HOSTILE =
  '</script><img src="http://127.0.0.1:1/x" onerror=alert(1)>]]>&amp; "\' | `#` \u0001\u001b[31m\ufffe %0A::error:: \ud83d done'

const about = { url: 'http://localhost:1/webhook', headers: [['X-A', HOSTILE]] as const }
const answer = { status: 200, headers: [], body: contentOf(Buffer.from(HOSTILE)) }
const happenings: Happening[] = [
  {
    ...{ kind: 'begin', schema: 'conformance-history/1', version: '1.0.0', seed: 7 },
    agent: { url: about.url, command: `node agent.js --say "${HOSTILE}"` },
    ...{ patience: { answer: 1, work: 1 }, declared: ['it takes no revisions'] },
  },
  { kind: 'task', label: 'a.fail', taskId: 'task_1', canary: 'ref-1', price: 500, sample: 'usual' },
  {
    ...{ kind: 'webhook', label: 'a.fail', taskId: 'task_1', event: 'task.submitted', deliveryId: 'd', attempt: 1 },
    ...{ change: 'copy', genuine: true, method: 'POST', ...about, body: answer.body, answer, error: null, ms: 3 },
  },
  {
    ...{ kind: 'callback', label: 'a.fail', taskId: 'task_1', action: 'deliver', method: 'POST', path: '/x?y' },
    ...{ headers: about.headers, body: answer.body, signature: 'valid', answer, fault: null, ms: 1 },
  },
  played('play', { ms: 3 }),
  { kind: 'end', interrupted: false, ms: 1_234 },
]
const history = historyOf(happenings)

const check = (id: string, finding: Finding, level: Level = 'must'): Check => ({
  ...{
    id,
    level,
    title: `is right about ${HOSTILE}`,
    law: { source: 'I-json', quote: HOSTILE },
    why: HOSTILE,
    fix: 'Do it `right`.',
  },
  scenario: 'play',
  judge: () => finding,
})

const checks = [
  check('a.pass', holds),
  check('a.fail', broken(`said ${HOSTILE}`, { seq: 3 }, { seq: 4 })),
  check('a.excused', broken('was wrong', { seq: 3 })),
  check('b.warn', broken('was weak', { seq: 3 }), 'should'),
  check('b.untested', untested(HOSTILE)),
  check('b.inconclusive', inconclusive('no power')),
]
const report: Report = reportOf(checks, history, {
  known: checks.map(({ id }) => id),
  baseline: { 'a.excused': { verdict: 'fail', why: 'the old box' } },
})

const written = (name: ReportName) => reports[name](report, history)

/** The agent has ended of the webhook, so that one check could not be tried. */
const endedHistory = new History(
  history.events.toSpliced(4, 0, {
    ...{ kind: 'process', what: 'ended', text: 'by SIGSEGV', ms: 0, seq: 9, lane: null, at: 0 },
    ...{ realAt: history.begin.realAt + 5, death: { code: null, signal: 'SIGSEGV', lastWords: [HOSTILE] } },
  }),
)
const endedReport = (...some: readonly Check[]): Report => reportOf(some, endedHistory, { known: [] })
const lost = check('b.lost', behind('agent.ended', 'the agent had ended by SIGSEGV'))
/** It decides about the run, or is told by the way. */
const ended = endedReport(check('a.pass', holds), lost)
const endedAfterAll = endedReport(check('a.pass', holds))
const writtenOf = (name: ReportName, about: Report) => reports[name](about, endedHistory)
const SENTENCE = 'the agent ended by SIGSEGV, 0.0 s into the run, after task.submitted (copy) of a.fail'
const ids = ['a.pass', 'a.fail', 'a.excused', 'b.warn', 'b.untested', 'b.inconclusive']

test('json has the shape that is published', () => {
  const ajv = new Ajv2020({ strict: false })
  ajvFormats.default(ajv)
  const validate = ajv.compile(reportSchema())
  assert.ok(validate(JSON.parse(written('json'))), JSON.stringify(validate.errors))
  assert.not(validate({ ...report, checks: [{ ...report.checks[0], verdict: 'green' }] }))
  const published = JSON.parse(readFileSync('docs/reference/conformance-run.schema.json', 'utf8'))
  assert.equal(published, JSON.parse(JSON.stringify(reportSchema())))
})

test('ctrf is valid, and only what breaks the run has failed', () => {
  const document = JSON.parse(written('ctrf'))
  const { valid, errors } = validateCtrf(document)
  assert.ok(valid, JSON.stringify(errors))
  assert.equal(
    document.results.tests.map(({ status }: { status: string }) => status),
    ['failed', 'passed', 'passed', 'passed', 'skipped', 'other'],
  )
  const { failed, passed, skipped, other, tests } = document.results.summary
  assert.equal([failed, passed, skipped, other, tests], [1, 3, 1, 1, 6])
})

test('junit has its schema, whatever an agent says, and has a failure for what breaks the run', async () => {
  const text = written('junit')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML can't have them
  assert.not.match(text, /[\u0001\u001b\ufffe]/)
  const { testsuite: suites } = await junitSuites(text)
  assert.equal(
    suites.map(one => [one['@_name'], one['@_tests'], one['@_failures'], one['@_errors'], one['@_skipped']]),
    [
      ['a', '3', '1', '0', '0'],
      ['b', '3', '0', '1', '1'],
    ],
  )
  const cases = suites.flatMap(one => one.testcase)
  const kinds = cases.map(one =>
    Object.keys(one)
      .filter(name => !name.startsWith('@_'))
      .join(),
  )
  assert.equal(kinds, ['failure', '', 'system-out', 'system-out', 'skipped', 'error'])
  assert.match(cases[0]!.failure!['#text']!, '<img src=')
  // Six checks share the 3 ms of their scenario.
  const play = historyOf([...happenings.slice(0, -2), played('play', { ms: 6_000 }), happenings.at(-1)!])
  const timed = reports.junit(reportOf(checks, play, { known: ids }), play)
  assert.is(timed.match(/<testcase [^>]*time="1"/g)?.length, 6)
  assert.is(timed.match(/<testsuite [^>]*time="3"/g)?.length, 2)
})

test('an end of the agent is one red test in every form, and none where it decides nothing', async () => {
  const { testsuite: suites, ...junit } = await junitSuites(writtenOf('junit', ended))
  assert.equal([junit['@_tests'], junit['@_errors']], ['3', '1'])
  const { error, ...about } = suites[0]!.testcase[0]!
  assert.equal([about['@_classname'], about['@_name']], ['agent', 'agent: stays up'])
  assert.is(error!['@_message'], `${SENTENCE}: 1 check is behind it`)
  assert.match(error!['#text']!, '<img src=')
  const after = await junitSuites(writtenOf('junit', endedAfterAll))
  assert.equal([after['@_tests'], after['@_errors']], ['2', '0'])
  assert.match(after.testsuite[0]!.testcase[0]!['system-err']!, `Seen: ${SENTENCE}\n`)

  for (const [about, status] of [
    [ended, 'failed'],
    [endedAfterAll, 'passed'],
  ] as const) {
    const document = JSON.parse(writtenOf('ctrf', about))
    const { valid, errors } = validateCtrf(document)
    assert.ok(valid, JSON.stringify(errors))
    const [first] = document.results.tests
    assert.equal([first.name, first.status], ['agent: stays up', status])
    assert.equal(first.extra.deaths, about.deaths)
    assert.is(document.results.summary.failed, status === 'failed' ? 1 : 0)
    assert.is(await tapFailures(writtenOf('tap', about)), status === 'failed' ? 'agent: stays up' : '')
    const { results, tool } = sarifRun(writtenOf('sarif', about))
    assert.equal([results[0].ruleId, results[0].level], ['agent.ended', status === 'failed' ? 'error' : 'note'])
    assert.is(tool.driver.rules[results[0].ruleIndex].id, 'agent.ended')
    const lines = annotations(about, endedHistory).split('\n')
    assert.equal(lines.length, status === 'failed' ? 2 : 1)
    if (status === 'failed') assert.match(lines[0]!, `::error title=The agent has not stayed up::Seen: ${SENTENCE}`)
    assert.is(writtenOf('badge', about).includes('#b3261e'), status === 'failed')
    for (const name of ['html', 'github'] as const) assert.match(writtenOf(name, about), SENTENCE)
  }
})

test('a run whose time was over is one red test in every form, whatever came of the checks', async () => {
  const events = history.events.map(one => (one.kind === 'end' ? { ...one, interrupted: true, limitMs: 60_000 } : one))
  const cut = new History(events)
  const about = reportOf([check('a.pass', holds)], cut, { known: [] })
  const said = (name: ReportName) => reports[name](about, cut)
  const sentence = 'The run was ended after 1m, as its time was over: 0 checks are inconclusive. --timeout 2m gives'
  const suite = (await junitSuites(said('junit'))).testsuite[0]!
  assert.equal([suite['@_errors'], suite.testcase[0]!['@_name']], ['1', 'run: ends in time'])
  assert.match(suite.testcase[0]!.error!['@_message']!, sentence)
  const { results: ctrf } = JSON.parse(said('ctrf'))
  assert.equal([ctrf.tests[0].name, ctrf.tests[0].status, ctrf.summary.failed], ['run: ends in time', 'failed', 1])
  assert.is(await tapFailures(said('tap')), 'run: ends in time')
  const { results, tool } = sarifRun(said('sarif'))
  assert.equal([results[0].ruleId, results[0].level], ['run.time-over', 'error'])
  assert.is(tool.driver.rules[results[0].ruleIndex].id, 'run.time-over')
  assert.match(annotations(about, cut), `::error title=The time of the run was over::Seen: ${sentence}`)
  for (const name of ['html', 'github'] as const) assert.match(said(name).replaceAll('\\', ''), sentence)
  assert.match(said('badge'), 'must 1/1 · should 0/0 · time over')
  assert.not.match(said('badge'), '#2e7d32')
})

test('every form begins with the causes, in order, and leaves what is behind one grey, with its cause', async () => {
  const after = (id: string, one: Check): Check => ({ ...one, after: [id] })
  const bugs = [
    check('a.small', broken('was wrong', { seq: 3 })),
    check('b.large', broken('was wrong', { seq: 3 })),
    after('b.large', check('b.waits', holds)),
    after('b.large', check('a.waits', broken('was wrong', { seq: 3 }))),
  ]
  const about = reportOf(bugs, history, { known: [] })
  const said = (name: ReportName) => reports[name](about, history)
  const order = ['b.large', 'a.small']
  const goes = 'These go with it: b.waits, a.waits'
  assert.equal(JSON.parse(said('json')).causes, [
    { id: 'b.large', behind: ['b.waits', 'a.waits'] },
    { id: 'a.small', behind: [] },
  ])
  const { testsuite: suites } = await junitSuites(said('junit'))
  assert.match(suites[0]!.testcase[0]!['@_name'], /^b\.large: /)
  assert.match(suites[0]!.testcase[0]!.failure!['#text']!, goes)
  assert.match(said('junit'), '<skipped message="behind: after b.large failed"')
  const { tests } = JSON.parse(said('ctrf')).results
  const first = (names: readonly string[]) => names.slice(0, 2).map(name => name.split(':', 1)[0])
  assert.equal(first(tests.map(({ name }: { name: string }) => name)), order)
  assert.equal(
    tests.slice(2).map(({ status, rawStatus }: { status: string; rawStatus: string }) => `${status} ${rawStatus}`),
    ['skipped behind', 'skipped behind'],
  )
  const { results } = sarifRun(said('sarif'))
  assert.equal(first(results.map(({ ruleId }: { ruleId: string }) => ruleId)), order)
  assert.match(results[0].message.text, goes)
  assert.is(results[2].kind, 'notApplicable')
  assert.match(results[2].message.text, 'Seen: behind: after b.large failed')
  assert.match(
    said('tap'),
    /^not ok 1 - b\.large: .*\n {2}---\n(?: {2}.*\n)*? {2}behind:\n {4}- b\.waits\n {4}- a\.waits\n/m,
  )
  assert.match(said('tap'), ' # SKIP behind: after b.large failed\n')
  assert.match(said('github'), `\nMend in this order:\n\n1. b.large. ${goes}\n2. a.small\n`)
  assert.match(annotations(about, history).split('\n')[0]!, `. ${goes}. Do it`)
  assert.match(said('html'), '<li><a href="#b.large">b.large</a><span class="behind">. These go with it: <a href="#b.w')
  assert.match(said('html'), '<p class="behind">behind: after b.large failed (<a href="#b.large">b.large</a>)</p>')
  assert.match(said('badge'), 'must 0/2 · should 0/0 · 2 causes, 2 behind them')
})

test('tap is read as a plan with one failure and one point without a verdict', async () => {
  const parser = new TapParser()
  const points: { ok: boolean; name: string; skip: unknown; diag: { verdict: string; seen: string } | null }[] = []
  parser.on('assert', point => points.push(point))
  const complete = new Promise<{
    ok: boolean
    count: number
    pass: number
    fail: number
    failures: object[]
    bailout: unknown
  }>(resolve => parser.on('complete', resolve))
  parser.end(written('tap'))
  const { count, fail, failures } = await complete
  assert.equal([count, fail, failures.length], [6, 2, 2])
  assert.equal(
    points.map(({ ok }) => ok),
    [false, true, true, true, true, false],
  )
  assert.ok(points[4]!.skip)
  assert.is(points[0]!.diag?.verdict, 'fail')
  assert.match(points[0]!.diag!.seen, 'the agent said </script>')
})

test('sarif has the schema of its version', () => {
  const { results } = sarifRun(written('sarif'))
  assert.equal(
    results.map(({ kind, level }: { kind: string; level: string }) => `${kind} ${level}`),
    ['fail error', 'pass none', 'fail note', 'fail warning', 'notApplicable none', 'open none'],
  )
  const { $schema, version } = JSON.parse(written('sarif'))
  assert.equal([/sarif-schema-(.*)\.json$/.exec($schema)?.[1], version], ['2.1.0', '2.1.0'])
  assert.is(results[0].locations[0].physicalLocation.artifactLocation.uri, 'agent.js')
})

test('the summary and the annotations of github say what is broken, and what agents say is no markup in them', () => {
  const page = written('github')
  assert.match(page, '## Conformance: FAILED\nthe agent did 1 thing wrong that it must do right. Mend a.fail first.\n')
  assert.match(page, '\nmust 1/3 · should 0/1 · 1 untested · 1 inconclusive\n')
  assert.match(page, '### ❌ a.fail (must)')
  const prose = page.replace(/^(`{3,})text\n.*?\n\1$/gms, '')
  assert.not.match(prose, /(?<!\\)<img/)
  const lines = annotations(report, history).split('\n')
  assert.is(lines.length, 2)
  assert.match(lines[0]!, /^::error title=a\.fail%3A [^:]*::the agent said .*%250A/)
})

test('the badge is SVG, in the colour of the worst', () => {
  const text = written('badge')
  assert.is(XMLValidator.validate(text), true)
  assert.match(text, '#b3261e')
  assert.match(text, 'must 1/3 · should 0/1')
})

test('the page and the summary say what came of the run in a word, and explain areas; links lead somewhere', () => {
  const quiet = historyOf([begin])
  const page = reports.html(reportOf(census, quiet, { known: [] }), quiet)
  const unsure = reportOf([check('b.unsure', inconclusive('no power'))], history, { known: [] })
  assert.match(
    reports.html(unsure, history),
    '<p class="totals inconclusive">INCONCLUSIVE: 1 thing could not be told apart',
  )
  for (const [area, about] of Object.entries(areas))
    assert.match(page, `>${area}</a> <span class="about">${about}</span>`)
  assert.equal([...new Set(census.map(({ id }) => id.split('.')[0]))].sort(), Object.keys(areas).sort())
  assert.not.match(page, '`')
  assert.match(page, 'On <code>task.revision_requested</code> send <code>deliver</code> alone')
  assert.match(written('html'), 'Mend <a href="#a.fail">a.fail</a> first.')
  for (const one of [page, written('html')])
    for (const [, target] of one.matchAll(/ href="([^"]*)"/g)) assert.match(one, `id="${target!.slice(1)}"`, target)
  const strictly = reports.html(endedAfterAll, endedHistory, { strict: false, complete: false })
  assert.match(strictly, 'PASSED: the agent did everything that it must.')
  const weak = reportOf([check('b.weak', broken('was weak', { seq: 3 }), 'should')], history, { known: [] })
  assert.match(
    reports.html(weak, history),
    'PASSED: the agent did everything that it must, and 1 thing otherwise than it should.',
  )
  assert.match(reports.html(weak, history, { strict: true, complete: false }), '<p class="totals fail">FAILED: ')
  assert.match(reports.github(weak, history, { strict: true, complete: false }), '## Conformance: FAILED\n')
})

test('a page for GitHub that would be too long ends with a whole line, and no code within ends a fence', () => {
  const many = Array.from({ length: 20 }, (_, at) => ({
    ...check(`a.${at}`, broken('was wrong')),
    fix: 'so '.repeat(20_000),
  }))
  const page = reports.github(reportOf(many, history, { known: [] }), history)
  // GitHub takes 1 MiB.
  assert.ok(Buffer.byteLength(page) <= 1_048_576 && page.endsWith('\n'), page.slice(-20))
  assert.match(page, '### ❌ a.15 ')
  const ticked = { status: 400, headers: [], body: contentOf(Buffer.from('not ````so````')) }
  const refused = historyOf([begin, reply('a', { answer: ticked }), played('play')])
  const fenced = reports.github(
    reportOf([check('a.b', broken('was wrong', { seq: 2 }))], refused, { known: [] }),
    refused,
  )
  assert.match(fenced, /^`{5}text\n.*````so````.*\n`{5}$/m)
})

if (isLong) {
  test('the page asks nobody for anything, runs nothing, and has no fault of accessibility', async () => {
    const page = written('html')
    assert.ok(Buffer.byteLength(page) < 400 * 1024)
    const { browser, close } = await openBrowser()
    try {
      // Its own policy would keep the tester out too.
      const context = await browser.newContext({ bypassCSP: true, viewport: { width: 375, height: 800 } })
      const tab = await context.newPage()
      const asked: string[] = []
      tab.on('request', request => asked.push(request.url()))
      tab.on('dialog', dialog => {
        asked.push(dialog.message())
        void dialog.dismiss()
      })
      for (const colorScheme of ['light', 'dark'] as const) {
        await tab.emulateMedia({ colorScheme })
        await tab.setContent(page)
        for (const details of await tab.locator('details:not([open]) > summary').all())
          if (await details.isVisible()) await details.click()
        await tab.addScriptTag({ content: axe.source })
        const violations = await tab.evaluate(
          'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))',
        )
        assert.equal(violations, [], colorScheme)
      }
      assert.equal(asked, [])
      assert.is(await tab.locator('main img, main script').count(), 0)
      assert.is(await tab.locator('main > details').count(), ids.length)
      const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
      assert.is(await tab.evaluate(overflow), false)
      const real = reportOf(census, historyOf(happenings), { known: [] })
      await tab.setContent(reports.html(real, history))
      assert.is(await tab.evaluate(overflow), false, 'a report of all checks')
    } finally {
      await close()
    }
  })
}

test.run()
