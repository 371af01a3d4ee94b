/** Makes accounts of a simulator, and gives them money, within the limits that hold for everybody. Source. */
import { depositLimits, limits } from '../api/limits.ts'
import type { TrustTier } from '../api/records.ts'
import { createUser, hashRandomPassword } from '../market/accounts/accounts.ts'
import { createKeyFor } from '../market/accounts/keys.ts'
import type { Market } from '../market/market.ts'
import { deleteKeysNamed } from '../store/tables/accounts/keys.ts'
import { updateUser, userByEmail } from '../store/tables/accounts/users.ts'
import { type Act, verbsAs } from './verb-calls.ts'

/** Known by the email `NAME@example.com`. */
export interface WantedAccount {
  name: string
  fullName: string
  isAdmin?: boolean
  /** Of which its key is made, for an account that is known by one key to several marketplaces; by chance unless given. */
  keyBytes?: Buffer
}

export interface SeededAccount {
  id: string
  email: string
  password: string
  apiKey: string
}

const KEY = 'dev'

export const emailOf = (name: string) => `${name}@example.com`

/**
 * Creates the account if it is missing. One that is there and not `known` gets a new password and a new key. Its password is
 * random, so that the cheap hash is enough.
 */
export async function ensureAccount(
  { db, world }: Market,
  { name, fullName, isAdmin = false, keyBytes }: WantedAccount,
  known?: SeededAccount,
): Promise<SeededAccount> {
  const email = emailOf(name)
  const there = await db.read(q => userByEmail(q, email))
  if (there && known?.id === there.id) return known
  const password = `${name}-${world.bytes(9).toString('base64url')}`
  const passwordHash = await hashRandomPassword(password)
  return db.write(async tx => {
    const fields = { email, name: fullName, passwordHash, isBuilder: true, isAdmin }
    const { id } = there ?? (await createUser(tx, world, fields))
    if (there) await updateUser(tx, id, { passwordHash })
    await deleteKeysNamed(tx, id, KEY)
    const { key } = await createKeyFor(tx, keyBytes ? { ...world, bytes: () => keyBytes } : world, id, KEY)
    return { id, email, password, apiKey: key }
  })
}

/**
 * Deposits until the account has `cents` that it can spend, in as many parts as its tier asks for. Resolves to what it has
 * then: less, if the limit of the day comes first.
 */
export async function ensureFunds(act: Act, admin: Act, cents: number): Promise<number> {
  let { balance } = (await act('getWallet', {})).wallet
  while (balance < cents) {
    const { canDeposit, maxDeposit, dailyRemaining } = await act('getDepositLimits', {})
    if (!canDeposit) break
    const amount = Math.min(maxDeposit, dailyRemaining, Math.max(cents - balance, limits.price.min))
    const { id, status } = await act('deposit', { amount })
    // Where payments are handled by hand, an administrator has to confirm the deposit.
    if (status === 'pending') await admin('confirmDeposit', { id })
    balance += amount
  }
  return balance
}

/** What an account can be from its first day. It is trusted after thirty days of the clock, and not before. */
export type EarlyTier = Exclude<TrustTier, 'trusted'>

const changes: Readonly<Record<EarlyTier, object>> = {
  new_unverified: {},
  new_verified: { identityVerified: true },
  chargeback_risk: { chargebacks: 1 },
  suspended: { suspended: true },
  banned: { banned: true },
}

interface WantedBuyers {
  /** Each is one account; the same names are the same accounts again. */
  names: readonly string[]
  tier: EarlyTier
  /** Cents that each can spend. */
  funds: number
}

interface Buyer extends SeededAccount {
  name: string
  /** What it has, in cents: less than was wanted if its tier may not deposit more in a day. */
  funds: number
}

/**
 * Makes buyers with money. An administrator verifies or marks them first, and suspends them once they have paid.
 */
export async function furnishBuyers(market: Market, adminId: string, wanted: WantedBuyers): Promise<Buyer[]> {
  const admin = verbsAs(market, adminId)
  const buyers: Buyer[] = []
  for (const name of wanted.names) {
    const account = await ensureAccount(market, { name, fullName: titleOf(name) })
    const act = verbsAs(market, account.id)
    const closed = depositLimits[wanted.tier].perDay === 0
    const isOpen = { suspended: false, banned: false }
    if (!closed) await admin('adminUpdateUser', { id: account.id, ...isOpen, ...changes[wanted.tier] })
    const funds = await ensureFunds(act, admin, wanted.funds)
    if (closed) await admin('adminUpdateUser', { id: account.id, ...changes[wanted.tier] })
    buyers.push({ ...account, name, funds })
  }
  return buyers
}

/** `my-agent` is My Agent. */
export const titleOf = (name: string) =>
  name
    .split('-')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
