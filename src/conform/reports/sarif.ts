/** SARIF 2.1.0, for the code scanning of GitHub and of editors: a check is a rule. */

import type { History } from '../history/history.ts'
import type { Level } from '../judging/check.ts'
import { isBroken, type Report, type ReportedCheck } from '../judging/report.ts'
import { details, inOrder, PACKAGE } from './findings.ts'
import { runTests } from './run-tests.ts'

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

export function sarif(report: Report, history: History): string {
  const { version, agent } = report
  const checks = inOrder(report)
  const locations = [{ physicalLocation: { artifactLocation: { uri: fileIn(agent.command) } } }]
  const rules: object[] = checks.map(({ id, title, level, why, fix, law }) => ({
    id,
    shortDescription: { text: title },
    fullDescription: { text: `${why} ${law.source}: ${law.quote}` },
    help: { text: fix },
    defaultConfiguration: { level: levels[level] },
  }))
  const results: object[] = checks.map((check, ruleIndex) => ({
    ruleId: check.id,
    ruleIndex,
    ...kindOf(check),
    message: { text: check.text === '' ? check.title : details(check, history, report) },
    locations,
  }))
  for (const { id, name, isBroken, details } of runTests(report, history)) {
    const level = isBroken ? 'error' : 'note'
    const ruleIndex = rules.push({ id, shortDescription: { text: name } }) - 1
    results.unshift({ ruleId: id, ruleIndex, kind: 'fail', level, message: { text: details }, locations })
  }
  const tool = { driver: { name: PACKAGE, version, rules } }
  return `${JSON.stringify({ $schema: SCHEMA, version: '2.1.0', runs: [{ tool, results }] }, null, 2)}\n`
}

const levels: Readonly<Record<Level, string>> = { must: 'error', should: 'warning', may: 'note' }

function kindOf(check: ReportedCheck): { kind: string; level: string } {
  const { verdict } = check
  if (isBroken(check)) return { kind: 'fail', level: 'error' }
  if (verdict === 'fail' || verdict === 'warn') return { kind: 'fail', level: verdict === 'warn' ? 'warning' : 'note' }
  if (verdict === 'pass') return { kind: 'pass', level: 'none' }
  return { kind: verdict === 'untested' || verdict === 'behind' ? 'notApplicable' : 'open', level: 'none' }
}

/** The file that the command starts, as findings have to lie somewhere; else that of the settings. */
const fileIn = (command: string | null) =>
  command?.split(/\s+/).find(word => /^[\w./-]+\.\w{1,4}$/.test(word)) ?? 'conformance.yaml'
