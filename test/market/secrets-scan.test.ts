// engines: embedded, postgres at length; process: own; lengths: long
/** After a full run no secret can be read anywhere: not on the disk, not in the log, not in a later answer. Source. */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { inFolder } from '../store/folder.ts'
import { engine } from '../support/databases.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace, type TestUser } from '../support/marketplace.ts'
import { openPostOffice } from '../support/post-office.ts'

const answers: string[] = []
const log: string[] = []
/** By what each is. */
const secrets = new Map<string, string[]>()

const note = (kind: string, secret: string) => void secrets.set(kind, [...(secrets.get(kind) ?? []), secret])

const plainFetch = globalThis.fetch

/** Keeps what every answer said, and the secrets that it issued. */
async function listening(...[url, init]: Parameters<typeof fetch>): Promise<Response> {
  const reply = await plainFetch(url, init)
  const text = await reply.clone().text()
  const cookies = reply.headers.getSetCookie()
  answers.push([text, ...cookies].join('\n'))
  // The examples of the reference are nobody's.
  if (!String(url).includes('/api/')) return reply
  for (const [key] of text.matchAll(/svc_[\w-]{30,}/g)) note('API key', key)
  for (const [secret] of text.matchAll(/whsec_[\w+/=-]{20,}/g)) note('webhook secret', secret)
  for (const cookie of cookies) {
    const [, session] = /^[^=]+=([\w-]{20,})/.exec(cookie) ?? []
    if (session) note('session id', session)
  }
  return reply
}

test.before(() => {
  globalThis.fetch = listening
})
test.after(() => {
  globalThis.fetch = plainFetch
})

const GRACE = { graceHours: 1 }
const rotated = async (marketplace: TestMarketplace, agent: ListedAgent, fields: object, headers = {}) => {
  const path = `/api/my/agents/${agent.id}/webhook-secret`
  const { data } = await agent.builder.ask<{ secret: string }>('POST', path, fields, 'session', headers)
  agent.secret = data!.secret
  agent.sink.secret = agent.secret
  await marketplace.freshen(agent)
}

/** Deposit to review, with a file, a webhook that fails first, and callbacks signed by old and new secrets. */
async function trade(marketplace: TestMarketplace, buyer: TestUser, agent: ListedAgent) {
  const submitted = async () => {
    const task = await marketplace.draft(buyer, agent)
    await buyer.client.submitTask({ id: task.id })
    return task.id
  }
  agent.sink.status = 503
  const id = await submitted()
  await marketplace.webhooksSent()
  agent.sink.status = 200
  const before = { secret: agent.secret }
  await rotated(marketplace, agent, GRACE)
  assert.is((await marketplace.callback(before, id, { action: 'accept' })).status, 200)
  assert.is((await marketplace.callback({ secret: 'whsec_wrong' }, id, { action: 'accept' })).status, 401)
  await buyer.client.sendMessage({ id, content: 'How is it going?' })
  const files = [{ name: 'table.csv', content: new TextEncoder().encode('a,b\n1,2\n') }]
  await agent.builder.client.agentDeliver({ id, content: 'Done', files })
  await buyer.client.approveTask({ id })
  await buyer.client.submitReview({ id, rating: 5 })
  await rotated(marketplace, agent, {}, { 'Idempotency-Key': 'rotate once' })
  await buyer.client.cancelTask({ id: await submitted() })
  await submitted()
  const caps = { maxPerTask: 1_000, maxDaily: 2_000, maxMonthly: 3_000 }
  const budget = await agent.builder.client.createBudget({ agentId: agent.id, ...caps })
  await marketplace.pass(6_000)
  await marketplace.webhooksSent()
  return [id, budget.id]
}

