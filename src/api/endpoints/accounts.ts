/** Sign-up, sign-in, API keys. Source, I-builder. */

import { endpoint } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { deleted, keyInfo, user } from '../records.ts'
import { anyEmail, email, flag, paging, text, time } from '../shapes.ts'
import * as z from '../zod.ts'
import { code } from './second-factor.ts'

const password = () => text(limits.account.password)

export const accounts = {
  register: endpoint({
    method: 'POST',
    path: '/api/auth/register',
    auth: 'public',
    rate: 'registration',
    summary: 'Create an account and sign in',
    body: () =>
      z.object({
        email: email(),
        password: password(),
        name: text(limits.account.name),
        isBuilder: flag().optional(),
      }),
    reply: () => z.object({ user: user() }),
    status: 201,
    unit: 'own',
    grows: true,
    sets: 'session',
    refusals: ['email_taken'],
    source: 'A-9',
  }),
  login: endpoint({
    method: 'POST',
    path: '/api/auth/login',
    auth: 'public',
    rate: 'authentication',
    summary: 'Sign in',
    description:
      'An account with a second factor needs a code of its authenticator as `totp`, or one of its recovery codes. If the ' +
      'password is right and neither is sent, the response is 400 with `errors.totp`; a wrong or used code gets 401.',
    body: () =>
      z.object({
        email: email(),
        password: z.string({ error: 'is required' }).max(1000),
        totp: code().optional(),
        recoveryCode: code().optional(),
      }),
    reply: () => z.object({ user: user() }),
    unit: 'own',
    sets: 'session',
    refusals: ['wrong_login', 'wrong_code', 'banned', 'too_many_guesses'],
    source: 'A-9, A-194',
  }),
  logout: endpoint({
    method: 'POST',
    path: '/api/auth/logout',
    auth: 'session',
    rate: 'general',
    summary: 'End this session',
    reply: () => z.object({}),
    unit: 'write',
    sets: 'session',
    source: 'A-9',
  }),
  me: endpoint({
    method: 'GET',
    path: '/api/auth/me',
    auth: 'key-or-session',
    rate: 'general',
    summary: 'Your account',
    reply: () => z.object({ user: user() }),
    unit: 'read',
    source: 'A-9',
  }),
  updateMe: endpoint({
    method: 'PUT',
    path: '/api/auth/me',
    auth: 'session',
    rate: 'general',
    summary: 'Change your name or role',
    body: () => z.object({ name: text(limits.account.name).optional(), isBuilder: flag().optional() }),
    reply: () => z.object({ user: user() }),
    unit: 'write',
    refusals: ['open_work'],
    source: 'A-9',
  }),
  changePassword: endpoint({
    method: 'POST',
    path: '/api/auth/password',
    auth: 'session',
    rate: 'authentication',
    summary: 'Change your password; ends every other session',
    description:
      'With `endKeys`, the API keys of the account are deleted too. Reset tokens that were sent before are void.',
    body: () =>
      z.object({
        currentPassword: z.string({ error: 'is required' }).max(1000),
        newPassword: password(),
        endKeys: flag().optional(),
      }),
    reply: () => z.object({ user: user() }),
    unit: 'own',
    refusals: ['wrong_password', 'too_many_guesses'],
    source: 'A-9, A-192 and A-193',
  }),
  requestPasswordReset: endpoint({
    method: 'POST',
    path: '/api/auth/password-reset',
    auth: 'public',
    rate: 'password_reset',
    summary: 'Ask for a mail with a token that sets a new password; the response is the same for every email',
    body: () => z.object({ email: anyEmail() }),
    reply: () => z.object({}),
    unit: 'write',
    source: 'A-9',
  }),
  confirmPasswordReset: endpoint({
    method: 'POST',
    path: '/api/auth/password-reset/confirm',
    auth: 'public',
    rate: 'password_reset',
    summary: 'Set a new password with the token of the mail; ends every session and every API key',
    description: 'With `keepKeys`, the API keys of the account stay valid.',
    body: () =>
      z.object({
        token: z.string({ error: 'is required' }).min(1).max(200),
        password: password(),
        keepKeys: flag().optional(),
      }),
    reply: () => z.object({}),
    unit: 'own',
    refusals: ['token_invalid'],
    source: 'A-9',
  }),
}

export const keys = {
  listKeys: endpoint({
    method: 'GET',
    path: '/api/my/api-keys',
    auth: 'key-or-session',
    role: 'builder',
    rate: 'general',
    summary: 'List API keys',
    query: () => z.object(paging),
    reply: () => keyInfo().extend({ lastUsedAt: time().nullable() }),
    list: 'items',
    unit: 'read',
    source: 'I-builder, A-11',
  }),
  createKey: endpoint({
    method: 'POST',
    path: '/api/my/api-keys',
    auth: 'key-or-session',
    role: 'builder',
    rate: 'general',
    summary: 'Create an API key; the full key is shown once',
    body: () => z.object({ name: text(limits.key.name) }),
    reply: () => z.object({ key: z.string(), keyInfo: keyInfo() }),
    showsSecret: true,
    status: 201,
    unit: 'write',
    grows: true,
    whenSuspended: 'refused',
    refusals: ['too_many_keys'],
    source: 'I-builder, A-11',
  }),
  deleteKey: endpoint({
    method: 'DELETE',
    path: '/api/my/api-keys/:id',
    auth: 'key-or-session',
    role: 'builder',
    rate: 'general',
    summary: 'Delete an API key',
    reply: deleted,
    unit: 'write',
    refusals: ['not_found', 'not_yours'],
    source: 'I-builder, A-11',
  }),
}
