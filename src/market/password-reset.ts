/** A new password for whoever reads the account's mail. Source: D9. */
import { refuse } from '../api/failures.ts'
import { durations } from '../api/limits.ts'
import { deleteOldResets, deleteResets, hasReset, insertReset, takeReset } from '../store/password-resets.ts'
import { deleteSessions } from '../store/sessions.ts'
import { updateUser, userByEmail } from '../store/users.ts'
import { secretHash } from './credentials.ts'
import { queueMail, type Words } from './mail.ts'
import type { Ctx } from './market.ts'
import { hashPassword } from './passwords.ts'
import type { Verb } from './verb.ts'

/** Nobody is looked up here, so that a known and an unknown email take the same time. */
const requestPasswordReset: Verb<'requestPasswordReset'> = async (ctx, { body }) => {
  await queueMail(ctx, 'password_reset', body.email)
  return {}
}

/** The letter with a new token; null if nobody has this email. */
export async function resetWords(ctx: Ctx, email: string): Promise<Words | null> {
  const { tx, world, config } = ctx
  const user = await userByEmail(tx, email)
  if (!user) return null
  const now = world.now()
  const token = world.bytes(32).toString('base64url')
  await deleteOldResets(tx, user.id, now - durations.passwordResetMs)
  await insertReset(tx, secretHash(token), user.id, now)
  const text = [
    `Somebody asked for a new password of your account at ${config.baseUrl}.`,
    'If it was not you, there is nothing to do: your password stays as it is.',
    '',
    'This token is good for one hour, and once:',
    '',
    token,
    '',
    'Send it together with the new password:',
    '',
    `  POST ${config.baseUrl}/api/auth/password-reset/confirm`,
    '  {"token": "…", "password": "…"}',
    '',
  ]
  return { to: user.email, subject: 'Your new password', text: text.join('\n') }
}

const confirmPasswordReset: Verb<'confirmPasswordReset'> = async ({ db, world }, { body }) => {
  const tokenHash = secretHash(body.token)
  const since = () => world.now() - durations.passwordResetMs
  // Hashing costs too much to do it for anyone's token.
  if (!(await db.read(q => hasReset(q, tokenHash, since())))) throw refuse('token_invalid')
  const passwordHash = await hashPassword(body.password)
  await db.write(async tx => {
    const userId = await takeReset(tx, tokenHash, since())
    if (userId === undefined) throw refuse('token_invalid')
    await updateUser(tx, userId, { passwordHash })
    await deleteResets(tx, userId)
    await deleteSessions(tx, userId)
  })
  return {}
}

export const passwordResetVerbs = { requestPasswordReset, confirmPasswordReset }
