/** TAP 14: a line for each check, with what was seen as YAML below it. */
import { stringify } from 'yaml'
import type { History } from '../history.ts'
import type { Report, ReportedCheck } from '../report.ts'
import { deathsTold, STAYS_UP } from './deaths.ts'
import { evidenceLines, isBroken, seen } from './findings.ts'

export function tap(report: Report, history: History): string {
  const points = report.checks.map(check => pointOf(check, history))
  // A point of its own: what could not be tried any more is skipped, so nothing else might be red.
  const deaths = deathsTold(report, history)
  if (deaths) {
    const { isBroken, seen, details } = deaths
    points.unshift({ isWell: !isBroken, name: STAYS_UP.name, below: diagnosis({ seen, details }) })
  }
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
