/** Sends queued mails, and tries again when that fails. */
import { mailLeaseMs, mailsAtOnce, retryScheduleMs } from '../../api/limits.ts'
import { StoreError, type Tx } from '../../store/db.ts'
import {
  claimMail,
  deleteMail,
  deleteNotice,
  dueMails,
  type MailRow,
  retryMail,
} from '../../store/tables/accounts/mails.ts'
import { notificationById } from '../../store/tables/accounts/notifications.ts'
import { userById } from '../../store/tables/accounts/users.ts'
import type { MailResult } from '../../world/world.ts'
import { Activity } from '../activity.ts'
import type { Market } from '../market.ts'
import { type MailContent, mailTransport } from './mail-queue.ts'
import { mailSubject } from './notifications.ts'
import { resetMail } from './password-reset.ts'
import { noticeMail, onOneLine } from './security-notices.ts'

/**
 * A worker without work looks again after this long while others still send, because a mail may have been queued meanwhile.
 */
const LOOK_MS = 1_000

/**
 * Sends every due mail, a few at a time, so that one that the server is slow to take does not delay the others. If the
 * database failed, it rejects with the first such error once all have been tried.
 */
export async function sendMails(market: Market): Promise<void> {
  if (mailTransport(market) === 'none') return
  // It is asked every second, and mostly there is none.
  if ((await market.db.read(q => dueMails(q, market.world.now(), 1))).length === 0) return
  const round: Round = { sending: new Set(), active: mailsAtOnce, wakers: new Set() }
  const workers = Array.from({ length: mailsAtOnce }, (_, at) => runWorker(market, round, at === 0))
  const failed = (await Promise.allSettled(workers)).find(end => end.status === 'rejected')
  if (failed) throw failed.reason
}

/** What the workers of one round share. */
interface Round {
  /** Ids of the mails that a worker is sending. */
  readonly sending: Set<string>
  /** How many workers send or look for a mail. At 0 the round is over. */
  active: number
  /** Each wakes one waiting worker at the end of the round. */
  readonly wakers: Set<() => void>
}

/**
 * Sends one mail after the other until the round is over. A mail that can't be composed or noted does not stop the others.
 */
async function runWorker(market: Market, round: Round, resetsAlone: boolean): Promise<void> {
  do {
    try {
      await sendAll(market, round, resetsAlone)
    } finally {
      round.active--
      if (round.active === 0) for (const wake of round.wakers) wake()
    }
  } while (await hasMore(market, round))
}

async function sendAll(market: Market, round: Round, resetsAlone: boolean): Promise<void> {
  for (;;) {
    const row = await nextMail(market, round, resetsAlone)
    if (!row) return
    const end = market.memory.of(Activity).begin('mail', row.id)
    await sendMail(market, row)
      .catch(error => postpone(market, row, error))
      .finally(() => {
        round.sending.delete(row.id)
        end()
      })
  }
}

/** Returns a due mail and marks it as being sent; null if there is none. */
async function nextMail({ db, world }: Market, { sending }: Round, resetsAlone: boolean): Promise<MailRow | null> {
  // Mails that other workers are sending may still look due.
  const due = await db.read(q => dueMails(q, world.now(), 2 * mailsAtOnce))
  const row = due.find(({ id }) => !sending.has(id))
  if (!row || (resetsAlone && row.kind !== 'password_reset')) return null
  sending.add(row.id)
  return row
}

/** Waits until it is time to look again. Returns false when no worker sends any more. */
async function hasMore({ world }: Market, round: Round): Promise<boolean> {
  if (round.active === 0) return false
  await new Promise<void>(resolve => {
    const wake = () => {
      round.wakers.delete(wake)
      timer.cancel()
      resolve()
    }
    const timer = world.after(LOOK_MS, wake)
    round.wakers.add(wake)
  })
  if (round.active === 0) return false
  round.active++
  return true
}

const waitAfter = ({ attempts }: MailRow) => retryScheduleMs[attempts] ?? 0
const isLast = ({ attempts }: MailRow) => attempts >= retryScheduleMs.length

async function sendMail(market: Market, row: MailRow): Promise<void> {
  const { db, world } = market
  const words = await db.write(async tx => {
    // If the process ends now, the mail is sent again when this claim has ended.
    if ((await claimMail(tx, row, world.now() + Math.max(mailLeaseMs, waitAfter(row)))) === 0) return null
    const words = await composeMail(market, tx, row)
    if (!words) await dropMail(tx, row)
    return words
  })
  if (!words) return
  const result: MailResult = world.mail ? await world.mail.send({ id: row.id, ...words }) : { ok: true }
  const isOver = result.ok || result.permanent || isLast(row)
  const held = { ...row, attempts: row.attempts + 1 }
  await db.write<unknown>(tx => (isOver ? dropMail(tx, row) : retryMail(tx, held, world.now() + waitAfter(row))))
  logResult(market, row, result, isOver, words)
}

/** Counts the failure as an attempt, as this row may be its cause. Rejects if the database failed, now or before. */
async function postpone({ db, world, log }: Market, row: MailRow, error: Error): Promise<void> {
  if (error instanceof StoreError) throw error
  log({ type: 'error', message: `Mail ${row.id} could not be sent: ${error.message}` })
  await db.write<unknown>(tx => (isLast(row) ? dropMail(tx, row) : claimMail(tx, row, world.now() + waitAfter(row))))
}

/** A security notice exists only for its mail, so it is deleted with it. */
async function dropMail(tx: Tx, { id, about }: MailRow): Promise<void> {
  await deleteMail(tx, id)
  await deleteNotice(tx, about)
}

/** Returns null if there is nobody to write to. */
async function composeMail(market: Market, tx: Tx, { id, kind, about }: MailRow): Promise<MailContent | null> {
  if (kind === 'password_reset') return resetMail({ ...market, tx }, about, id)
  if (about.startsWith('sec_')) return noticeMail({ ...market, tx }, about)
  const news = await notificationById(tx, about)
  const user = news && (await userById(tx, news.userId))
  if (!news || !user) return null
  const data = JSON.parse(news.data) as { readonly reason?: string | null }
  const subject = mailSubject({ type: news.type, data })
  if (subject === null) return null
  const lines = [
    ...[onOneLine(news.message), ''],
    ...(data.reason ? [`Reason: ${onOneLine(data.reason)}`] : []),
    ...(news.agentId === null ? [] : [`Agent: ${news.agentId}`]),
    `Marketplace: ${market.config.baseUrl}\n`,
  ]
  return { to: user.email, subject, text: lines.join('\n') }
}

function logResult(
  { log, world }: Market,
  { id, kind }: MailRow,
  result: MailResult,
  isOver: boolean,
  words: MailContent,
) {
  const line = { type: 'mail', mailId: id, kind } as const
  if (!result.ok) log({ ...line, outcome: isOver ? 'failed' : 'retry', reason: result.message })
  else if (world.mail) log({ ...line, outcome: 'sent', reason: null })
  else log({ ...line, outcome: 'shown', reason: null, mail: words })
}
