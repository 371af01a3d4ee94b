/** Gives a simulated buyer what it lacks. Source: A-34. */
import { limits } from '../../api/limits.ts'
import type { Connection } from '../connection/connection.ts'

/**
 * Deposits until the wallet has `cents`, as far as the limits of the day allow, in a dev alone: money is play money there, and its
 * owner's elsewhere. Resolves to what was deposited.
 */
export async function topUp({ client, found, openSession }: Connection, cents: number): Promise<number> {
  if (!found.isDev) return 0
  const { balance } = (await client.getWallet()).wallet
  let deposited = 0
  while (balance + deposited < cents && (await openSession())) {
    const { canDeposit, maxDeposit, dailyRemaining } = await client.getDepositLimits()
    const amount = Math.min(maxDeposit, dailyRemaining, Math.max(cents - balance - deposited, limits.price.min))
    if (!canDeposit || amount < limits.price.min) break
    const { status } = await client.deposit({ amount }, { by: 'session' })
    if (status === 'pending') break // dev --payments manual: an administrator confirms it
    deposited += amount
  }
  return deposited
}
