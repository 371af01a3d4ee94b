/** TAP 14: a line for each check, with what was seen as YAML below it. */
import { stringify } from 'yaml'
import type { History } from '../history/history.ts'
import type { Report, ReportedCheck } from '../judging/report.ts'
import { evidenceLines, isBroken, seen } from './findings.ts'
import { runTests } from './run-tests.ts'

export function tap(report: Report, history: History): string {
  const ofRun = runTests(report, history).map(
    ({ name, isBroken, seen, details }): Point => ({ isWell: !isBroken, name, below: diagnosis({ seen, details }) }),
  )
  const points = [...ofRun, ...report.checks.map(check => pointOf(check, history))]
  const lines = points.flatMap(({ isWell, name, aside = '', below = [] }, at) => [
    `${isWell ? 'ok' : 'not ok'} ${at + 1} - ${escaped(name)}${aside}`,
    ...below,
  ])
  return ['TAP version 14', `1..${points.length}`, ...lines, ''].join('\n')
}

interface Point {
  readonly isWell: boolean
  readonly name: string
  /** A directive. */
  readonly aside?: string
  readonly below?: readonly string[]
}

function pointOf(check: ReportedCheck, history: History): Point {
  const { id, title, level, verdict, text, law, fix } = check
  const point = { isWell: !isBroken(check) && verdict !== 'inconclusive', name: `${id}: ${title}` }
  if (verdict === 'untested') return { ...point, aside: ` # SKIP ${oneLine(text)}` }
  if (text === '') return point
  const evidence = evidenceLines(check, history)
  const told = { verdict, level, seen: seen(check), ...(evidence.length > 0 && { evidence }), rule: law, cure: fix }
  return { ...point, below: diagnosis(told) }
}

const diagnosis = (told: object): string[] =>
  ['---', ...stringify(told).trimEnd().split('\n'), '...'].map(line => `  ${line}`)

const oneLine = (text: string) => text.replace(/\s+/g, ' ')
/** A # would begin a directive. */
const escaped = (text: string) => oneLine(text).replace(/[\\#]/g, sign => `\\${sign}`)
