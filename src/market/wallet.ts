/** What a wallet shows. Source: section 2 (wallet), D33, D35. */
import { statementLength, statementOf } from '../store/transfers.ts'
import { balances, ledgerProblems } from './ledger.ts'
import { iso } from './time.ts'
import type { Verb } from './verb.ts'

const getWallet: Verb<'getWallet'> = async ({ tx, config, actor }) => {
  const { available, held, clearing } = await balances(tx, actor.user.id)
  return {
    wallet: { balance: available + clearing, heldBalance: held, currency: config.currency },
    connectStatus: actor.user.connectStatus,
  }
}

const listTransactions: Verb<'listTransactions'> = async ({ tx, actor }, { query }) => {
  const type = query.type ?? null
  const rows = await statementOf(tx, actor.user.id, type, query.limit, (query.page - 1) * query.limit)
  return {
    items: rows.map(row => ({ ...row, createdAt: iso(row.createdAt) })),
    total: await statementLength(tx, actor.user.id, type),
  }
}

const checkLedger: Verb<'checkLedger'> = ({ tx }) => ledgerProblems(tx)

export const walletVerbs = { getWallet, listTransactions, checkLedger }
