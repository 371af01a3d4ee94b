/** What the checks are: all in short, or one in full. */

import type { History } from '../../conform/history/history.ts'
import type { Check } from '../../conform/judging/check.ts'
import { nextSteps } from '../connection/next-steps.ts'
import type { CommandOutput } from '../output/output.ts'
import { commandLine, paragraph } from '../output/paragraph.ts'
import { seenIn, showSeen } from './kept-history.ts'

type Answering = Pick<CommandOutput, 'out' | 'answer'>

const aboutOf = ({ id, title, level, law, why, fix, after = [] }: Check) => ({ id, title, level, law, why, fix, after })

export function list({ out, answer }: Answering, checks: readonly Check[]): number {
  const longest = Math.max(...checks.map(({ id }) => id.length))
  return answer({ items: checks.map(aboutOf) }, () => {
    for (const { id, level, title } of checks) paragraph(out, `${id.padEnd(longest)}  ${level.padEnd(6)}  `, title)
  })
}

/** `history`: what to show of it; null: there is none. */
export function explain({ out, answer }: Answering, check: Check, history: History | null = null): number {
  const { id, title, level, law, why, fix, after = [] } = check
  const seen = history && seenIn(history, check)
  return answer({ ...aboutOf(check), ...seen }, () => {
    paragraph(out, '', `${id}  ${level}: ${title}`, row => row.replace(id, out.colour.bold(id)))
    paragraph(out, '  rule  ', `${law.source}: “${law.quote}”`)
    paragraph(out, '  why   ', why)
    paragraph(out, '  cure  ', fix)
    if (after.length > 0) paragraph(out, '  after ', after.join(', '))
    if (seen) return showSeen(out, seen)
    commandLine(out, '  try  ', nextSteps.judge(id))
  })
}
