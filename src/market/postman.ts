/** Sends the letters that wait, and tries again when that fails. */
import { retryScheduleMs } from '../api/limits.ts'
import type { Tx } from '../store/db.ts'
import { claimMail, deleteMail, dueMails, type MailRow } from '../store/mails.ts'
import { notificationById } from '../store/notifications.ts'
import { userById } from '../store/users.ts'
import type { LetterResult } from '../world/world.ts'
import { type Words, wayOf } from './mail.ts'
import type { Market } from './market.ts'
import { resetWords } from './password-reset.ts'

const AT_ONCE = 50

/** Sends every letter that is due, one after the other. */
export async function sendMails(market: Market): Promise<void> {
  if (wayOf(market) === 'none') return
  let due: MailRow[]
  do {
    due = await market.db.read(q => dueMails(q, market.world.now(), AT_ONCE))
    for (const row of due) await sendMail(market, row)
  } while (due.length === AT_ONCE)
}

async function sendMail(market: Market, row: MailRow): Promise<void> {
  const { db, world } = market
  const claimed = await db.write(async tx => {
    // Claimed to the time of the next attempt: should the process end now, that is when the letter goes out again.
    const nextAt = world.now() + (retryScheduleMs[row.attempts] ?? 0)
    if ((await claimMail(tx, row, nextAt)) === 0) return null
    const words = await writeLetter(market, tx, row)
    if (!words) await deleteMail(tx, row.id)
    return words
  })
  if (!claimed) return
  const result: LetterResult = world.mail ? await world.mail.send({ id: row.id, ...claimed }) : { ok: true }
  const isLast = row.attempts >= retryScheduleMs.length
  const isOver = result.ok || result.permanent || isLast
  if (isOver) await db.write(tx => deleteMail(tx, row.id))
  tell(market, row, result, isOver, claimed)
}

/** null if there is nobody to write to. */
async function writeLetter(market: Market, tx: Tx, { kind, about }: MailRow): Promise<Words | null> {
  if (kind === 'password_reset') return resetWords({ ...market, tx }, about)
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
