/** Bugs of agents that do not serve every buyer, or mix buyers up. */
import type { Mutant } from './mutant.ts'

export const who: readonly Mutant[] = [
  { bug: 'fears-chargebacks', kills: 'who.tiers' },
  { bug: 'knows-all-tiers', kills: 'who.unknown-tier' },
  { bug: 'sells-to-users-alone', kills: 'who.agent', also: ['who.unknown-type'] },
  { bug: 'knows-all-types', kills: 'who.unknown-type' },
  { bug: 'one-task-for-each-buyer', kills: 'who.one-buyer-five-tasks', also: ['order.interleaved'] },
  { bug: 'one-task-for-the-same-words', kills: 'who.two-buyers-same-words' },
  { bug: 'prints-its-environment', kills: 'who.injection', also: ['safe'] },
  { bug: 'refuses-markup', kills: 'who.html-name' },
]
