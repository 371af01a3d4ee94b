/** `marketplace completion`: prints the script that completes words in a shell. */
import { faultNames } from '../../api/faults.ts'
import { reportNames } from '../../conform/reports/names.ts'
import { programName, UsageError } from '../../settings/config.ts'
import type { CommandTable } from '../command-line/command.ts'
import { scripts } from '../command-line/completion-scripts.ts'
import type { FlagValues, Word } from '../command-line/completion-words.ts'
import { type AnswerFlags, withOutput } from '../output/output.ts'
import { print } from '../output/ui.ts'

const COMPLETED = 'marketplace'
/** A shell completes words behind the name of a command, and behind npx it knows npx alone. */
const NOT_ON_PATH = `The script completes ${COMPLETED}, a command that \`npm install --global agent-marketplace\` puts on the path; behind npx nothing is completed.`

type WholeTable = () => Promise<CommandTable>

export async function completion(shell: string, flags: AnswerFlags, wholeTable: WholeTable): Promise<number> {
  const known = Object.keys(scripts) as (keyof typeof scripts)[]
  const found = known.find(name => name === shell)
  if (!found) throw new UsageError(`completion takes ${known.join(', ')}, not ${shell}.`)
  const { idsOf } = await import('../command-line/completion-ids.ts')
  const table = await wholeTable()
  const script = scripts[found](table, await flagValues(), idsOf(table))
  return withOutput(flags, async ({ answer, notes }) => {
    if (programName() !== COMPLETED) notes.line(NOT_ON_PATH)
    return answer({ shell, script }, () => print(script, { whole: true }))
  })
}

const names = (list: readonly string[]): Word[] => list.map(word => ({ word, about: '' }))

/** What the words of these flags do not list. The modules that know it are loaded for this command alone. */
export async function flagValues(): Promise<FlagValues> {
  const [{ personas }, { checks }, { requirements }, { forgeries }, { dresses }] = await Promise.all([
    import('../../sim/buyers/personas.ts'),
    import('../../conform/checks/index.ts'),
    import('../../conform/requirements/index.ts'),
    import('../../sim/webhooks/forgeries.ts'),
    import('../../sim/webhooks/unusual.ts'),
  ])
  const characters = personas.map(({ name, does }) => ({ word: name, about: does }))
  const judged = checks.map(({ id, title }) => ({ word: id, about: title }))
  const some = [...names([...new Set(checks.map(({ id }) => id.split('.', 1)[0]!))]), ...judged]
  const kinds = (list: readonly { readonly name: string }[]) => names(['all', ...list.map(({ name }) => name)])
  return new Map([
    [' simulate buyers --mix', [...names(['all']), ...characters]],
    [' dev --persona', characters.filter(({ word }) => personas.find(({ name }) => name === word)!.atOnce === 1)],
    [' conformance --only', some],
    [' conformance --skip', some],
    [' conformance --explain', judged],
    [' conformance --report', names(reportNames)],
    [' conformance --requirements', names(Object.keys(requirements))],
    [' emit --forge', kinds(forgeries)],
    [' emit --dress', kinds(dresses)],
    [' emit --fault', names(['all', ...faultNames])],
  ])
}
