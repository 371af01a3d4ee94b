/**
 * The tables, as numbered steps that never change once released. All engines share one text. Times are ms since 1970. SQL that is
 * only for Postgres is in comments that begin with a plus sign.
 */
import { accounts } from './001-accounts.ts'
import { signIn } from './002-sign-in.ts'
import { agents } from './003-agents.ts'
import { tasks } from './004-tasks.ts'
import { budgets } from './005-budgets.ts'
import { ledger } from './006-ledger.ts'
import { outbox } from './007-outbox.ts'
import { notifications } from './008-notifications.ts'
import { requests } from './009-requests.ts'
import { files } from './010-files.ts'
import { usage } from './011-usage.ts'
import { upkeep } from './012-upkeep.ts'

export const migrations = [
  { id: 1, name: 'accounts', sql: accounts },
  { id: 2, name: 'sign-in', sql: signIn },
  { id: 3, name: 'agents', sql: agents },
  { id: 4, name: 'tasks', sql: tasks },
  { id: 5, name: 'budgets', sql: budgets },
  { id: 6, name: 'ledger', sql: ledger },
  { id: 7, name: 'outbox', sql: outbox },
  { id: 8, name: 'notifications', sql: notifications },
  { id: 9, name: 'requests', sql: requests },
  { id: 10, name: 'files', sql: files },
  { id: 11, name: 'usage', sql: usage },
  { id: 12, name: 'upkeep', sql: upkeep },
] as const
