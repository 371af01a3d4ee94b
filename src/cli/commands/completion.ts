/** `marketplace completion`: prints the script that completes words in a shell. */
import { UsageError } from '../../config.ts'
import type { CommandTable } from '../command-line/command.ts'
import { scripts } from '../command-line/completion-scripts.ts'
import { type AnswerFlags, withOutput } from '../output/output.ts'

type WholeTable = () => Promise<CommandTable>

export async function completion(shell: string, flags: AnswerFlags, wholeTable: WholeTable): Promise<number> {
  const known = Object.keys(scripts) as (keyof typeof scripts)[]
  const found = known.find(name => name === shell)
  if (!found) throw new UsageError(`completion takes ${known.join(', ')}, not ${shell}.`)
  const script = scripts[found](await wholeTable())
  return withOutput(flags, async ({ answer }) => answer({ shell, script }, () => void process.stdout.write(script)))
}
