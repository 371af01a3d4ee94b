/** Bugs of agents that buy from others. */
import type { Mutant } from './mutant.ts'

const declared = { hires: true }

export const hire: readonly Mutant[] = [
  { bug: 'refuses-deliveries', kills: 'hire.delivered-to-buyer', declared },
  { bug: 'leaves-orders-open', kills: 'hire.ends-it', declared },
  { bug: 'approves-twice', kills: 'hire.pays-once', declared },
  { bug: 'orders-again', kills: 'hire.over-cap', declared },
  { bug: 'works-on-orders', kills: 'hire.not-the-seller', also: ['hire.ends-it'], declared },
]
