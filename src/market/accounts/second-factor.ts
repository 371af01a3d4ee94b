/** The second factor: a code of an authenticator app besides the password, or a recovery code. Source: A-194. */
import { invalid, refuse } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import type { Tx } from '../../store/db.ts'
import {
  beginSecondFactor,
  consumeRecoveryCode,
  countRecoveryCodes,
  deleteSecondFactor,
  enableSecondFactor,
  hasRecoveryCode,
  insertRecoveryCode,
  secondFactorOf,
  useStep,
} from '../../store/tables/accounts/second-factors.ts'
import { deleteOtherSessions } from '../../store/tables/accounts/sessions.ts'
import type { World } from '../../world/world.ts'
import type { Acting, Ctx, OwnCtx, ReadCtx } from '../market.ts'
import { seal, unseal } from '../sealing.ts'
import { isoOrNull } from '../time.ts'
import type { Verb } from '../verb.ts'
import { secretHash } from './credentials.ts'
import { checkOwnPassword, type Guess, guess } from './guesses.ts'
import { notifyOwner } from './security-notices.ts'
import { newTotpSecret, otpauthUrl, stepOf } from './totp.ts'

/** What a request carries as a second factor. */
export interface Codes {
  readonly totp?: string | undefined
  readonly recoveryCode?: string | undefined
}

/** What its secret is bound to when it is sealed. */
export const boundTo = (userId: string) => `totp:${userId}`

/**
 * Checks the account's second factor, if it has one, and refuses without it. A code that passes is used up. Returns which
 * kind it was. Call it only after the password was checked, because the refusal says what is missing.
 */
export async function passSecondFactor(
  { tx, world, config }: Pick<Ctx, 'tx' | 'world' | 'config'>,
  userId: string,
  { totp, recoveryCode }: Codes,
): Promise<'none' | 'totp' | 'recovery code'> {
  const factor = await secondFactorOf(tx, userId)
  if (!factor?.enabledAt) return 'none'
  if (recoveryCode !== undefined) {
    if ((await consumeRecoveryCode(tx, userId, hashOf(recoveryCode))) === 0) throw refuse('wrong_code')
    return 'recovery code'
  }
  if (totp === undefined) throw invalid({ totp: [CODE_NEEDED] })
  const step = stepOf(unseal(config, boundTo(userId), factor.secret), totp, world.realNow())
  if (step === null || (await useStep(tx, userId, step)) === 0) throw refuse('wrong_code')
  return 'totp'
}

/**
 * Whether these codes would pass now. It uses none up and counts no attempt, so it may decide how long an attempt at the
 * password waits, and nothing else.
 */
export async function showsFactor(
  { tx, world, config }: Pick<ReadCtx, 'tx' | 'world' | 'config'>,
  userId: string,
  { totp, recoveryCode }: Codes,
): Promise<boolean> {
  if (recoveryCode !== undefined) return hasRecoveryCode(tx, userId, hashOf(recoveryCode))
  if (totp === undefined) return false
  const factor = await secondFactorOf(tx, userId)
  if (!factor?.enabledAt) return false
  const step = stepOf(unseal(config, boundTo(userId), factor.secret), totp, world.realNow())
  return step !== null && step > factor.lastStep
}

/**
 * Counts an attempt at the account's code. Call it only after the password was checked. Recovery codes are not counted, as
 * they are too long to be guessed.
 */
export const guessCode = async (ctx: OwnCtx, userId: string, { totp }: Codes): Promise<Guess> =>
  guess(ctx, totp === undefined ? [] : [{ rule: 'code', at: [userId] }])

const CODE_NEEDED =
  'is required: this account has a second factor; send the code of your authenticator, or recoveryCode'

/**
 * Refuses an administrator without a second factor where the deployment requires one. If the account has one, this session
 * has passed it: turning it on ends the other sessions, and none begins without it.
 */
