/** TAP 14: a line for each check, with what was seen as YAML below it. */
import { stringify } from 'yaml'
import type { History } from '../history/history.ts'
import { isBroken, type Report, type ReportedCheck } from '../judging/report.ts'
import { behindOf, evidenceLines, inOrder, seen } from './findings.ts'
import { runTests } from './run-tests.ts'

export function tap(report: Report, history: History): string {
  const ofRun = runTests(report, history).map(
    ({ name, isBroken, seen, details }): Point => ({ isWell: !isBroken, name, below: diagnosis({ seen, details }) }),
  )
  const points = [...ofRun, ...inOrder(report).map(check => pointOf(check, history, report))]
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

function pointOf(check: ReportedCheck, history: History, report: Report): Point {
  const { id, title, level, verdict, text, law, fix } = check
  const point = { isWell: !isBroken(check) && verdict !== 'inconclusive', name: `${id}: ${title}` }
  if (verdict === 'untested' || verdict === 'behind') return { ...point, aside: ` # SKIP ${oneLine(seen(check))}` }
  if (text === '') return point
  const evidence = evidenceLines(check, history)
  const behind = behindOf(report, check)
  const told = {
    verdict,
    level,
    seen: seen(check),
    ...(behind.length > 0 && { behind }),
    ...(evidence.length > 0 && { evidence }),
    rule: law,
    cure: fix,
  }
  return { ...point, below: diagnosis(told) }
}

const diagnosis = (told: object): string[] =>
  ['---', ...stringify(told).trimEnd().split('\n'), '...'].map(line => `  ${line}`)

const oneLine = (text: string) => text.replace(/\s+/g, ' ')
/** A # would begin a directive. */
const escaped = (text: string) => oneLine(text).replace(/[\\#]/g, sign => `\\${sign}`)
