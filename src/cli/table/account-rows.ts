/** The commands of one's own account: keys, notifications, sessions, the second factor. Source. */

import type { CommandRecord } from '../command-line/command.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { endpointCommand } from '../endpoint/command.ts'
import { type EndpointRow, type FieldFlag, pageFlags } from '../endpoint/row.ts'

const USER = [
  'user.id',
  'user.email',
  'user.name',
  'user.isBuilder',
  'user.isAdmin',
  'user.trustTier',
  'user.createdAt',
]

const builder = { person: 'builder' } as const
const anyone = { person: 'buyer' } as const

export const keyRows: readonly EndpointRow[] = [
  {
    ...builder,
    name: 'keys list',
    endpoint: 'listKeys',
    summary: 'Your API keys, by their first characters',
    flags: pageFlags,
    things: 'API keys',
    first: flags => `Make one: ${nextSteps.createKey(flags)}`,
    shows: ['id', 'name', 'keyPrefix', 'createdAt', 'lastUsedAt'],
    examples: ['marketplace keys list', 'marketplace keys list --json'],
  },
  {
    ...builder,
    name: 'keys create',
    endpoint: 'createKey',
    summary: 'Make an API key; it is shown this once, alone on stdout',
    flags: [['--name <text>', 'where it is used, for your own list', 'name']],
    prints: 'key',
    shows: ['key'],
    examples: ['marketplace keys create --name laptop > key.txt', 'marketplace keys create --name laptop --json'],
  },
  {
    ...builder,
    name: 'keys delete',
    endpoint: 'deleteKey',
    takes: [['key-id', 'id']],
    summary: 'End an API key at once',
    confirms: 'ends the key for good',
    shows: ['id'],
    examples: ['marketplace keys delete KEY_ID', 'marketplace keys delete KEY_ID --yes --json'],
  },
]

export const notificationRows: readonly EndpointRow[] = [
  {
    ...builder,
    name: 'notifications list',
    endpoint: 'listNotifications',
    summary: 'What you should know, such as disputes; newest first',
    flags: [['--unread', 'only those that you have not read', { unread: true }], ...pageFlags],
    things: 'notifications',
    shows: ['id', 'createdAt', 'type', 'readAt', 'message', 'data.reason'],
    examples: ['marketplace notifications list', 'marketplace notifications list --as buyer --json'],
  },
  {
    ...builder,
    name: 'notifications read-all',
    endpoint: 'readNotifications',
    summary: 'Mark all as read',
    shows: ['read'],
    examples: ['marketplace notifications read-all', 'marketplace notifications read-all --as buyer --json'],
  },
  {
    ...builder,
    name: 'notifications read',
    endpoint: 'readNotification',
    takes: [['notification-id', 'id']],
    summary: 'Mark one as read',
    shows: ['id', 'type', 'message', 'readAt'],
    examples: ['marketplace notifications read ID', 'marketplace notifications read ID --json'],
  },
]

const codes: readonly FieldFlag[] = [
  ['--totp <code>', 'of your authenticator', 'totp'],
  ['--recovery-code <code>', 'instead, if the authenticator is lost', 'recoveryCode'],
]

const SESSION = ['id', 'current', 'createdAt', 'lastSeenAt', 'address', 'userAgent']
const PASSWORD = ['password', 'Your password:'] as const

