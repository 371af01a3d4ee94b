/** The Common Test Report Format, which has readers for most chat and CI services. */
import type { History } from '../history/history.ts'
import type { Verdict } from '../judging/judge.ts'
import { isBroken, type Report, type ReportedCheck } from '../judging/report.ts'
import { areaOf, details, inOrder, PACKAGE, seen } from './findings.ts'
import { runTests } from './run-tests.ts'

/** It has no warnings. */
const statuses: Readonly<Record<Exclude<Verdict, 'fail'>, string>> = {
  pass: 'passed',
  warn: 'passed',
  behind: 'skipped',
  untested: 'skipped',
  inconclusive: 'other',
}

const statusOf = (check: ReportedCheck) =>
  check.verdict === 'fail' ? (isBroken(check) ? 'failed' : 'passed') : statuses[check.verdict]

export function ctrf(report: Report, history: History): string {
  const { version, ms, startedAt } = report
  const start = Date.parse(startedAt)
  const judged = inOrder(report).map(check => ({
    name: `${check.id}: ${check.title}`,
    status: statusOf(check),
    rawStatus: check.verdict,
    duration: check.ms,
    suite: [areaOf(check)],
    tags: [check.level],
    ...(check.text !== '' && { message: seen(check) }),
    ...(isBroken(check) && { trace: details(check, history, report) }),
  }))
  const tests = [...testsOfRun(report, history), ...judged]
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

const testsOfRun = (report: Report, history: History) =>
  runTests(report, history).map(({ name, area, id, isBroken, seen, details }) => ({
    name,
    ...{ status: isBroken ? 'failed' : 'passed', rawStatus: id, duration: 0, suite: [area] },
    ...{ message: seen, trace: details, ...(report.deaths.length > 0 && { extra: { deaths: report.deaths } }) },
  }))
