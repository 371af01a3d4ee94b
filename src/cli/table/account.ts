/** Commands about one's own account, an endpoint each. */
import type { CommandRecord } from '../command-line/command.ts'
import { endpointCommand } from '../endpoint/command.ts'
import { accountRows, keyRows, notificationRows } from './account-rows.ts'

export const account: readonly CommandRecord[] = [...keyRows, ...notificationRows, ...accountRows].map(endpointCommand)
