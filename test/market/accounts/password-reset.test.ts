// engines: embedded, postgres at length; process: shared
/** A forgotten password, by real mail over real SMTP. Source: A-9. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import { engine } from '../../support/databases.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../../support/marketplace.ts'
import { openPostOffice } from '../../support/post-office.ts'

const FROM = 'Marketplace <market@example.com>'
const NEW = 'a new long password'

function tokenIn(text: string): string {
  const token = /^([\w-]{43})$/m.exec(text)?.[1]
  assert.ok(token, text)
  return token as string
}

const SUBJECT = 'Your new password'

/** The letters with a token: joining sends one about the key that it makes. */
const lettersIn = ({ received }: PostOffice) => received.filter(({ subject }) => subject === SUBJECT)

type PostOffice = Awaited<ReturnType<typeof openPostOffice>>

const ask = (marketplace: TestMarketplace, email: string) =>
  marketplace.visitor.ask('POST', '/api/auth/password-reset', { email })
const confirm = (marketplace: TestMarketplace, token: string, password = NEW) =>
  marketplace.visitor.ask('POST', '/api/auth/password-reset/confirm', { token, password })
const login = async (marketplace: TestMarketplace, email: string, password: string) =>
  (await new HttpUser(marketplace.url).ask('POST', '/api/auth/login', { email, password })).status

test('the token of the mail sets a new password once and ends every session', async () => {
  const office = await openPostOffice()
  const log: LogEntry[] = []
  const marketplace = await openTestMarketplace({
    mail: { smtpUrl: office.url, from: FROM },
    log: line => log.push(line),
  })
  const ann = await marketplace.join('ann')
  assert.is((await ask(marketplace, ' ANN@Example.com')).status, 200)
  await marketplace.runDue()
  assert.is(lettersIn(office).length, 1)
  const [letter] = lettersIn(office)
  assert.equal(letter!.to, ['ann@example.com'])
  assert.is(letter!.from, 'market@example.com')
  assert.match(letter!.raw, /^Message-ID: <mail_[0-9a-f]+@example\.com>/m)
  assert.ok(letter!.text.includes(`${marketplace.url}/console/sign-in?reset=${tokenIn(letter!.text)}`))
  const token = tokenIn(letter!.text)
  assert.is((await confirm(marketplace, `${token.slice(0, -1)}-`)).status, 400)
  assert.is((await confirm(marketplace, token, 'short')).status, 400)
  assert.is((await ann.ask('GET', '/api/auth/me')).status, 200)
  const answers = await Promise.all([1, 2, 3].map(() => confirm(marketplace, token)))
  assert.equal(answers.map(({ status }) => status).sort(), [200, 400, 400])
  assert.is((await ann.ask('GET', '/api/auth/me')).status, 401)
  assert.is(await login(marketplace, ann.email, ann.password), 401)
  assert.is(await login(marketplace, ann.email, NEW), 200)
  const told = JSON.stringify(log)
  for (const secret of [token, 'ann@example.com']) assert.not(told.includes(secret))
  assert.ok(log.some(line => line.type === 'mail' && line.outcome === 'sent'))
  await marketplace.close()
  await office.close()
})

test('a token is good for an hour, and a used one takes its siblings along', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({ mail: { smtpUrl: office.url, from: FROM } })
  const ann = await marketplace.join('ann')
  const next = async () => {
    await ask(marketplace, ann.email)
    await marketplace.runDue()
    return tokenIn(lettersIn(office).at(-1)!.text)
  }
  const late = await next()
  await marketplace.pass(durations.passwordResetMs)
  assert.is((await confirm(marketplace, late)).status, 400)
  const [first, second] = [await next(), await next()]
  await marketplace.pass(durations.passwordResetMs - 1)
  assert.is((await confirm(marketplace, second)).status, 200)
  assert.is((await confirm(marketplace, first)).status, 400)
  await marketplace.close()
  await office.close()
})