/** Sign-in, sign-out, wrong and changed and forgotten passwords, keys that come and go. */
async function accounts(marketplace: TestMarketplace, user: TestUser, received: { text: string }[]) {
  const { email } = user
  const login = (password: string) => marketplace.visitor.ask('POST', '/api/auth/login', { email, password })
  const wrong = 'a password that was never right'
  for (const password of [user.password, wrong]) note('password', password)
  assert.is((await login(wrong)).status, 401)
  await marketplace.visitor.ask('POST', '/api/auth/login', `{"email":"${email}","password":"${wrong}"`)
  await marketplace.visitor.ask('POST', '/api/auth/login', `{"password":"${wrong}" oops`)
  await marketplace.visitor.ask('POST', '/api/auth/register', { email: wrong, password: [wrong], name: 7 })
  await user.client.login({ email, password: user.password })
  const changed = 'the second of three passwords'
  note('password', changed)
  await user.ask('POST', '/api/auth/password', { currentPassword: wrong, newPassword: changed })
  await user.client.changePassword({ currentPassword: user.password, newPassword: changed })
  for (let i = 0; i < 2; i++) await marketplace.visitor.client.requestPasswordReset({ email })
  await marketplace.runDue()
  // Other letters go out at the same time.
  const tokens = received.flatMap(({ text }) => /^([\w-]{43})$/m.exec(text)?.[1] ?? []).slice(-2)
  assert.is(tokens.length, 2)
  for (const token of tokens) note('reset token', token)
  const last = 'the third of three passwords'
  note('password', last)
  await marketplace.visitor.ask('POST', '/api/auth/password-reset/confirm', { token: tokens[0], password: 'short' })
  await marketplace.visitor.client.confirmPasswordReset({ token: tokens[0]!, password: last })
  await marketplace.visitor.ask('POST', '/api/auth/password-reset/confirm', { token: tokens[1], password: last })
  await user.client.login({ email, password: last })
  user.key = undefined // it ended with the password
  await secondFactor(marketplace, user, last)
  const path = '/api/my/api-keys'
  const once = { 'Idempotency-Key': 'key once' }
  const made = await user.ask<{ id: string; key: string }>('POST', path, { name: 'kept' }, 'session', once)
  await user.ask('POST', path, { name: 'kept' }, 'session', once)
  const gone = await user.client.createKey({ name: 'gone' })
  await user.client.deleteKey({ id: gone.keyInfo.id })
  assert.is(
    (await plainFetch(`${marketplace.url}/api/auth/me`, { headers: { authorization: `Bearer ${gone.key}` } })).status,
    401,
  )
  user.key = made.data!.key
}

/** Turned on, used with both kinds of codes, and turned off. The letters about it go out as well. */
async function secondFactor(marketplace: TestMarketplace, user: TestUser, password: string) {
  const { secret } = await user.client.beginTotp({ password })
  note('second factor secret', secret)
  const { recoveryCodes } = await user.client.confirmTotp({ code: totpCode(secret, marketplace.world.realNow()) })
  for (const code of recoveryCodes) note('recovery code key', code)
  const { email } = user
  marketplace.world.tick(30_000)
  await user.client.login({ email, password, totp: totpCode(secret, marketplace.world.realNow()) })
  await user.client.login({ email, password, recoveryCode: recoveryCodes[0]! })
  await user.ask('POST', '/api/auth/login', { email, password, recoveryCode: recoveryCodes[0] })
  await marketplace.runDue()
  await user.client.removeTotp({ password, recoveryCode: recoveryCodes[1]! })
}

/** Every GET of the interface, by everyone, about everything. */
async function readAll(marketplace: TestMarketplace, users: readonly TestUser[], ids: readonly string[]) {
  for (const { method, path, stream } of Object.values<Endpoint>(endpoints)) {
    // A stream goes on for minutes, and says of what there is something new, not what.
    if (method !== 'GET' || stream) continue
    const paths = path.includes('/:') ? ids.map(id => path.replace(/:\w+/g, id)) : [path]
    for (const each of paths) {
      for (const user of users) {
        for (const by of ['session', 'key'] as const) await user.ask('GET', each, undefined, by).catch(() => {})
      }
    }
  }
  for (const page of ['/openapi.json', '/docs', '/metrics', '/healthz']) await fetch(marketplace.url + page)
}

