/** Bugs of agents that believe too much. */
import type { Mutant } from './mutant.ts'

export const sig: readonly Mutant[] = [
  { bug: 'decodes-the-secret', kills: 'sig.valid', also: ['conn.endpoint-200'] },
  { bug: 'no-verification', kills: 'sig.missing-signature', also: ['sig'] },
  { bug: 'verifies-only-if-signed', kills: 'sig.missing-signature' },
  { bug: 'no-skew-check', kills: 'sig.stale-301s' },
]