test('a known and an unknown email get the same answer and leave the same trace', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({ mail: { smtpUrl: office.url, from: FROM } })
  const ann = await marketplace.join('ann')
  await marketplace.runDue()
  const traces = []
  // Where the engine can't tell, both are equally silent.
  const changes = () => marketplace.market.db.read(async q => q.changes?.version('mails') ?? 0)
  for (const email of [ann.email, 'nobody@example.com']) {
    const before = await changes()
    const { status, data } = await ask(marketplace, email)
    traces.push({ status, data, writes: (await changes()) - before })
    await marketplace.runDue()
  }
  assert.equal(traces[0], { status: 200, data: {}, writes: engine === 'postgres' ? 0 : 1 })
  assert.equal(traces[1], traces[0])
  assert.is(lettersIn(office).length, 1)
  assert.equal(await marketplace.market.db.read(q => q.all('SELECT * FROM mails ORDER BY id')), [])
  await marketplace.close()
  await office.close()
})

test('a letter that is refused is tried again by the schedule, with a token that works', async () => {
  const office = await openPostOffice()
  const log: LogEntry[] = []
  const marketplace = await openTestMarketplace({
    mail: { smtpUrl: office.url, from: FROM },
    log: line => log.push(line),
  })
  const ann = await marketplace.join('ann')
  await marketplace.runDue()
  log.length = 0
  const outcomes = () =>
    log.flatMap(line => (line.type === 'mail' && line.kind === 'password_reset' ? [line.outcome] : []))
  office.refusal = 450
  await ask(marketplace, ann.email)
  await marketplace.runDue()
  assert.equal(outcomes(), ['retry'])
  await marketplace.pass(4_999)
  assert.equal(outcomes(), ['retry'])
  await marketplace.pass(1)
  assert.equal(outcomes(), ['retry', 'retry'])
  office.refusal = null
  await marketplace.pass(5 * 60_000)
  assert.equal(outcomes(), ['retry', 'retry', 'sent'])
  assert.is((await confirm(marketplace, tokenIn(lettersIn(office)[0]!.text))).status, 200)
  office.refusal = 550
  await ask(marketplace, ann.email)
  await marketplace.runDue()
  assert.equal(outcomes().slice(3), ['failed'])
  assert.equal(await marketplace.market.db.read(q => q.all('SELECT * FROM mails ORDER BY id')), [])
  await marketplace.close()
  await office.close()
})

test('a letter that a dead process left is sent by the next, and no token is ever on the disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-mail-'))
  const file = join(folder, 'a.db')
  const nowhere = { smtpUrl: 'smtp://127.0.0.1:1', from: FROM }
  const first = await openTestMarketplace({ file, mail: nowhere })
  const ann = await first.join('ann')
  await ask(first, ann.email)
  await first.close()
  const office = await openPostOffice()
  const second = await openTestMarketplace({ file, mail: { smtpUrl: office.url, from: FROM } })
  await second.pass(60_000)
  const token = tokenIn(lettersIn(office)[0]!.text)
  assert.is((await confirm(second, token)).status, 200)
  await second.close()
  const names = readdirSync(folder).filter(name => !name.endsWith('.files'))
  assert.ok(names.length > 1)
  for (const name of names) assert.not(readFileSync(join(folder, name)).includes(token), name)
  rmSync(folder, { recursive: true })
  await office.close()
})

test('the simulator shows the letter in its log; a deployment without mail queues none', async () => {
  const log: LogEntry[] = []
  const dev = await openTestMarketplace({ log: line => log.push(line) })
  const ann = await dev.join('ann')
  await ask(dev, ann.email)
  await dev.runDue()
  const shown = log.flatMap(line => (line.type === 'mail' && line.mail ? [line.mail] : []))
  assert.is(shown.length, 1)
  assert.is((await confirm(dev, tokenIn(shown[0]!.text))).status, 200)
  await dev.close()
  const serve = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', payments: 'sandbox' })
  assert.is((await ask(serve, 'admin@example.com')).status, 200)
  assert.equal(await serve.market.db.read(q => q.all('SELECT * FROM mails ORDER BY id')), [])
  await serve.close()
})

