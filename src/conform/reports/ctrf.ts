/** The Common Test Report Format, which has readers for most chat and CI services. */
import type { History } from '../history.ts'
import type { Verdict } from '../judge.ts'
import type { Report, ReportedCheck } from '../report.ts'
import { deathsTold, STAYS_UP } from './deaths.ts'
import { areaOf, details, isBroken, PACKAGE, seen } from './findings.ts'

/** It has no warnings. */
const statuses: Readonly<Record<Exclude<Verdict, 'fail'>, string>> = {
  pass: 'passed',
  warn: 'passed',
  untested: 'skipped',
  inconclusive: 'other',
}

const statusOf = (check: ReportedCheck) =>
  check.verdict === 'fail' ? (isBroken(check) ? 'failed' : 'passed') : statuses[check.verdict]

export function ctrf(report: Report, history: History): string {
  const { checks, version, ms, startedAt } = report
  const start = Date.parse(startedAt)
  const judged = checks.map(check => ({
    name: `${check.id}: ${check.title}`,
    status: statusOf(check),
    rawStatus: check.verdict,
    duration: 0,
    suite: [areaOf(check)],
    tags: [check.level],
    ...(check.text !== '' && { message: seen(check) }),
    ...(isBroken(check) && { trace: details(check, history) }),
  }))
  const tests = [...lifeTests(report, history), ...judged]
  const count = (status: string) => tests.filter(one => one.status === status).length
  const summary = {
    tests: tests.length,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    pending: 0,
    other: count('other'),
    start,
    stop: start + ms,
  }
  const results = { tool: { name: PACKAGE, version }, summary, tests }
  return `${JSON.stringify({ reportFormat: 'CTRF', specVersion: '1.0.0', timestamp: startedAt, generatedBy: PACKAGE, results }, null, 2)}\n`
}

/** A test of its own: what could not be tried any more is skipped, so nothing else might be red. */
function lifeTests(report: Report, history: History) {
  const deaths = deathsTold(report, history)
  if (!deaths) return []
  const { isBroken, seen, details } = deaths
  return [
    {
      name: STAYS_UP.name,
      ...{ status: isBroken ? 'failed' : 'passed', rawStatus: 'ended', duration: 0, suite: [STAYS_UP.area] },
      ...{ message: seen, trace: details, extra: { deaths: report.deaths } },
    },
  ]
}