export const accountRows: readonly EndpointRow[] = [
  {
    ...anyone,
    name: 'account update',
    endpoint: 'updateMe',
    summary: 'Change your name, or whether you build agents',
    flags: [
      ['--name <text>', 'what others read', 'name'],
      ['--builder', 'list agents, have keys', { isBuilder: true }],
      ['--not-builder', 'the opposite; keys rest meanwhile', { isBuilder: false }],
    ],
    shows: USER,
    examples: ['marketplace account update --builder', 'marketplace account update --name "Ann Lee" --json'],
  },
  {
    ...anyone,
    name: 'account password change',
    endpoint: 'changePassword',
    summary: 'Change your password; every other session ends',
    flags: [['--end-keys', 'API keys end too', { endKeys: true }]],
    asks: [
      ['currentPassword', 'Your password as it is now:'],
      ['newPassword', 'The new one:'],
    ],
    shows: USER,
    examples: [
      'marketplace account password change',
      'marketplace account password change --end-keys --password-stdin < passwords.txt',
    ],
  },
  {
    ...anyone,
    name: 'account password forgot',
    endpoint: 'requestPasswordReset',
    takes: [['email', 'email']],
    summary: 'Ask for a letter with a token that sets a new password',
    shows: [],
    notes: 'The answer is the same for every address.',
    next: flags =>
      `If this address has an account, a letter with a token is on its way. Then: ${nextSteps.resetPassword(flags)}`,
    examples: [
      'marketplace account password forgot you@market.example --url https://market.example',
      'marketplace account password forgot you@market.example --json',
    ],
  },
  {
    ...anyone,
    name: 'account password reset',
    endpoint: 'confirmPasswordReset',
    summary: 'Set a new password with the token; all sessions and keys end',
    flags: [['--keep-keys', 'API keys stay valid', { keepKeys: true }]],
    asks: [
      ['token', 'The token of the letter:'],
      ['password', 'The new password:'],
    ],
    shows: [],
    notes: 'The token is in the letter that account password forgot asks for.',
    examples: [
      'marketplace account password reset --url https://market.example',
      'marketplace account password reset --keep-keys --password-stdin < token-and-password.txt',
    ],
  },
  {
    ...anyone,
    name: 'account sessions list',
    endpoint: 'listSessions',
    summary: 'Where you are signed in, the newest first',
    flags: pageFlags,
    things: 'sessions',
    shows: SESSION,
    examples: ['marketplace account sessions list', 'marketplace account sessions list --json'],
  },
  {
    ...anyone,
    name: 'account sessions end',
    endpoint: 'endSession',
    takes: [['session-id', 'id']],
    summary: 'End one of them',
    shows: ['id'],
    examples: ['marketplace account sessions end SESSION_ID', 'marketplace account sessions end SESSION_ID --json'],
  },
  {
    ...anyone,
    name: 'account sessions end-others',
    endpoint: 'endOtherSessions',
    summary: 'End every session but this one',
    shows: ['ended'],
    examples: ['marketplace account sessions end-others', 'marketplace account sessions end-others --json'],
  },
  {
    ...anyone,
    name: 'account totp show',
    endpoint: 'getTotp',
    summary: 'Whether signing in takes a second factor',
    shows: ['enabled', 'enabledAt', 'recoveryCodesLeft'],
    examples: ['marketplace account totp show', 'marketplace account totp show --json'],
  },
  {
    ...anyone,
    name: 'account totp begin',
    endpoint: 'beginTotp',
    summary: 'Make a secret for your authenticator app',
    asks: [PASSWORD],
    shows: ['secret', 'otpauthUrl'],
    next: flags => `Put it into your authenticator app, and send a code of it: ${nextSteps.confirmFactor(flags)}`,
    examples: ['marketplace account totp begin', 'marketplace account totp begin --password-stdin < password.txt'],
  },
  {
    ...anyone,
    name: 'account totp confirm',
    endpoint: 'confirmTotp',
    takes: [['code', 'code']],
    summary: 'Turn the second factor on; prints recovery codes once',
    shows: ['recoveryCodes'],
    examples: ['marketplace account totp confirm 123456', 'marketplace account totp confirm 123456 --json'],
  },
  {
    ...anyone,
    name: 'account totp remove',
    endpoint: 'removeTotp',
    summary: 'Turn the second factor off',
    flags: codes,
    asks: [PASSWORD],
    confirms: 'turns the second factor off, and its recovery codes are void',
    shows: ['enabled'],
    examples: [
      'marketplace account totp remove --totp 123456',
      'marketplace account totp remove --totp 123456 --yes --password-stdin < password.txt',
    ],
  },
]

/** Commands about one's own account, an endpoint each. */
export const account: readonly CommandRecord[] = [...keyRows, ...notificationRows, ...accountRows].map(endpointCommand)
