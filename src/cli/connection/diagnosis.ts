/** Says a diagnosis to people: what is wrong, what to do, what to type. All of it comes from the marketplace. Source: A-288. */
import { type DiagnosisRecord, inWords } from '../../api/diagnosis/record.ts'
import type { AgentRecord, OwnAgentRecord } from '../../api/records.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { plain } from '../output/ui.ts'
import { flagsToReach, nextSteps, typed, wasTypedNow } from './next-steps.ts'
import type { Target } from './target.ts'

/** The flags that lead to the same marketplace. In the folder of a dev each command finds it, and whose keys it needs. */
export function reachTo(found: Target): string {
  const reach = flagsToReach(found, 'builder')
  return reach.startsWith(' --as ') ? '' : reach
}

/** What to type, whole; nothing that was typed just now. `dev` and `emit` take no flags that lead to a marketplace. */
export const commandsIn = ({ commands }: Pick<DiagnosisRecord, 'commands'>, reach = ''): string[] =>
  commands
    .filter(words => !wasTypedNow(words))
    .map(words => typed(`${words}${/^(?:dev|emit) /.test(words) ? '' : reach}`))

/** One line of words, and one for each command. */
export const diagnosisLines = (diagnosis: DiagnosisRecord, reach = ''): string[] => [
  plain(inWords(diagnosis)),
  ...commandsIn(diagnosis, reach).map(command => `Next: ${command}`),
]

/** The same for an error. */
export const diagnosisHint = (diagnosis: DiagnosisRecord, reach = ''): string =>
  diagnosisLines(diagnosis, reach).join('\n')

/** Why a buyer can't find an agent. */
export function notListed({ slug, hiddenReason, diagnosis }: OwnAgentRecord, reach: string): Fault {
  const why = diagnosis?.text.replace(/\.$/, '') ?? hiddenReason
  const hint = diagnosis ? diagnosisHint({ ...diagnosis, text: '' }, reach) : undefined
  return new Fault(`${slug} can't be hired: ${why}`, { code: exitCodes.failed, status: 404, hint })
}

/** What comes after a test that has passed; empty if nothing has to. */
export function afterPass({ slug, status }: Pick<AgentRecord, 'slug' | 'status'>, flags = ''): string {
  if (status === 'draft') return ` Next: ${nextSteps.publishAgent(slug, flags)}`
  return status === 'inactive' ? ` Next: ${nextSteps.reactivateAgent(slug, flags)}` : ''
}
