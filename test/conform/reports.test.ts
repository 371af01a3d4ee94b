// engines: embedded; process: own; lengths: short, long
/** Each form of a report, read by a program that others have written for it. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import axe from 'axe-core'
import { validate as validateCtrf } from 'ctrf'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { Parser as TapParser } from 'tap-parser'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { contentOf, type Happening, History } from '../../src/conform/history/history.ts'
import {
  broken,
  type Check,
  type Finding,
  holds,
  inconclusive,
  type Level,
  untested,
} from '../../src/conform/judging/check.ts'
import { type Report, reportOf } from '../../src/conform/judging/report.ts'
import { annotations } from '../../src/conform/reports/github.ts'
import { reports } from '../../src/conform/reports/index.ts'
import type { ReportName } from '../../src/conform/reports/names.ts'
import { reportSchema } from '../docs/report-schema.ts'
import { openBrowser } from '../support/browser.ts'
import { isLong } from '../support/length.ts'
import { historyOf, played } from './made-up.ts'
import { sarifRun, tapFailures } from './report-readers.ts'

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
const lost = check('b.lost', untested('the agent had ended by SIGSEGV'))
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
    ['passed', 'failed', 'passed', 'passed', 'skipped', 'other'],
  )
  const { failed, passed, skipped, other, tests } = document.results.summary
  assert.equal([failed, passed, skipped, other, tests], [1, 3, 1, 1, 6])
})

test('junit is well formed, whatever an agent says, and has a failure for what breaks the run', () => {
  const text = written('junit')
  assert.is(XMLValidator.validate(text), true)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML can't have them
  assert.not.match(text, /[\u0001\u001b\ufffe]/)
  const { testsuites } = new XMLParser({ ignoreAttributes: false, isArray: name => name.startsWith('test') }).parse(
    text,
  )
  const suites = testsuites[0].testsuite
  assert.equal(
    suites.map((one: Record<string, string>) => [
      one['@_name'],
      one['@_tests'],
      one['@_failures'],
      one['@_errors'],
      one['@_skipped'],
    ]),
    [
      ['a', '3', '1', '0', '0'],
      ['b', '3', '0', '1', '1'],
    ],
  )
  const cases = suites.flatMap((one: { testcase: object[] }) => one.testcase)
  const kinds = cases.map((one: object) =>
    Object.keys(one)
      .filter(name => !name.startsWith('@_'))
      .join(),
  )
  assert.equal(kinds, ['', 'failure', 'system-out', 'system-out', 'skipped', 'error'])
  assert.match(cases[1].failure['#text'], '<img src=')
})

test('an end of the agent is one red test in every form, and none where it decides nothing', async () => {
  const parse = (text: string) =>
    new XMLParser({ ignoreAttributes: false, isArray: name => name.startsWith('testc') }).parse(text).testsuites
  const { testsuite: suites, ...junit } = parse(writtenOf('junit', ended))
  assert.equal([junit['@_tests'], junit['@_errors'], junit['@_skipped']], ['3', '1', '1'])
  const [{ error, ...about }] = suites[0].testcase
  assert.equal([about['@_classname'], about['@_name']], ['agent', 'agent: stays up'])
  assert.is(error['@_message'], `${SENTENCE}: 1 check is untested`)
  assert.match(error['#text'], '<img src=')
  const after = parse(writtenOf('junit', endedAfterAll))
  assert.equal([after['@_tests'], after['@_errors']], ['2', '0'])
  assert.match(after.testsuite[0].testcase[0]['system-err'], `Seen: ${SENTENCE}\n`)

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
  const [suite] = new XMLParser({ ignoreAttributes: false, isArray: name => name.startsWith('testc') }).parse(
    said('junit'),
  ).testsuites.testsuite
  assert.equal([suite['@_errors'], suite.testcase[0]['@_name']], ['1', 'run: ends in time'])
  assert.match(suite.testcase[0].error['@_message'], sentence)
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
    [true, false, true, true, true, false],
  )
  assert.ok(points[4]!.skip)
  assert.is(points[1]!.diag?.verdict, 'fail')
  assert.match(points[1]!.diag!.seen, 'the agent said </script>')
})

test('sarif has the schema of its version', () => {
  const { results } = sarifRun(written('sarif'))
  assert.equal(
    results.map(({ kind, level }: { kind: string; level: string }) => `${kind} ${level}`),
    ['pass none', 'fail error', 'fail note', 'fail warning', 'notApplicable none', 'open none'],
  )
  assert.is(results[0].locations[0].physicalLocation.artifactLocation.uri, 'agent.js')
})

test('the summary and the annotations of github say what is broken, and what agents say is no markup in them', () => {
  const page = written('github')
  assert.match(page, '## Conformance: must 1/3 · should 0/1 · 1 untested · 1 inconclusive')
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

if (isLong) {
  test('the page asks nobody for anything, runs nothing, and has no fault of accessibility', async () => {
    const page = written('html')
    assert.ok(Buffer.byteLength(page) < 400 * 1024)
    const { browser, close } = await openBrowser()
    try {
      // Its own policy would keep the tester out too.
      const context = await browser.newContext({ bypassCSP: true, viewport: { width: 420, height: 800 } })
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
    } finally {
      await close()
    }
  })
}

test.run()
