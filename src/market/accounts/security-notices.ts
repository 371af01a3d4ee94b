/** Mails to an account's owner about security changes, which somebody else may have made. Source: A-192. */
import { plainShellWord } from '../../api/command-line.ts'
import { durations, limits } from '../../api/limits.ts'
import { insertNotice, noticeById, type SecurityNoticeRow } from '../../store/tables/accounts/mails.ts'
import { userById } from '../../store/tables/accounts/users.ts'
import { countRequest } from '../../store/tables/requests/rate-windows.ts'
import type { Ctx } from '../market.ts'
import { iso } from '../time.ts'
import { type MailContent, queueMail } from './mail-queue.ts'

type Notice = Pick<SecurityNoticeRow, 'kind'> & { readonly detail?: string; readonly address?: string | undefined }

/**
 * Queues the mail in the transaction of the change. Does nothing without a mail server, as the simulator has no owner to
 * warn.
 */
export async function notifyOwner(
  ctx: Pick<Ctx, 'tx' | 'world' | 'config'>,
  userId: string,
  notice: Notice,
): Promise<void> {
  const { tx, world } = ctx
  const { kind, detail = null, address = null } = notice
  if (!world.mail || !(await isAmongFirst(ctx, userId, kind))) return
  const id = world.id('sec', userId)
  await insertNotice(tx, { id, userId, kind, detail, address, createdAt: world.now() })
  await queueMail(ctx, 'notification', id)
}

/**
 * Bounds the mails of one kind in an hour. Emails are not verified, so somebody could otherwise flood a stranger's mailbox
 * by creating keys.
 */
async function isAmongFirst({ tx, world }: Pick<Ctx, 'tx' | 'world'>, userId: string, kind: string): Promise<boolean> {
  const now = world.now()
  const endsAt = now + durations.hourMs
  const latest = endsAt + durations.clockToleranceMs
  const window = await countRequest(tx, { category: `letters ${kind}`, address: userId, now, endsAt, latest })
  return window.count <= limits.account.noticeMails
}

interface Kind {
  readonly subject: string
  sentence(detail: string): string
}

const kinds: Readonly<Record<SecurityNoticeRow['kind'], Kind>> = {
  password_changed: {
    subject: 'Your password was changed',
    sentence: keys => `The password of your account was changed, and every other session ended. ${keys}`,
  },
  password_reset: {
    subject: 'Your password was set anew',
    sentence: keys =>
      `The password of your account was set anew with the token of a mail, and every session ended. ${keys}`,
  },
  api_key_created: {
    subject: 'An API key was created',
    sentence: name => `An API key was created for your account, under the name “${name}”.`,
  },
  second_factor_on: {
    subject: 'Signing in takes a second factor now',
    sentence: () => 'A second factor was turned on for your account, and every other session ended.',
  },
  second_factor_off: {
    subject: 'Signing in takes no second factor any more',
    sentence: by => `The second factor of your account was turned off${by}.`,
  },
  recovery_code_used: {
    subject: 'A recovery code was used',
    sentence: left => `Somebody signed in to your account with a recovery code. ${left} of those codes are left.`,
  },
  administrator_signed_in: {
    subject: 'You signed in from a new address',
    sentence: () => 'Somebody signed in to your administrator account from an address that was not seen before.',
  },
}

export const keysEnded = (ended: number) =>
  ended === 0 ? 'Its API keys go on working.' : `Its API keys were deleted: ${ended}.`

/** Composes the mail. Returns null if there is nobody to write to. */
export async function noticeMail({ tx, config }: Pick<Ctx, 'tx' | 'config'>, id: string): Promise<MailContent | null> {
  const notice = await noticeById(tx, id)
  const user = notice && (await userById(tx, notice.userId))
  if (!notice || !user) return null
  const { subject, sentence } = kinds[notice.kind]
  const text = [
    sentence(onOneLine(notice.detail ?? '')),
    '',
    `When: ${iso(notice.createdAt)}`,
    ...(notice.address === null ? [] : [`From: ${notice.address}`]),
    `Marketplace: ${config.baseUrl}`,
    '',
    'If it was you, there is nothing to do. If not, ask for a new password: it ends every session and every API key.',
    '',
    ...waysTo(config, 'forgot', `forgot ${plainShellWord(user.email)}`),
    '',
  ]
  return { to: user.email, subject, text: text.join('\n') }
}

/** Where a password is asked for or set: a page, if there is one, and a command. */
export const waysTo = ({ baseUrl, console }: Ctx['config'], query: string, command: string): string[] => [
  ...(console === 'on' ? [`  ${baseUrl}/console/sign-in?${query}`] : []),
  `  npx agent-marketplace account password ${command} --url ${plainShellWord(baseUrl)}`,
]

/** What a person has written. On one line it can't imitate other lines of the mail. */
export const onOneLine = (detail: string) => detail.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
