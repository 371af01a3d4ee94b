/** All commands that send one request, as their rows say them. */
import type { EndpointRow } from '../../src/cli/endpoint/row.ts'
import { accountRows, keyRows, notificationRows } from '../../src/cli/table/account-rows.ts'
import { adminRows } from '../../src/cli/table/admin-rows.ts'
import { agentRows, buyerRows, searchRows } from '../../src/cli/table/agent-rows.ts'
import { taskRows } from '../../src/cli/table/task-rows.ts'
import { budgetRows, walletRows } from '../../src/cli/table/wallet-rows.ts'

export const endpointRows: readonly EndpointRow[] = [
  ...[accountRows, keyRows, notificationRows, adminRows, agentRows],
  ...[searchRows, budgetRows, buyerRows, taskRows, walletRows],
].flat()
