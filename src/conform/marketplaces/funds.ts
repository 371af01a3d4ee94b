/** Money for buyers out of nothing: more than anybody may deposit in a day, as the work of some agents is dear. */
import type { Market } from '../../market/market.ts'
import { account, post } from '../../market/money/ledger.ts'

export async function fund({ db, world, log }: Market, userId: string, amount: number): Promise<void> {
  const deposit = { kind: 'deposit', status: 'completed', description: 'Deposit', taskId: null } as const
  const legs = { payerId: null, payeeId: userId, from: account.world, to: account.available(userId) }
  await db.write(tx => post({ tx, world, log }, { ...deposit, ...legs, amount }))
}
