/** The ledger: double entries between accounts, append-only. Source: A-33. */
import { refuse } from '../../api/failures.ts'
import type { Reader, Step, Tx } from '../../store/db.ts'
import {
  balancesOf,
  credit,
  debit,
  type EntryKind,
  entry,
  insertAccounts,
  ledgerFaults,
  ledgerSize,
  sumsByKind,
  type TransferKind,
  transfer,
} from '../../store/tables/money/transfers.ts'
import type { World } from '../../world/world.ts'
import { Changes } from '../changes.ts'
import type { Log } from '../log.ts'
import type { Ctx } from '../market.ts'

interface Posting extends Pick<Ctx, 'memory'> {
  readonly tx: Tx
  readonly world: World
  readonly log: Log
}

/** Ids of accounts. */
export const account = {
  available: (userId: string) => `available:${userId}`,
  held: (userId: string) => `held:${userId}`,
  clearing: (userId: string) => `clearing:${userId}`,
  world: 'world',
  payouts: 'payouts',
  platform: 'platform',
} as const

export interface Transfer {
  id?: string
  kind: TransferKind
  payerId: string | null
  payeeId: string | null
  /** Cents, above zero. */
  amount: number
  taskId: string | null
  status: 'pending' | 'clearing' | 'completed'
  description: string
  from: string
  to: string
}

export const openAccounts = async (tx: Tx, userId: string): Promise<void> => {
  await insertAccounts(tx, userId)
}

/**
 * Moves money and writes the transfer that explains it. Refuses with `not_enough_money` if the payer's balance would fall
 * below zero. Returns the transfer's id.
 */
export async function post(ctx: Posting, given: Transfer): Promise<string> {
  const id = given.id ?? ctx.world.id('trf', given.taskId ?? given.payerId ?? given.payeeId)
  const { kind, amount, from, to, taskId } = given
  await move(ctx, { ...given, id }, transfer({ ...given, id, createdAt: ctx.world.now() }))
  ctx.tx.afterCommit(() => ctx.log({ type: 'money', kind, amount, from, to, taskId }))
  return id
}

/** One movement of money. The database refuses accounts between which its kind moves none. */
export interface Leg {
  readonly id: string
  readonly kind: EntryKind
  readonly from: string
  readonly to: string
  readonly amount: number
}

/** One more movement of a transfer that was written before. */
export const postLeg = (ctx: Posting, leg: Leg): Promise<void> => move(ctx, leg, [])

async function move({ tx, world, memory }: Posting, { id, kind, from, to, amount }: Leg, also: Step[]) {
  if (!Number.isSafeInteger(amount) || amount <= 0) throw new Error(`${amount} is no amount of money`)
  // Rows are always locked in the same order; otherwise a hold and a refund of one wallet could deadlock.
  const [taken, given] = [debit(from, amount), credit(to, amount)]
  const pair = from < to ? [taken, given] : [given, taken]
  const written = entry({ legId: id, kind, debitedId: from, creditedId: to, amount, createdAt: world.now() })
  const changed = await tx.runAll([...pair, written, ...also])
  const owners = [from, to].map(id => id.split(':')[1] ?? null)
  tx.afterCommit(() => memory.of(Changes).tell(owners, world.now(), { type: 'wallet', what: kind }))
  if (!changed[pair.indexOf(taken)]) throw await shortOf(tx, from, amount)
}

async function shortOf(q: Reader, accountId: string, amount: number) {
  const [kind, userId] = accountId.split(':')
  if (kind !== 'available' || !userId) return new Error(`${accountId} does not hold ${amount}`)
  const { available, clearing } = await balances(q, userId)
  return refuse('not_enough_money', amount, available, clearing)
}

/** Returns a user's three balances, in cents. */
export async function balances(q: Reader, userId: string) {
  const sums = { available: 0, held: 0, clearing: 0 }
  for (const row of await balancesOf(q, userId)) sums[row.kind] = row.balance
  return sums
}

/** Of what breaks one invariant so much is named. */
const NAMED = 20

/** Checks all invariants of the ledger against its rows. Source. */
export async function ledgerProblems(q: Reader) {
  const problems: string[] = []
  for (const { problem, sql } of ledgerFaults) {
    const found = await q.all<{ what: string }>(`SELECT what FROM (${sql}) AS faults LIMIT ${NAMED + 1}`)
    for (const { what } of found.slice(0, NAMED)) problems.push(`${problem}: ${what}`)
    if (found.length > NAMED) problems.push(`${problem}: and there are more`)
  }
  const sums = { available: 0, held: 0, clearing: 0, platform: 0, payouts: 0, world: 0 }
  for (const { kind, cents } of await sumsByKind(q)) sums[kind] = cents
  return { ok: problems.length === 0, ...(await ledgerSize(q)), sums, problems }
}
