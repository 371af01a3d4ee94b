/** JUnit's XML, which every CI service reads: an area is a suite, a check a test. */
import type { History } from '../history/history.ts'
import { isBroken, type Report, type ReportedCheck } from '../judging/report.ts'
import { areaOf, details, inOrder, seen } from './findings.ts'
import { type RunTest, runTests } from './run-tests.ts'
import { type Element, xml } from './xml.ts'

export function junit(report: Report, history: History): string {
  const { ms } = report
  const checks = inOrder(report)
  const areas = [...new Set(checks.map(areaOf))]
  const suites = areas.map(area => {
    const those = checks.filter(check => areaOf(check) === area)
    return suiteOf(
      area,
      those.map(check => caseOf(check, history, report)),
      report,
    )
  })
  suites.unshift(...runTests(report, history).map(one => suiteOf(one.area, [caseOfRun(one)], report)))
  const cases = suites.flatMap(({ testcase }) => testcase)
  return xml({
    // Jenkins knows no number of skipped tests here.
    testsuites: { '@name': 'conformance', ...failedIn(cases), '@time': ms / 1_000, testsuite: suites },
  })
}

const suiteOf = (name: string, cases: readonly Element[], { startedAt }: Report) => ({
  ...{ '@name': name, ...countsOf(cases), '@time': timeOf(cases), '@timestamp': startedAt.slice(0, 19) },
  testcase: cases,
})

/** Of thousandths, whose sums have more digits in binary. */
const timeOf = (cases: readonly Element[]) =>
  Number(cases.reduce((sum, one) => sum + Number(one['@time']), 0).toFixed(3))

const failedIn = (cases: readonly Element[]) => ({
  '@tests': cases.length,
  '@failures': cases.filter(({ failure }) => failure).length,
  '@errors': cases.filter(({ error }) => error).length,
})

const countsOf = (cases: readonly Element[]) => ({
  ...failedIn(cases),
  '@skipped': cases.filter(({ skipped }) => skipped).length,
})

function caseOfRun({ area, name, id, isBroken, seen, details }: RunTest): Element {
  const about = { '@classname': area, '@name': name, '@time': 0 }
  if (!isBroken) return { ...about, 'system-err': { '#text': details } }
  return { ...about, error: { '@type': id, '@message': seen, '#text': details } }
}

function caseOf(check: ReportedCheck, history: History, report: Report): Element {
  const { id, title, level, verdict, ms } = check
  const about = { '@classname': areaOf(check), '@name': `${id}: ${title}`, '@time': ms / 1_000 }
  const message = seen(check)
  if (isBroken(check))
    return { ...about, failure: { '@type': level, '@message': message, '#text': details(check, history, report) } }
  if (verdict === 'inconclusive') return { ...about, error: { '@type': level, '@message': message } }
  if (verdict === 'untested' || verdict === 'behind') return { ...about, skipped: { '@message': message } }
  // It has no warnings.
  return message === ''
    ? about
    : { ...about, 'system-out': { '#text': `${verdict}: ${details(check, history, report)}` } }
}
