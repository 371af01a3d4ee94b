// engines: embedded; process: shared
/** Mails by themselves: who is written to, when the next try is, and what a failure keeps waiting. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { retryScheduleMs } from '../../../src/api/limits.ts'
import { queueMail } from '../../../src/market/accounts/mail-queue.ts'
import { sendMails } from '../../../src/market/accounts/mail-sender.ts'
import { notifyOwner } from '../../../src/market/accounts/security-notices.ts'
import { StoreError } from '../../../src/store/db.ts'
import type { MailResult } from '../../../src/world/world.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const LEASE = 180_000

async function open() {
  const bare = await openBareMarket()
  const sent: { id: string; to: string }[] = []
  const state: { answer: () => Promise<MailResult> } = { answer: async () => ({ ok: true }) }
  const send = async (mail: { id: string; to: string }) => {
    sent.push(mail)
    return state.answer()
  }
  const world = { ...bare.world, mail: { send, close: async () => {} } as never }
  const market = { ...bare.market, world }
  const { email } = await bare.join('ann')
  return {
    ...bare,
    market,
    email,
    sent,
    state,
    queue: (to = email) => market.db.write(tx => queueMail({ ...market, tx }, 'password_reset', to)),
    rows: () =>
      market.db.read(q =>
        q.all<{ attempts: number; at: number }>('SELECT attempts, next_at AS at FROM mails ORDER BY id'),
      ),
  }
}

test('a mail that was sent is gone, and so is one that nobody can be written', async () => {
  const { market, email, sent, logged, queue, rows, close } = await open()
  await queue()
  await queue('nobody@example.com')
  await sendMails(market)
  assert.equal([sent.map(({ to }) => to), await rows()], [[email], []])
  assert.is(logged.length, 1)
  const { mailId, ...line } = logged[0] as { mailId: string }
  assert.equal(line, { type: 'mail', kind: 'password_reset', outcome: 'sent', reason: null })
  assert.is(mailId, sent[0]!.id)
  await close()
})

test('a mail that fails is tried again by the schedule and then given up; one that is refused for good at once', async () => {
  const { market, world, sent, logged, state, queue, rows, close } = await open()
  state.answer = async () => ({ ok: false, permanent: false, message: 'Later' }) as never
  await queue()
  for (const [at, waitMs] of retryScheduleMs.entries()) {
    await sendMails(market)
    assert.equal(await rows(), [{ attempts: at + 1, at: world.now() + waitMs }])
    world.tick(waitMs - 1)
    await sendMails(market)
    assert.is(sent.length, at + 1, 'one ms too early')
    world.tick(1)
  }
  await sendMails(market)
  assert.equal([sent.length, await rows()], [retryScheduleMs.length + 1, []])
  const outcomes = logged.map(line => (line as { outcome: string }).outcome)
  assert.equal(outcomes, [...retryScheduleMs.map(() => 'retry'), 'failed'])

  logged.length = sent.length = 0
  state.answer = async () => ({ ok: false, permanent: true, message: 'Never' }) as never
  await queue()
  await sendMails(market)
  assert.equal([sent.length, await rows()], [1, []])
  assert.is((logged[0] as { outcome: string }).outcome, 'failed')
  await close()
})

test('a mail in hand is nobody else’s for three minutes, or for as long as its next wait', async () => {
  const { market, world, state, queue, rows, close } = await open()
  const seen: number[] = []
  state.answer = async () => {
    seen.push((await rows())[0]!.at - world.now())
    return { ok: false, permanent: false, message: 'Later' } as never
  }
  await queue()
  for (let n = 0; n < 3; n++) {
    await sendMails(market)
    world.tick((await rows())[0]!.at - world.now())
  }
  assert.equal(seen, [LEASE, retryScheduleMs[1], retryScheduleMs[2]])
  await close()
})

test('more mails than are looked up at once go in one go', async () => {
  const { market, sent, join, queue, rows, close } = await open()
  const { email } = await join('bob')
  for (let n = 0; n < 51; n++) await queue(n % 2 ? email : 'nobody@example.com')
  await sendMails(market)
  assert.equal([await rows(), sent.length], [[], 3], 'three for one mailbox')
  await close()
})

/** Mails that wait, as of news; and a server that takes none until it is told to. */
async function openSlow(news: number) {
  const marketplace = await open()
  const { market, state, join } = marketplace
  const bob = await join('bob')
  for (let n = 0; n < news; n++) {
    await market.db.write(tx => notifyOwner({ ...market, tx }, bob.id, { kind: 'api_key_created' }))
  }
  const ends: (() => void)[] = []
  state.answer = () => new Promise(resolve => ends.push(() => resolve({ ok: true })))
  const settled = async () => {
    for (let n = 0; n < 50; n++) await marketplace.settled()
  }
  return { ...marketplace, bob, ends, settled }
}

test('resets go first, three other mails go beside them at most, and one that came meanwhile waits for none of these', async () => {
  const { market, world, email, bob, sent, ends, queue, rows, settled, close } = await openSlow(6)
  await queue()
  const sending = sendMails(market)
  await settled()
  assert.equal(
    sent.map(({ to }) => to),
    [email, bob.email, bob.email, bob.email],
  )
  ends[0]!()
  await settled()
  assert.is(sent.length, 4, 'its place is for the next reset')
  await queue()
  world.tick(1_000)
  await settled()
  assert.equal([sent.length, sent.at(-1)!.to], [5, email])
  for (let n = 1; n < 8; n++) {
    ends[n]!()
    await settled()
    assert.ok(sent.length - n - 1 <= 4, `${sent.length} begun, ${n + 1} done`)
  }
  await sending
  assert.equal([sent.length, new Set(sent.map(({ id }) => id)).size, await rows()], [8, 8, []])
  await close()
})

test('a process that ends while mails are on their way loses none, and none goes more than twice', async () => {
  const { market, world, sent, state, rows, settled, close } = await openSlow(9)
  void sendMails(market)
  await settled()
  const atItsEnd = sent.map(({ id }) => id)
  assert.is(atItsEnd.length, 3)
  // Another process; nothing is heard of the first one any more.
  const next = { ...market, world: { ...world, mail: market.world.mail } }
  state.answer = async () => ({ ok: true })
  await sendMails(next)
  assert.is(sent.length, 9, 'what is in hand is left alone')
  world.tick(LEASE)
  await sendMails(next)
  assert.is(await rows().then(left => left.length), 0)
  const countOf = (id: string) => sent.filter(mail => mail.id === id).length
  assert.is(new Set(sent.map(({ id }) => id)).size, 9)
  for (const { id } of sent) assert.is(countOf(id), atItsEnd.includes(id) ? 2 : 1)
  await close()
})

test('a mail that can not be made counts as an attempt and keeps none behind it; a database that is away is thrown', async () => {
  const { market, logged, sent, state, queue, rows, close } = await open()
  state.answer = async () => {
    throw new Error('This one breaks')
  }
  await queue()
  await sendMails(market)
  assert.is(sent.length, 1)
  assert.match((logged[0] as { message: string }).message, /^Mail mail_\w+ could not be sent: This one breaks$/)
  assert.is((await rows())[0]!.attempts, 1)
  logged.length = 0
  market.db.write = async () => {
    throw new StoreError('away')
  }
  market.world.now = () => Number.MAX_SAFE_INTEGER - 1e12
  const error = await sendMails(market).catch(reason => reason)
  assert.instance(error, StoreError)
  assert.equal(logged, [])
  Reflect.deleteProperty(market.db, 'write')
  await close()
})

test.run()
