/** All scenarios, in the order in which they begin; most go on beside each other. */
import { firstContact } from './first-contact.ts'
import { forged } from './forged.ts'
import type { Scenario } from './scenario.ts'

export const scenarios: readonly Scenario[] = [firstContact, forged]
