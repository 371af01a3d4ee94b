/** A forgotten password, by real mail over real SMTP. Source: D9. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import type { Happening } from '../../src/market/log.ts'
import { HttpParty } from '../../src/sim/http-party.ts'
import { engine } from '../support/databases.ts'
import { type House, openHouse } from '../support/marketplace.ts'
import { openPostOffice } from '../support/post-office.ts'

const FROM = 'Marketplace <market@example.com>'
const NEW = 'a new long password'

function tokenIn(text: string): string {
  const token = /^([\w-]{43})$/m.exec(text)?.[1]
  assert.ok(token, text)
  return token as string
}

const ask = (house: House, email: string) => house.visitor.ask('POST', '/api/auth/password-reset', { email })
const confirm = (house: House, token: string, password = NEW) =>
  house.visitor.ask('POST', '/api/auth/password-reset/confirm', { token, password })
const login = async (house: House, email: string, password: string) =>
  (await new HttpParty(house.url).ask('POST', '/api/auth/login', { email, password })).status

test('the token of the mail sets a new password once and ends every session', async () => {
  const office = await openPostOffice()
  const log: Happening[] = []
  const house = await openHouse({ mail: { smtpUrl: office.url, from: FROM }, log: line => log.push(line) })
  const ann = await house.join('ann')
  assert.is((await ask(house, ' ANN@Example.com')).status, 200)
  await house.runDue()
  assert.is(office.received.length, 1)
  const [letter] = office.received
  assert.equal(letter!.to, ['ann@example.com'])
  assert.is(letter!.from, 'market@example.com')
  assert.match(letter!.raw, /^Message-ID: <mail_[0-9a-f]+@example\.com>/m)
  assert.ok(letter!.text.includes(`${house.url}/api/auth/password-reset/confirm`))
  const token = tokenIn(letter!.text)
  assert.is((await confirm(house, `${token.slice(0, -1)}-`)).status, 400)
  assert.is((await confirm(house, token, 'short')).status, 400)
  assert.is((await ann.ask('GET', '/api/auth/me')).status, 200)
  const answers = await Promise.all([1, 2, 3].map(() => confirm(house, token)))
  assert.equal(answers.map(({ status }) => status).sort(), [200, 400, 400])
  assert.is((await ann.ask('GET', '/api/auth/me')).status, 401)
  assert.is((await ann.ask('GET', '/api/auth/me', undefined, 'key')).status, 200)
  assert.is(await login(house, ann.email, ann.password), 401)
  assert.is(await login(house, ann.email, NEW), 200)
  const told = JSON.stringify(log)
  for (const secret of [token, 'ann@example.com']) assert.not(told.includes(secret))
  assert.ok(log.some(line => line.type === 'mail' && line.outcome === 'sent'))
  await house.close()
  await office.close()
})

test('a token is good for an hour, and a used one takes its siblings along', async () => {
  const office = await openPostOffice()
  const house = await openHouse({ mail: { smtpUrl: office.url, from: FROM } })
  const ann = await house.join('ann')
  const next = async () => {
    await ask(house, ann.email)
    await house.runDue()
    return tokenIn(office.received.at(-1)!.text)
  }
  const late = await next()
  await house.pass(durations.passwordResetMs)
  assert.is((await confirm(house, late)).status, 400)
  const [first, second] = [await next(), await next()]
  await house.pass(durations.passwordResetMs - 1)
  assert.is((await confirm(house, second)).status, 200)
  assert.is((await confirm(house, first)).status, 400)
  await house.close()
  await office.close()
})

test('a known and an unknown email get the same answer and leave the same trace', async () => {
  const office = await openPostOffice()
  const house = await openHouse({ mail: { smtpUrl: office.url, from: FROM } })
  const ann = await house.join('ann')
  const traces = []
  // Where the engine can't tell, both are equally silent.
  const changes = () => house.market.db.read(async q => q.changes?.version('mails') ?? 0)
  for (const email of [ann.email, 'nobody@example.com']) {
    const before = await changes()
    const { status, data } = await ask(house, email)
    traces.push({ status, data, writes: (await changes()) - before })
    await house.runDue()
  }
  assert.equal(traces[0], { status: 200, data: {}, writes: engine === 'postgres' ? 0 : 1 })
  assert.equal(traces[1], traces[0])
  assert.is(office.received.length, 1)
  assert.equal(await house.market.db.read(q => q.all('SELECT * FROM mails ORDER BY id')), [])
  await house.close()
  await office.close()
})

test('a letter that is refused is tried again by the schedule, with a token that works', async () => {
  const office = await openPostOffice()
  const log: Happening[] = []
  const house = await openHouse({ mail: { smtpUrl: office.url, from: FROM }, log: line => log.push(line) })
  const ann = await house.join('ann')
  const outcomes = () => log.flatMap(line => (line.type === 'mail' ? [line.outcome] : []))
  office.refusal = 450
  await ask(house, ann.email)
  await house.runDue()
  assert.equal(outcomes(), ['retry'])
  await house.pass(4_999)
  assert.equal(outcomes(), ['retry'])
  await house.pass(1)
  assert.equal(outcomes(), ['retry', 'retry'])
  office.refusal = null
  await house.pass(5 * 60_000)
  assert.equal(outcomes(), ['retry', 'retry', 'sent'])
  assert.is((await confirm(house, tokenIn(office.received[0]!.text))).status, 200)
  office.refusal = 550
  await ask(house, ann.email)
  await house.runDue()
  assert.equal(outcomes().slice(3), ['failed'])
  assert.equal(await house.market.db.read(q => q.all('SELECT * FROM mails ORDER BY id')), [])
  await house.close()
  await office.close()
})

test('a letter that a dead process left is sent by the next, and no token is ever on the disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-mail-'))
  const file = join(folder, 'a.db')
  const nowhere = { smtpUrl: 'smtp://127.0.0.1:1', from: FROM }
  const first = await openHouse({ file, mail: nowhere })
  const ann = await first.join('ann')
  await ask(first, ann.email)
  await first.close()
  const office = await openPostOffice()
  const second = await openHouse({ file, mail: { smtpUrl: office.url, from: FROM } })
  await second.pass(60_000)
  const token = tokenIn(office.received[0]!.text)
  assert.is((await confirm(second, token)).status, 200)
  await second.close()
  const names = readdirSync(folder).filter(name => !name.endsWith('.files'))
  assert.ok(names.length > 1)
  for (const name of names) assert.not(readFileSync(join(folder, name)).includes(token), name)
  rmSync(folder, { recursive: true })
  await office.close()
})

test('the simulator shows the letter in its log; a deployment without mail queues none', async () => {
  const log: Happening[] = []
  const dev = await openHouse({ log: line => log.push(line) })
  const ann = await dev.join('ann')
  await ask(dev, ann.email)
  await dev.runDue()
  const shown = log.flatMap(line => (line.type === 'mail' && line.letter ? [line.letter] : []))
  assert.is(shown.length, 1)
  assert.is((await confirm(dev, tokenIn(shown[0]!.text))).status, 200)
  await dev.close()
  const serve = await openHouse({ mode: 'serve', rateLimits: 'off', payments: 'sandbox' })
  assert.is((await ask(serve, 'admin@example.com')).status, 200)
  assert.equal(await serve.market.db.read(q => q.all('SELECT * FROM mails ORDER BY id')), [])
  await serve.close()
})

test.run()
