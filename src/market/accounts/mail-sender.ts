/** Sends the letters that wait, and tries again when that fails. */
import { letterLeaseMs, lettersAtOnce, retryScheduleMs } from '../../api/limits.ts'
import { StoreError, type Tx } from '../../store/db.ts'
import { claimMail, deleteMail, dueMails, type MailRow, retryMail } from '../../store/tables/mails.ts'
import { notificationById } from '../../store/tables/notifications.ts'
import { deleteNotice } from '../../store/tables/security-notices.ts'
import { userById } from '../../store/tables/users.ts'
import type { LetterResult } from '../../world/world.ts'
import type { Market } from '../market.ts'
import { type Words, wayOf } from './mail-queue.ts'
import { resetWords } from './password-reset.ts'
import { noticeWords } from './security-notices.ts'

/** Whoever has nothing to send looks again so soon, while others are still sending: a letter may have come meanwhile. */
const LOOK_MS = 1_000

/**
 * Sends every letter that is due, a few at a time, so that a mail server that is slow with one keeps no others waiting.
 * Rejects when all has been tried, with the first failure of the database.
 */
export async function sendMails(market: Market): Promise<void> {
  if (wayOf(market) === 'none') return
  const round: Round = { inHand: new Set(), active: lettersAtOnce, bells: new Set() }
  const places = Array.from({ length: lettersAtOnce }, (_, at) => sendInTurn(market, round, at === 0))
  const failed = (await Promise.allSettled(places)).find(end => end.status === 'rejected')
  if (failed) throw failed.reason
}

/** What those share who send at the same time. */
interface Round {
  /** Ids of letters. */
  readonly inHand: Set<string>
  /** How many send or look for something to send. Without any it is over. */
  active: number
  /** Each wakes one who waits, for the end. */
  readonly bells: Set<() => void>
}

/** One letter after the other. One that can't be made or noted keeps none behind it. */
async function sendInTurn(market: Market, round: Round, resetsAlone: boolean): Promise<void> {
  do {
    try {
      await sendAll(market, round, resetsAlone)
    } finally {
      round.active--
      if (round.active === 0) for (const wake of round.bells) wake()
    }
  } while (await hasMore(market, round))
}

async function sendAll(market: Market, round: Round, resetsAlone: boolean): Promise<void> {
  for (;;) {
    const row = await nextLetter(market, round, resetsAlone)
    if (!row) return
    await sendMail(market, row)
      .catch(error => putOff(market, row, error))
      .finally(() => round.inHand.delete(row.id))
  }
}

/** In hand from here on. */
async function nextLetter({ db, world }: Market, { inHand }: Round, resetsAlone: boolean): Promise<MailRow | null> {
  // What others have in hand may still look due.
  const due = await db.read(q => dueMails(q, world.now(), 2 * lettersAtOnce))
  const row = due.find(({ id }) => !inHand.has(id))
  if (!row || (resetsAlone && row.kind !== 'password_reset')) return null
  inHand.add(row.id)
  return row
}

/** Waits until it makes sense to look again; false: nobody sends any more. */
async function hasMore({ world }: Market, round: Round): Promise<boolean> {
  if (round.active === 0) return false
  await new Promise<void>(resolve => {
    const wake = () => {
      round.bells.delete(wake)
      timer.cancel()
      resolve()
    }
    const timer = world.after(LOOK_MS, wake)
    round.bells.add(wake)
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
    // Should the process end now, the letter goes out again when it is no longer in hand.
    if ((await claimMail(tx, row, world.now() + Math.max(letterLeaseMs, waitAfter(row)))) === 0) return null
    const words = await writeLetter(market, tx, row)
    if (!words) await dropMail(tx, row)
    return words
  })
  if (!words) return
  const result: LetterResult = world.mail ? await world.mail.send({ id: row.id, ...words }) : { ok: true }
  const isOver = result.ok || result.permanent || isLast(row)
  const held = { ...row, attempts: row.attempts + 1 }
  await db.write<unknown>(tx => (isOver ? dropMail(tx, row) : retryMail(tx, held, world.now() + waitAfter(row))))
  tell(market, row, result, isOver, words)
}

/** It may be the row's own fault, so it counts as an attempt. Rejects if it is not, or the database refuses this as well. */
async function putOff({ db, world, log }: Market, row: MailRow, error: Error): Promise<void> {
  if (error instanceof StoreError) throw error
  log({ type: 'error', message: `Letter ${row.id} could not be sent: ${error.message}` })
  await db.write<unknown>(tx => (isLast(row) ? dropMail(tx, row) : claimMail(tx, row, world.now() + waitAfter(row))))
}

/** A security notice is there for its letter alone. */
async function dropMail(tx: Tx, { id, about }: MailRow): Promise<void> {
  await deleteMail(tx, id)
  await deleteNotice(tx, about)
}

/** null if there is nobody to write to. */
async function writeLetter(market: Market, tx: Tx, { id, kind, about }: MailRow): Promise<Words | null> {
  if (kind === 'password_reset') return resetWords({ ...market, tx }, about, id)
  if (about.startsWith('sec_')) return noticeWords({ ...market, tx }, about)
  const news = await notificationById(tx, about)
  const user = news && (await userById(tx, news.userId))
  if (!news || !user) return null
  const text = `${news.message}\n\nAgent: ${news.agentId}\nMarketplace: ${market.config.baseUrl}\n`
  return { to: user.email, subject: 'Your agent is hidden: its connection test failed', text }
}

function tell({ log, world }: Market, { id, kind }: MailRow, result: LetterResult, isOver: boolean, words: Words) {
  const line = { type: 'mail', mailId: id, kind } as const
  if (!result.ok) log({ ...line, outcome: isOver ? 'failed' : 'retry', reason: result.message })
  else if (world.mail) log({ ...line, outcome: 'sent', reason: null })
  else log({ ...line, outcome: 'shown', reason: null, letter: words })
}
