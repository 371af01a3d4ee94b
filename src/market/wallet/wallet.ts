/** The balances, transactions and earnings of a wallet. Source: I-wallet-shape, A-33, A-35. */
import { rowsOf } from '../../api/page.ts'
import { earningsOf, statementLength, statementOf } from '../../store/tables/money/transfers.ts'
import { balances, ledgerProblems } from '../money/ledger.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'

const getWallet: Verb<'getWallet'> = async ({ tx, config, actor }) => {
  const { available, held, clearing } = await balances(tx, actor.user.id)
  return {
    wallet: { balance: available + clearing, heldBalance: held, currency: config.currency },
    connectStatus: actor.user.connectStatus,
  }
}

const listTransactions: Verb<'listTransactions'> = async ({ tx, actor }, { query }) => {
  const type = query.type ?? null
  const rows = await statementOf(tx, actor.user.id, type, ...rowsOf(query))
  return {
    items: rows.map(row => ({ ...row, createdAt: iso(row.createdAt) })),
    total: await statementLength(tx, actor.user.id, type),
  }
}

/**
 * Net of reversals. A task between a builder and their own agent moves money, so it shows here, but it is not a completed
 * task. Source.
 */
const getEarnings: Verb<'getEarnings'> = async ({ tx, config, actor }) => {
  const rows = await earningsOf(tx, actor.user.id)
  const sum = (field: 'earned' | 'clearing' | 'completedTasks') => rows.reduce((total, row) => total + row[field], 0)
  const [totalEarned, clearing] = [sum('earned'), sum('clearing')]
  return {
    currency: config.currency,
    totalEarned,
    clearing,
    available: totalEarned - clearing,
    completedTasks: sum('completedTasks'),
    byAgent: rows.map(({ agentId, name, earned, completedTasks }) => ({ agentId, name, earned, completedTasks })),
  }
}

const checkLedger: Verb<'checkLedger'> = ({ tx }) => ledgerProblems(tx)

export const walletVerbs = { getWallet, listTransactions, getEarnings, checkLedger }
