/** JUnit's XML, which every CI service reads: an area is a suite, a check a test. */
import type { History } from '../history.ts'
import type { Report, ReportedCheck } from '../report.ts'
import { areaOf, details, isBroken, seen } from './findings.ts'
import { type Element, xml } from './xml.ts'

export function junit(report: Report, history: History): string {
  const { checks, startedAt, ms } = report
  const areas = [...new Set(checks.map(areaOf))]
  const suites = areas.map(area => {
    const those = checks.filter(check => areaOf(check) === area)
    return {
      ...{ '@name': area, ...countsOf(those), '@time': 0, '@timestamp': startedAt.slice(0, 19) },
      testcase: those.map(check => caseOf(check, history)),
    }
  })
  return xml({
    testsuites: { '@name': 'conformance', ...countsOf(checks), '@time': ms / 1_000, testsuite: suites },
  })
}

const countsOf = (checks: readonly ReportedCheck[]) => ({
  '@tests': checks.length,
  '@failures': checks.filter(isBroken).length,
  '@errors': checks.filter(({ verdict }) => verdict === 'inconclusive').length,
  '@skipped': checks.filter(({ verdict }) => verdict === 'untested').length,
})

function caseOf(check: ReportedCheck, history: History): Element {
  const { id, title, level, verdict } = check
  const about = { '@classname': areaOf(check), '@name': `${id}: ${title}`, '@time': 0 }
  const message = seen(check)
  if (isBroken(check))
    return { ...about, failure: { '@type': level, '@message': message, '#text': details(check, history) } }
  if (verdict === 'inconclusive') return { ...about, error: { '@type': level, '@message': message } }
  if (verdict === 'untested') return { ...about, skipped: { '@message': message } }
  // It has no warnings.
  return message === '' ? about : { ...about, 'system-out': { '#text': `${verdict}: ${details(check, history)}` } }
}
