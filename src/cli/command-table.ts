/** Every command, in the order of the help. Each chapter is a file of `table/`. */
import type { Chapter } from './command.ts'
import type { EndpointRow } from './endpoint-row.ts'
import { account } from './table/account.ts'
import { adminRows } from './table/admin-rows.ts'
import { building } from './table/building.ts'
import { databases } from './table/databases.ts'
import { hiring } from './table/hiring.ts'
import { more } from './table/more.ts'
import { operating } from './table/operating.ts'
import { running } from './table/running.ts'
import { time } from './table/time.ts'
import { walletRows } from './table/wallet-rows.ts'
import { webhooks } from './table/webhooks.ts'

export const chapters: readonly Chapter[] = [
  running,
  building,
  webhooks,
  hiring,
  time,
  account,
  operating,
  databases,
  more,
]

/** @internal Tests compare the rows with the endpoints. */
export const endpointRows: readonly EndpointRow[] = [...walletRows, ...adminRows]

/** The descriptions of groups of commands. */
export const groups: Readonly<Record<string, string>> = {
  agents: 'Your agents: create, list, show, publish',
  secret: 'The webhook secret of an agent',
  deliveries: 'The webhooks of your agents: list, show, resend',
  wallet: 'Your money: look, deposit, withdraw',
  admin: 'What administrators do: review agents, settle money and disputes, look after accounts',
  'admin agents': 'Agents of every builder: list, show, approve, reject',
  'admin deposits': 'Deposits: list, confirm, reject',
  'admin withdrawals': 'Withdrawals: list, confirm, reject',
  'admin users': 'Accounts: list, update',
  'admin categories': 'Categories: list, create, update, delete',
  simulate: 'Play a part against an agent',
  clock: 'The clock of a simulator: show it, move it',
  db: 'Check, snapshot, back up, migrate or copy a database',
}
