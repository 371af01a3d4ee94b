/** Commands for administrators, an endpoint each. Source: A-13. */
import type { CommandRecord } from '../command-line/command.ts'
import { endpointCommand } from '../endpoint/command.ts'
import { adminRows } from './admin-rows.ts'

export const operating: readonly CommandRecord[] = adminRows.map(endpointCommand)
