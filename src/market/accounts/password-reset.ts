/** Sets a new password for a user who can read the account's mail. Source: A-9. */
import { refuse } from '../../api/failures.ts'
import { durations, limits } from '../../api/limits.ts'
import { email } from '../../api/shapes.ts'
import type { Tx } from '../../store/db.ts'
import { deleteKeys } from '../../store/tables/accounts/keys.ts'
import { deleteResetMails } from '../../store/tables/accounts/mails.ts'
import {
  consumeReset,
  countOtherLetters,
  deleteOldResets,
  deleteResets,
  insertReset,
  ownerOfReset,
} from '../../store/tables/accounts/password-resets.ts'
import { deleteSessions } from '../../store/tables/accounts/sessions.ts'
import { type UserRow, updateUser, userByEmail } from '../../store/tables/accounts/users.ts'
import type { Ctx } from '../market.ts'
import type { Verb } from '../verb.ts'
import { refuseGuessable } from './common-passwords.ts'
import { secretHash } from './credentials.ts'
import { forgive } from './guesses.ts'
import { type MailContent, queueMail } from './mail-queue.ts'
import { hashPassword } from './passwords.ts'
import { keysEnded, notifyOwner, waysTo } from './security-notices.ts'
import { passwordTargets } from './sign-in.ts'

/** Looks no account up, so that a known and an unknown email take the same time. */
const requestPasswordReset: Verb<'requestPasswordReset'> = async (ctx, { body }) => {
  if (isEmail(body.email)) await queueMail(ctx, 'password_reset', body.email)
  return {}
}

const isEmail = (text: string) => email().safeParse(text).success

/**
 * Composes the mail with a new token. Returns null if no account has this email, or if enough such mails were sent lately.
 */
export async function resetMail(ctx: Ctx, address: string, mailId: string): Promise<MailContent | null> {
  const { tx, world, config } = ctx
  const user = await userByEmail(tx, address)
  if (!user) return null
  const now = world.now()
  const token = world.bytes(32).toString('base64url')
  await deleteOldResets(tx, user.id, now - durations.passwordResetMs)
  // Locked; otherwise two mails at once could both be the last one allowed.
  await tx.lock('users', user.id)
  if ((await countOtherLetters(tx, user.id, mailId)) >= limits.account.resetMails) return null
  await insertReset(tx, secretHash(token), user.id, mailId, now)
  const text = [
    `Somebody asked for a new password of your account at ${config.baseUrl}.`,
    'If it was not you, there is nothing to do: your password stays as it is.',
    '',
    'This token is good for one hour, and once:',
    '',
    token,
    '',
    'Set the new password with it:',
    '',
    ...waysTo(config, `reset=${token}`, 'reset'),
    '',
  ]
  return { to: user.email, subject: 'Your new password', text: text.join('\n') }
}

const confirmPasswordReset: Verb<'confirmPasswordReset'> = async (ctx, { body }) => {
  const { db, world, config, caller } = ctx
  const tokenHash = secretHash(body.token)
  const since = () => world.now() - durations.passwordResetMs
  // Checked first, because hashing costs too much to do it for any token.
  const owner = await db.read(q => ownerOfReset(q, tokenHash, since()))
  if (!owner) throw refuse('token_invalid')
  await refuseGuessable('password', body.password, owner, config)
  const passwordHash = await hashPassword(body.password, caller)
  const user = await db.write(async tx => {
    const userId = await consumeReset(tx, tokenHash, since())
    if (userId === undefined) throw refuse('token_invalid')
    const user = (await updateUser(tx, userId, { passwordHash }))!
    await voidResets(tx, user)
    await deleteSessions(tx, userId)
    const ended = body.keepKeys ? 0 : await deleteKeys(tx, userId)
    const notice = { kind: 'password_reset', detail: keysEnded(ended), address: caller?.address } as const
    await notifyOwner({ tx, world, config }, userId, notice)
    return user
  })
  await forgive(ctx, passwordTargets(user, caller?.address ?? ''))
  return {}
}

/** Voids all reset tokens of the account, sent or still queued. */
export async function voidResets(tx: Tx, { id, email }: Pick<UserRow, 'id' | 'email'>): Promise<void> {
  await deleteResets(tx, id)
  await deleteResetMails(tx, email)
}

export const passwordResetVerbs = { requestPasswordReset, confirmPasswordReset }