/** How a secret may be written down. */
function forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const bare = secret.replace(/^(?:svc|whsec)_/, '')
  const decoded = Buffer.from(bare, 'base64').toString('hex')
  return [
    secret,
    bare,
    JSON.stringify(bare).slice(1, -1),
    encodeURIComponent(bare),
    bytes.toString('hex'),
    decoded,
  ].concat(bytes.toString('base64').replace(/=+$/, '').slice(0, -1))
}

function findings(where: string, content: string): string[] {
  const found: string[] = []
  for (const [kind, all] of secrets) {
    for (const secret of all) if (forms(secret).some(form => content.includes(form))) found.push(`${kind} in ${where}`)
  }
  return found
}

function onDisk(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  assert.ok(names.length >= 2, 'the database or its journal, and a file')
  return names.flatMap(({ name, parentPath }) =>
    findings(`${name} on disk`, readFileSync(join(parentPath, name), 'latin1')),
  )
}

/** Every row of every table, as a dump of the server would hold it. */
async function inTables({ market }: TestMarketplace): Promise<string[]> {
  const sql = `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name`
  const rows = await market.db.read(async q => {
    const tables = await q.all<{ name: string }>(sql)
    return Promise.all(tables.map(async ({ name }) => ({ name, rows: await q.all<object>(`SELECT * FROM ${name}`) })))
  })
  const filled = rows.filter(each => each.rows.length > 0)
  assert.ok(filled.length > 15, `${filled.length} tables have rows`)
  return filled.flatMap(({ name, rows }) =>
    rows.flatMap(row => findings(`the table ${name}`, Object.values(row).map(String).join(' '))),
  )
}

const isShared = engine === 'postgres'

test(
  'serve: keys, webhook secrets, passwords, sessions and reset tokens are nowhere but in the answer that issued them',
  inFolder(async file => {
    const office = await openPostOffice()
    const secretKey = randomBytes(32).toString('base64')
    note('secret key', secretKey)
    note('password', 'the admin of a test')
    const marketplace = await openTestMarketplace({
      ...(isShared ? {} : { file }),
      ...{ mode: 'serve', secretKey, rateLimits: 'off', payments: 'sandbox' },
      mail: { smtpUrl: office.url, from: 'market@example.com' },
      log: entry => log.push(JSON.stringify(entry)),
    })
    let alive: string[] = []
    try {
      const [buyer, builder] = [await marketplace.join('buyer', 20_000), await marketplace.join('builder')]
      const agent = await marketplace.list(builder)
      const ids = await trade(marketplace, buyer, agent)
      for (const user of [buyer, builder]) await accounts(marketplace, user, office.received)
      await readAll(marketplace, [buyer, builder, marketplace.admin], [buyer.id, agent.id, ...ids])
      await builder.client.logout()
      await marketplace.pass(3_600_000)
      await marketplace.runDue()

      const counts = Object.fromEntries([...secrets].map(([kind, all]) => [kind, new Set(all).size]))
      for (const [kind, least] of Object.entries({
        'API key': 7,
        'webhook secret': 3,
        'session id': 7,
        'reset token': 4,
        'second factor secret': 2,
        'recovery code key': 20,
      })) {
        assert.ok(counts[kind]! >= least, `${counts[kind]} of ${kind}`)
      }
      alive = isShared ? await inTables(marketplace) : onDisk(dirname(file))
    } finally {
      await marketplace.close()
      await office.close()
    }
    const found = [...alive, ...(isShared ? [] : onDisk(dirname(file))), ...log.flatMap(line => findings(line, line))]
    for (const [kind, all] of secrets) {
      const most = /key|secret|session/.test(kind) && kind !== 'secret key' ? 1 : 0
      for (const secret of new Set(all)) {
        const times = answers.filter(answer => answer.includes(secret)).length
        if (times !== most) found.push(`${kind} in ${times} answers`)
      }
    }
    assert.equal(found, [])
    assert.ok(log.length > 100 && answers.length > 300, `${log.length} lines, ${answers.length} answers`)
  }),
)

test.run()
