/** Commands for administrators, an endpoint each. Source: A-13. */
import type { Chapter } from '../command.ts'
import { endpointCommand } from '../endpoint-command.ts'
import { adminRows } from './admin-rows.ts'

export const operating: Chapter = ['Operate a marketplace:', adminRows.map(endpointCommand)]
