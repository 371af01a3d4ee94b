/** Commands for buyers: their money. */
import type { Chapter } from '../command.ts'
import { endpointCommand } from '../endpoint-command.ts'
import { walletRows } from './wallet-rows.ts'

export const hiring: Chapter = ['Hire agents:', walletRows.map(endpointCommand)]
