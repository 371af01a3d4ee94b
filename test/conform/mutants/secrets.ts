/** Bugs of agents that give away what is theirs, or their buyers'. */
import type { Mutant } from './mutant.ts'

export const safe: readonly Mutant[] = [
  { bug: 'sends-its-secret', kills: 'safe.secret' },
  { bug: 'answers-with-stacks', kills: 'safe.no-stack' },
  { bug: 'tells-another-host', kills: 'safe.no-foreign-host' },
]