export async function requireSecondFactor({ tx, config, actor }: Acting<Ctx>): Promise<void> {
  if (config.adminTotp !== 'required') return
  if (!(await secondFactorOf(tx, actor.user.id))?.enabledAt) throw refuse('second_factor_needed')
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** Makes 80 random bits that people can copy: four groups of four characters. */
function newRecoveryCode(world: World): string {
  const signs = [...world.bytes(16)].map(byte => ALPHABET[byte % ALPHABET.length]).join('')
  return signs.match(/.{4}/g)!.join('-')
}

/** Ignores case and hyphens, as people type codes in either way. */
const hashOf = (recoveryCode: string) => secretHash(recoveryCode.toLowerCase().replace(/[^a-z2-7]/g, ''))

async function makeRecoveryCodes(tx: Tx, world: World, userId: string): Promise<string[]> {
  const codes = Array.from({ length: limits.secondFactor.recoveryCodes }, () => newRecoveryCode(world))
  for (const code of codes) await insertRecoveryCode(tx, userId, hashOf(code))
  return codes
}

const getTotp: Verb<'getTotp'> = async ({ tx, actor }) => {
  const factor = await secondFactorOf(tx, actor.user.id)
  const enabledAt = factor?.enabledAt ?? null
  const recoveryCodesLeft = await countRecoveryCodes(tx, actor.user.id)
  return { enabled: enabledAt !== null, enabledAt: isoOrNull(enabledAt), recoveryCodesLeft }
}

/** Asks for the password again; otherwise the thief of a session could take over the account. */
const beginTotp: Verb<'beginTotp'> = async (ctx, { body }) => {
  const { db, world, config, actor } = ctx
  const { id, email } = actor.user
  await checkOwnPassword(ctx, actor.user, body.password)
  const secret = newTotpSecret(world)
  const begun = await db.write(tx => beginSecondFactor(tx, id, seal(world, config, boundTo(id), secret), world.now()))
  if (begun === 0) throw refuse('totp_enabled')
  return { secret, otpauthUrl: otpauthUrl(secret, email, issuerOf(config.baseUrl)) }
}

const issuerOf = (baseUrl: string) => (URL.canParse(baseUrl) ? new URL(baseUrl).hostname : 'marketplace')

const confirmTotp: Verb<'confirmTotp'> = async (ctx, { body }) => {
  const { tx, world, config, actor } = ctx
  const { id } = actor.user
  // Locked; otherwise a sign-in at the same moment could begin a session without a code.
  await tx.lock('users', id)
  const factor = await secondFactorOf(tx, id)
  if (!factor) throw refuse('totp_not_begun')
  if (factor.enabledAt) throw refuse('totp_enabled')
  const step = stepOf(unseal(config, boundTo(id), factor.secret), body.code, world.realNow())
  if (step === null) throw invalid({ code: ['is not what this secret shows now; is the clock of your device right?'] })
  if ((await enableSecondFactor(tx, id, factor.secret, step, world.now())) === 0) throw refuse('lost_race')
  // The other sessions were begun without a code.
  await deleteOtherSessions(tx, id, actor.credential)
  await notifyOwner(ctx, id, { kind: 'second_factor_on' })
  return { recoveryCodes: await makeRecoveryCodes(tx, world, id) }
}

const removeTotp: Verb<'removeTotp'> = async (ctx, { body }) => {
  const { db, world, config, actor } = ctx
  const { id } = actor.user
  await checkOwnPassword(ctx, actor.user, body.password)
  const made = await guessCode(ctx, id, body)
  await db.write(async tx => {
    await tx.lock('users', id)
    if ((await passSecondFactor({ tx, world, config }, id, body)) === 'none') throw refuse('totp_not_begun')
    await deleteSecondFactor(tx, id)
    await notifyOwner({ tx, world, config }, id, { kind: 'second_factor_off', address: ctx.caller?.address })
  })
  await made.right()
  return { enabled: false }
}

export const secondFactorVerbs = { getTotp, beginTotp, confirmTotp, removeTotp }
