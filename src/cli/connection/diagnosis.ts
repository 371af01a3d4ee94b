/** Says a diagnosis to people: what is wrong, what to do, what to type. All of it comes from the marketplace. Source: A-288. */
import { type DiagnosisRecord, inWords } from '../../api/diagnosis/record.ts'
import type { AgentRecord } from '../../api/records.ts'
import { programName } from '../../settings/config.ts'
import { plain } from '../output/ui.ts'
import { nextSteps, sameWay } from './next-steps.ts'
import type { Target } from './target.ts'

/** The flags that lead to the same marketplace. In the folder of a dev each command finds it, and whose keys it needs. */
export function wayTo(found: Target): string {
  const way = sameWay(found, 'builder')
  return way.startsWith(' --as ') ? '' : way
}

/** What to type, whole. `dev` itself takes no flags that lead to a marketplace. */
export const commandsIn = ({ commands }: Pick<DiagnosisRecord, 'commands'>, way = ''): string[] =>
  commands.map(words => `${programName()} ${words}${words.startsWith('dev') ? '' : way}`)

/** One line of words, and one for each command. */
export const diagnosisLines = (diagnosis: DiagnosisRecord, way = ''): string[] => [
  plain(inWords(diagnosis)),
  ...commandsIn(diagnosis, way).map(command => `Next: ${command}`),
]

/** For an error: the words, and the first command. */
export const diagnosisHint = (diagnosis: DiagnosisRecord, way = ''): string => {
  const [command] = commandsIn(diagnosis, way)
  return [plain(inWords(diagnosis)), command && `Next: ${command}`].filter(Boolean).join('\n')
}

/** What comes after a test that has passed; empty if nothing has to. */
export function afterPass({ slug, status }: Pick<AgentRecord, 'slug' | 'status'>, flags = ''): string {
  if (status === 'draft') return ` Next: ${nextSteps.publishAgent(slug, flags)}`
  return status === 'inactive' ? ` Next: ${nextSteps.reactivateAgent(slug, flags)}` : ''
}
