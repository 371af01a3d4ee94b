/** Commands about money: one's own, and what agents may spend of it. */
import type { CommandRecord } from '../command-line/command.ts'
import { endpointCommand } from '../endpoint/command.ts'
import { budgetRows } from './budget-rows.ts'
import { walletRows } from './wallet-rows.ts'

export const money: readonly CommandRecord[] = [...walletRows, ...budgetRows].map(endpointCommand)
