/** JUnit's XML, which every CI service reads: an area is a suite, a check a test. */
import type { History } from '../history.ts'
import type { Report, ReportedCheck } from '../report.ts'
import { deathsTold, STAYS_UP } from './deaths.ts'
import { areaOf, details, isBroken, seen } from './findings.ts'
import { type Element, xml } from './xml.ts'

export function junit(report: Report, history: History): string {
  const { checks, ms } = report
  const areas = [...new Set(checks.map(areaOf))]
  const suites = areas.map(area => {
    const those = checks.filter(check => areaOf(check) === area)
    return suiteOf(
      area,
      those.map(check => caseOf(check, history)),
      report,
    )
  })
  const life = lifeCase(report, history)
  if (life) suites.unshift(suiteOf(STAYS_UP.area, [life], report))
  const cases = suites.flatMap(({ testcase }) => testcase)
  return xml({
    testsuites: { '@name': 'conformance', ...countsOf(cases), '@time': ms / 1_000, testsuite: suites },
  })
}

const suiteOf = (name: string, cases: readonly Element[], { startedAt }: Report) => ({
  ...{ '@name': name, ...countsOf(cases), '@time': 0, '@timestamp': startedAt.slice(0, 19) },
  testcase: cases,
})

const countsOf = (cases: readonly Element[]) => ({
  '@tests': cases.length,
  '@failures': cases.filter(({ failure }) => failure).length,
  '@errors': cases.filter(({ error }) => error).length,
  '@skipped': cases.filter(({ skipped }) => skipped).length,
})

/** A case of its own: what could not be tried any more is skipped, so nothing else might be red. */
function lifeCase(report: Report, history: History): Element | null {
  const deaths = deathsTold(report, history)
  if (!deaths) return null
  const about = { '@classname': STAYS_UP.area, '@name': STAYS_UP.name, '@time': 0 }
  const { isBroken, seen, details } = deaths
  if (!isBroken) return { ...about, 'system-err': { '#text': details } }
  return { ...about, error: { '@type': 'ended', '@message': seen, '#text': details } }
}

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
