/** What the checks are: all in short, or one in full. */
import type { Check } from '../../conform/check.ts'
import type { CommandOutput } from '../output/output.ts'

const aboutOf = ({ id, title, level, law, why, fix, after = [] }: Check) => ({ id, title, level, law, why, fix, after })

export function list({ out, answer }: CommandOutput, checks: readonly Check[]): number {
  return answer({ items: checks.map(aboutOf) }, () =>
    out.table(checks.map(({ id, level, title }) => [id, level, title])),
  )
}

export function explain({ out, answer }: CommandOutput, check: Check): number {
  const { id, title, level, law, why, fix, after = [] } = check
  return answer(aboutOf(check), () => {
    out.line(`${out.colour.bold(id)}  ${level}: ${title}`)
    out.line(`  rule  ${law.source}: “${law.quote}”`)
    out.line(`  why   ${why}`)
    out.line(`  cure  ${fix}`)
    if (after.length > 0) out.line(`  after ${after.join(', ')}`)
    out.line(`\nmarketplace conformance --start 'node agent.js' --only ${id} tries it.`)
  })
}
