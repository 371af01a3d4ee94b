// engines: embedded, postgres at length; process: shared
/** Mail servers and databases that fail in the middle of a mail: the next mail goes, and none goes twice. Source. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mailLeaseMs, mailsAtOnce, retryScheduleMs } from '../../../src/api/limits.ts'
import { notify } from '../../../src/market/accounts/notifications.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { StoreError } from '../../../src/store/db.ts'
import { insertMail } from '../../../src/store/tables/accounts/mails.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'
import { openRawPostOffice, type SmtpFault } from '../../support/raw-post-office.ts'
import { refusingTx } from '../../support/refusing-tx.ts'

interface State {
  office: Awaited<ReturnType<typeof openRawPostOffice>>
  marketplace: TestMarketplace
  user: TestUser
  logged: LogEntry[]
}

const test = suite<State>('mail faults')
const DEADLINE_MS = 1_500

test.before(async state => {
  state.logged = []
  state.office = await openRawPostOffice()
  const mail = { smtpUrl: state.office.url, from: 'market@example.com', deadlineMs: DEADLINE_MS }
  state.marketplace = await openTestMarketplace({ mail, log: line => state.logged.push(line) })
  state.user = await state.marketplace.join('member')
})
test.before.each(async ({ marketplace, office, logged }) => {
  await marketplace.market.db.write(tx => tx.run('DELETE FROM mails'))
  office.fault = null
  office.taken = 0
  logged.length = 0
})
test.after(async ({ marketplace, office }) => {
  await marketplace.close(0)
  office.close()
})

/** A mail that waits, as the reset of a password does. */
const queue = ({ marketplace, user }: State, id: string, email = user.email) =>
  marketplace.market.db.write(tx =>
    insertMail(tx, { id, kind: 'password_reset', about: email }, marketplace.world.now()),
  )

const rows = ({ marketplace }: State) =>
  marketplace.market.db.read(q =>
    q.all<{ id: string; attempts: number; nextAt: number }>(
      'SELECT id, attempts, next_at AS "nextAt" FROM mails ORDER BY id',
    ),
  )

const outcomes = ({ logged }: State) => logged.flatMap(line => (line.type === 'mail' ? [line.outcome] : []))

const faults: [SmtpFault, 'retry' | 'failed'][] = [
  ['silent', 'retry'],
  ['drips', 'retry'],
  ['closes at greeting', 'retry'],
  ['closes in the middle', 'retry'],
  ['resets', 'retry'],
  ['refuses for now', 'retry'],
  ['refuses the receiver', 'failed'],
  ['refuses the mail', 'failed'],
]

for (const [fault, outcome] of faults) {
  test(`a mail server that ${fault}: the mail counts as ${outcome}, no connection is left, and the next one goes`, async state => {
    const { marketplace, office } = state
    office.fault = fault
    await queue(state, 'mail_1')
    await marketplace.runDue()
    assert.equal(outcomes(state), [outcome])
    const left = await rows(state)
    const expected =
      outcome === 'retry' ? [{ id: 'mail_1', attempts: 1, nextAt: marketplace.world.now() + retryScheduleMs[0] }] : []
    assert.equal(left, expected)
    await until('the end of the connection', () => office.connections() === 0)
    office.fault = null
    await queue(state, 'mail_2')
    await marketplace.pass(retryScheduleMs[0])
    assert.is(office.taken, outcome === 'retry' ? 2 : 1)
    assert.equal(await rows(state), [])
  })
}

test('a mail that can’t be written keeps none behind it, and is given up in the end', async state => {
  const { marketplace, office } = state
  const { db } = marketplace.market
  const write = db.write.bind(db)
  db.write = work => write(tx => work(refusingTx(tx, sql => poisoned && /INTO password_resets/.test(sql))))
  let poisoned = false
  await queue(state, 'mail_1')
  await queue(state, 'mail_2', 'nobody@example.com')
  poisoned = true
  await marketplace.runDue()
  // The second is for nobody, so it goes without being sent; that it has gone means that it had its turn.
  assert.equal(
    (await rows(state)).map(({ id, attempts }) => [id, attempts]),
    [['mail_1', 1]],
  )
  for (const ms of retryScheduleMs) await marketplace.pass(ms)
  assert.equal([await rows(state), office.taken], [[], 0])
  db.write = write
})

test('a mail is in hand for longer than any mail server may take, and nobody else sends it meanwhile', async state => {
  const { marketplace, office } = state
  office.fault = 'silent'
  await queue(state, 'mail_1')
  const sending = marketplace.runDue()
  while ((await rows(state))[0]!.attempts === 0) await new Promise(resolve => setTimeout(resolve, 5))
  const [row] = await rows(state)
  assert.is(row!.nextAt, marketplace.world.now() + mailLeaseMs)
  await sending
  assert.is((await rows(state))[0]!.nextAt, marketplace.world.now() + retryScheduleMs[0])
})

test('a database that is away when a mail has gone is told in the log, and the mail waits until it is no longer in hand', async state => {
  const { marketplace, office } = state
  const { db } = marketplace.market
  const write = db.write.bind(db)
  await queue(state, 'mail_1')
  db.write = work => (office.taken > 0 ? Promise.reject(new StoreError('The database is away.')) : write(work))
  await marketplace.runDue().catch(error => assert.match(error.message, /is away/))
  db.write = write
  assert.is(office.taken, 1)
  await marketplace.pass(mailLeaseMs - 1)
  assert.is(office.taken, 1)
  await marketplace.pass(1)
  assert.equal([office.taken, await rows(state)], [2, []])
})

test('a mail server that is silent about some mails keeps nobody who resets a password waiting', async () => {
  const office = await openRawPostOffice()
  const mail = { smtpUrl: office.url, from: 'market@example.com', deadlineMs: 60_000 }
  const marketplace = await openTestMarketplace({ mail, log: () => {} })
  const user = await marketplace.join('member')
  const agent = await marketplace.list(await marketplace.join('builder'))
  office.fault = 'silent'
  for (let n = 0; n < 10; n++) {
    const news = { type: 'webhook_health_failed', agentId: agent.id, message: 'Down', data: { checks: [] } } as const
    await marketplace.market.db.write(tx => notify({ ...marketplace.market, tx }, agent.builder.id, news as never))
  }
  const running = marketplace.runDue()
  await until(
    () => `so many at once, but ${office.connections()}`,
    () => office.connections() === mailsAtOnce - 1,
  )
  office.fault = null
  const asked = await marketplace.visitor.ask('POST', '/api/auth/password-reset', { email: user.email })
  assert.ok(asked.success)
  await until('the mail of the reset', () => {
    marketplace.world.tick(100)
    return office.taken === 1
  })
  // The connection of the reset may end a moment later.
  await until(
    () => `so many that are left, but ${office.connections()}`,
    () => office.connections() === mailsAtOnce - 1,
  )
  await marketplace.close(0)
  await running.catch(() => {})
  office.close()
})

test.run()
