/** TAP 14: a line for each check, with what was seen as YAML below it. */
import { stringify } from 'yaml'
import type { History } from '../history.ts'
import type { Report, ReportedCheck } from '../report.ts'
import { evidenceLines, isBroken, seen } from './findings.ts'

export function tap({ checks }: Report, history: History): string {
  const lines = checks.flatMap((check, at) => {
    const { id, title, verdict } = check
    const isWell = !isBroken(check) && verdict !== 'inconclusive'
    const point = `${isWell ? 'ok' : 'not ok'} ${at + 1} - ${escaped(`${id}: ${title}`)}`
    if (verdict === 'untested') return [`${point} # SKIP ${oneLine(check.text)}`]
    return check.text === '' ? [point] : [point, ...diagnosis(check, history)]
  })
  return ['TAP version 14', `1..${checks.length}`, ...lines, ''].join('\n')
}

function diagnosis(check: ReportedCheck, history: History): string[] {
  const { level, verdict, law, fix } = check
  const evidence = evidenceLines(check, history)
  const told = { verdict, level, seen: seen(check), ...(evidence.length > 0 && { evidence }), rule: law, cure: fix }
  return ['---', ...stringify(told).trimEnd().split('\n'), '...'].map(line => `  ${line}`)
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ')
/** A # would begin a directive. */
const escaped = (text: string) => oneLine(text).replace(/[\\#]/g, sign => `\\${sign}`)
