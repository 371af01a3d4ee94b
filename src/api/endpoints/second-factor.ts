/** The second factor of an account: codes of an authenticator app (TOTP, RFC 6238), and recovery codes for a lost one. */

import { endpoint } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { time } from '../shapes.ts'
import * as z from '../zod.ts'

/** A code as it was typed. The verb checks it, because an account without a second factor needs none. */
export const code = () =>
  z.string({ error: 'must be a string' }).max(limits.secondFactor.typed, { error: 'is no code' })

const currentPassword = () => z.string({ error: 'is required' }).max(1000)

const own = { auth: 'session', source: 'A-194' } as const

export const secondFactor = {
  getTotp: endpoint({
    ...own,
    method: 'GET',
    path: '/api/auth/totp',
    rate: 'general',
    summary: 'Whether signing in takes a second factor',
    reply: () => z.object({ enabled: z.boolean(), enabledAt: time().nullable(), recoveryCodesLeft: z.int() }),
    unit: 'read',
  }),
  beginTotp: endpoint({
    ...own,
    method: 'POST',
    path: '/api/auth/totp',
    rate: 'authentication',
    summary: 'Make a secret for your authenticator app',
    description: 'Nothing is asked for at sign-in before a code of it is confirmed.',
    body: () => z.object({ password: currentPassword() }),
    reply: () => z.object({ secret: z.string(), otpauthUrl: z.string() }),
    unit: 'own',
    refusals: ['wrong_password', 'totp_enabled', 'too_many_guesses'],
  }),
  confirmTotp: endpoint({
    ...own,
    method: 'POST',
    path: '/api/auth/totp/confirm',
    rate: 'authentication',
    summary: 'Turn the second factor on with a first code; ends every other session',
    description: 'The recovery codes are shown this once. Each signs in once in the place of a code.',
    body: () => z.object({ code: code() }),
    reply: () => z.object({ recoveryCodes: z.array(z.string()) }),
    unit: 'write',
    refusals: ['totp_enabled', 'totp_not_begun'],
  }),
  removeTotp: endpoint({
    ...own,
    method: 'DELETE',
    path: '/api/auth/totp',
    rate: 'authentication',
    summary: 'Turn the second factor off',
    body: () => z.object({ password: currentPassword(), totp: code().optional(), recoveryCode: code().optional() }),
    reply: () => z.object({ enabled: z.literal(false) }),
    unit: 'own',
    refusals: ['wrong_password', 'wrong_code', 'totp_not_begun', 'too_many_guesses'],
  }),
}
