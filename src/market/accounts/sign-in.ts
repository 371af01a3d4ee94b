/** Sign-in: the checks before the password is verified, and what is written after. Source. */
import { Refusal, refuse } from '../../api/failures.ts'
import { guessing } from '../../api/limits.ts'
import type { Tx } from '../../store/db.ts'
import { knowsAddress, noteAddress } from '../../store/tables/accounts/guesses.ts'
import { countRecoveryCodes } from '../../store/tables/accounts/second-factors.ts'
import { deleteSession } from '../../store/tables/accounts/sessions.ts'
import { type UserRow, userByEmail, userById } from '../../store/tables/accounts/users.ts'
import type { World } from '../../world/world.ts'
import type { LogEntry } from '../log.ts'
import type { Actor, Caller, Ctx, OwnCtx } from '../market.ts'
import type { Verb } from '../verb.ts'
import { userRecord } from './account-record.ts'
import { createSession } from './credentials.ts'
import { fromHolder, fromUnknown, type Guess, type GuessTarget, guess } from './guesses.ts'
import { verifyPassword } from './passwords.ts'
import { type Codes, guessCode, passSecondFactor, showsFactor } from './second-factor.ts'
import { notifyOwner } from './security-notices.ts'

type Outcome = Extract<LogEntry, { type: 'sign_in' }>['outcome']

/** Begins a session. The client's address counts as known for the account from now on. */
export async function beginSession(tx: Tx, world: World, userId: string, caller: Caller | undefined): Promise<string> {
  if (caller) await noteAddress(tx, userId, caller.address, world.now(), guessing.known.addresses)
  return createSession(tx, world, userId, caller)
}

/** Takes the same steps for an unknown email, so that it takes the same time. */
async function lookUp({ db, world, config, caller }: OwnCtx, email: string, codes: Codes) {
  return db.read(async q => {
    const user = await userByEmail(q, email)
    const since = world.now() - guessing.known.ms
    const known = await knowsAddress(q, user?.id ?? '', caller?.address ?? '', since)
    const holds = await showsFactor({ tx: q, world, config }, user?.id ?? '', codes)
    return { user, known, holds }
  })
}

/** All counters that can delay attempts at this account's password from this address. */
export const passwordTargets = ({ id, email }: Pick<UserRow, 'id' | 'email'>, address: string): GuessTarget[] => [
  { rule: 'pair', at: [email, address] },
  ...fromUnknown(email, address),
  { rule: 'own', at: [id] },
]

/** An owner whom something besides the password speaks for is not delayed by the attempts of strangers. */
function targetsOf(who: 'familiar' | 'holder' | 'unknown', email: string, address: string): GuessTarget[] {
  if (who === 'familiar') return [{ rule: 'pair', at: [email, address] }]
  return who === 'holder' ? fromHolder(email, address) : fromUnknown(email, address)
}

export const login: Verb<'login'> = async (ctx, { body }) => {
  const { actor, caller } = ctx
  const { user, known, holds } = await lookUp(ctx, body.email, body)
  const logOutcome = (outcome: Outcome) =>
    ctx.log({ type: 'sign_in', outcome, userId: user?.id ?? null, address: caller?.address ?? null })
  const isOwner = actor?.via === 'session' && actor.user.id === user?.id
  const address = caller?.address ?? ''
  const targets = targetsOf(known || isOwner ? 'familiar' : holds ? 'holder' : 'unknown', body.email, address)
  const tooEarly = (error: unknown): never => {
    if (error instanceof Refusal) logOutcome('too_early')
    throw error
  }
  const made = await guess(ctx, targets).catch(tooEarly)
  const fits = await verifyPassword(user?.passwordHash, body.password, caller)
  if (!user || !fits) {
    logOutcome(user ? 'wrong_password' : 'unknown_email')
    throw refuse('wrong_login')
  }
  // Counted only now; otherwise strangers without the password could use up the owner's attempts at a code.
  const code = await guessCode(ctx, user.id, body).catch(tooEarly)
  return signIn(ctx, { user, known, codes: body }, [made, code], logOutcome)
}

interface Claim {
  readonly user: UserRow
  /** The account has signed in from this address before. */
  readonly known: boolean
  readonly codes: Codes
}

async function notifyOfRecovery(ctx: Pick<Ctx, 'tx' | 'world' | 'config'>, userId: string, caller: Caller | undefined) {
  const detail = String(await countRecoveryCodes(ctx.tx, userId))
  await notifyOwner(ctx, userId, { kind: 'recovery_code_used', detail, address: caller?.address })
}

/** Ends a sign-in whose password was verified. */
async function signIn(
  { db, world, config, log, caller, actor }: OwnCtx & { actor: Actor | null },
  { user: checked, known, codes }: Claim,
  guesses: readonly Guess[],
  logOutcome: (outcome: Outcome) => void,
) {
  try {
    const result = await db.write(async tx => {
      // Locked; otherwise a change of the password at the same moment could miss the session that begins here.
      await tx.lock('users', checked.id)
      const user = await userById(tx, checked.id)
      // The password may have been changed while it was verified.
      if (user?.passwordHash !== checked.passwordHash) throw refuse('wrong_login')
      if (user.banned) throw refuse('banned')
      const passed = await passSecondFactor({ tx, world, config }, user.id, codes)
      if (passed === 'recovery code') await notifyOfRecovery({ tx, world, config }, user.id, caller)
      if (user.isAdmin && passed === 'none' && config.mode === 'serve')
        tx.afterCommit(() => log(withoutFactor(user.id)))
      if (user.isAdmin && !known) {
        const notice = { kind: 'administrator_signed_in', address: caller?.address } as const
        await notifyOwner({ tx, world, config }, user.id, notice)
      }
      // The browser replaces its cookie, so the old session would stay open unused.
      if (actor?.via === 'session') await deleteSession(tx, actor.credential)
      const session = await beginSession(tx, world, user.id, caller)
      return { data: { user: userRecord(user, world.now()) }, session }
    })
    for (const made of guesses) await made.right()
    logOutcome('signed_in')
    return result
  } catch (error) {
    if (error instanceof Refusal) {
      const outcome = outcomes[error.code] ?? 'wrong_password'
      logOutcome(outcome)
      // The password was right and only the code is missing, so this was no failed attempt.
      if (outcome === 'code_missing') for (const made of guesses) await made.right()
    }
    throw error
  }
}

const withoutFactor = (userId: string) =>
  ({
    type: 'warning',
    message: `The administrator ${userId} signed in without a second factor; npx agent-marketplace account totp begin turns one on.`,
  }) as const

const outcomes: Partial<Record<Refusal['code'], Outcome>> = {
  validation_failed: 'code_missing',
  wrong_code: 'wrong_code',
  banned: 'banned',
}