test('a reset ends every API key, unless it is asked to keep them', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({ mail: { smtpUrl: office.url, from: FROM } })
  const byKey = async (user: TestUser) => (await user.ask('GET', '/api/auth/me', undefined, 'key')).status
  for (const keepKeys of [undefined, false, true]) {
    const user = await marketplace.join(`member-${keepKeys}`)
    assert.is(await byKey(user), 200)
    await ask(marketplace, user.email)
    await marketplace.runDue()
    const body = { token: tokenIn(lettersIn(office).at(-1)!.text), password: NEW, keepKeys }
    assert.is((await marketplace.visitor.ask('POST', '/api/auth/password-reset/confirm', body)).status, 200)
    assert.is(await byKey(user), keepKeys ? 200 : 401, String(keepKeys))
    await marketplace.runDue()
    const said = office.received.find(({ to, subject }) => to[0] === user.email && /set anew/.test(subject))!
    assert.match(said.text, keepKeys ? 'go on working' : 'were deleted: 1')
  }
  await marketplace.close()
  await office.close()
})

test('a change of password voids the tokens that are out and the letters that wait, and ends keys where it is asked to', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({ mail: { smtpUrl: office.url, from: FROM } })
  const ann = await marketplace.join('ann')
  const change = async (currentPassword: string, newPassword: string, more: object = {}) =>
    (await ann.ask('POST', '/api/auth/password', { currentPassword, newPassword, ...more })).status
  const byKey = async () => (await ann.ask('GET', '/api/auth/me', undefined, 'key')).status
  await ask(marketplace, ann.email)
  await marketplace.runDue()
  const token = tokenIn(lettersIn(office)[0]!.text)
  await ask(marketplace, ann.email)
  assert.is(await change(ann.password, 'a second password'), 200)
  assert.is((await confirm(marketplace, token)).status, 400)
  await marketplace.runDue()
  assert.is(lettersIn(office).length, 1, 'the letter that waited is not sent')
  assert.is(await byKey(), 200)
  assert.is(await change('a second password', 'a third password', { endKeys: true }), 200)
  assert.is(await byKey(), 401)
  await marketplace.close()
  await office.close()
})

test('one mailbox gets three letters an hour, from however many addresses they are asked for, however often they are tried', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({
    mail: { smtpUrl: office.url, from: FROM },
    rateLimits: 'strict',
    trustProxy: 1,
  })
  const ann = await marketplace.join('ann')
  const from = async (n: number) => {
    const headers = { 'x-forwarded-for': `203.0.113.${n}` }
    const body = { email: ann.email }
    return (await marketplace.visitor.ask('POST', '/api/auth/password-reset', body, 'nobody', headers)).status
  }
  await marketplace.runDue()
  office.refusal = 450
  assert.is(await from(0), 200)
  await marketplace.runDue()
  await marketplace.pass(5_000)
  office.refusal = null
  await marketplace.pass(5 * 60_000)
  assert.is(lettersIn(office).length, 1, 'the third try is one letter')
  for (let n = 1; n < 60; n++) assert.is(await from(n), 200)
  await marketplace.runDue()
  assert.is(lettersIn(office).length, 3)
  assert.is((await confirm(marketplace, tokenIn(lettersIn(office)[2]!.text))).status, 200)
  await marketplace.pass(durations.passwordResetMs)
  await from(60)
  await marketplace.runDue()
  assert.is(lettersIn(office).length, 4)
  await marketplace.close()
  await office.close()
})

test('what is no email is answered like one that nobody has', async () => {
  const marketplace = await openTestMarketplace()
  for (const email of ['nobody', 'a@b', '', ' ', '@', 'x'.repeat(10_000), 'a@b.example\u0000', '\ud800']) {
    const { status, data } = await ask(marketplace, email)
    assert.equal([status, data], [200, {}], JSON.stringify(email.slice(0, 20)))
  }
  assert.equal(await marketplace.market.db.read(q => q.all('SELECT id FROM mails ORDER BY id')), [])
  assert.is((await marketplace.visitor.ask('POST', '/api/auth/password-reset', {})).status, 400)
  await marketplace.close()
})

test.run()
