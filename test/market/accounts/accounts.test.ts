// engines: embedded; process: own
/**
 * Accounts, sessions, keys, people and payments over a database in memory. On one engine, because a write is awaited to know that
 * the use of a session or a key was written before it, and on Postgres the two run beside each other.
 */

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import {
  accountVerbs,
  createAuthenticate,
  createTouch,
  createUser,
  hashPassword,
} from '../../../src/market/accounts/accounts.ts'
import { peopleVerbs } from '../../../src/market/accounts/administration.ts'
import { keyVerbs } from '../../../src/market/accounts/keys.ts'
import { type Actor, createMarket, type Market } from '../../../src/market/market.ts'
import { balances } from '../../../src/market/money/ledger.ts'
import { paymentVerbs } from '../../../src/market/wallet/wallet.ts'
import type { Config } from '../../../src/settings/config.ts'
import type { Reader, Tx } from '../../../src/store/db.ts'
import { openSqlite } from '../../../src/store/embedded/database.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { migrations } from '../../../src/store/migrations/index.ts'
import type { Authenticate } from '../../../src/web/credentials.ts'
import { createVirtualWorld } from '../../../src/world/virtual.ts'
import { noFiles } from '../../support/no-files.ts'
import { refused } from '../../support/refused.ts'

const fail = (error: Error) => {
  throw error
}

async function open(payments: Config['payments'] = 'sandbox') {
  const db = await openSqlite({ file: null, onFatal: fail, warn: () => {} })
  const world = createVirtualWorld()
  await migrate(db, migrations, world.now)
  const config = { payments, currency: 'USD' } as Config
  const market = createMarket({ db, files: noFiles, world, config, log: () => {} })
  const authenticate: Authenticate = createAuthenticate(world)
  const reading = <T>(actor: Actor, work: (ctx: Market & { tx: Reader; actor: Actor }) => Promise<T>) =>
    db.read(tx => work({ ...market, tx, actor }))
  const writing = <T>(actor: Actor, work: (ctx: Market & { tx: Tx; actor: Actor }) => Promise<T>) =>
    db.write(tx => work({ ...market, tx, actor }))
  const bySession = (token: string) => db.read(q => authenticate.session(q, token))
  const actorOf = async (token: string) => (await bySession(token))!
  const join = async (email: string, isBuilder = true) => {
    const body = { email, password: 'a long password', name: email, isBuilder }
    return accountVerbs.register({ ...market, actor: null }, { params: {}, query: {}, body })
  }
  return { ...market, world, market, authenticate, reading, writing, bySession, actorOf, join }
}

const bare = { params: {}, query: {}, body: {} }
const page = { ...bare, query: { page: 1, limit: 20 } }

test('an account is made once per email and signs in with its password alone', async () => {
  const { market, join, actorOf } = await open()
  const { data, session } = await join('a@x.test')
  assert.is(data.user.trustTier, 'new_unverified')
  assert.match(data.user.id, /^usr_/)
  assert.is(session!.length, 43)
  await refused(join('a@x.test'), 'email_taken')
  const login = (email: string, password: string) =>
    accountVerbs.login({ ...market, actor: null }, { ...bare, body: { email, password } })
  const known = await refused(login('a@x.test', 'wrong'), 'wrong_login')
  const unknown = await refused(login('b@x.test', 'wrong'), 'wrong_login')
  assert.is(known.message, unknown.message)
  const second = await login('a@x.test', 'a long password')
  assert.is.not(second.session, session)
  assert.is((await actorOf(second.session!)).user.id, data.user.id)
})

test('a session ends at logout, at 7 idle days, at 30 days, and when the password is changed elsewhere', async () => {
  const { market, world, join, actorOf, bySession, writing } = await open()
  const one = (await join('a@x.test')).session!
  const body = { email: 'a@x.test', password: 'a long password' }
  const login = async () => (await accountVerbs.login({ ...market, actor: null }, { ...bare, body })).session!
  const two = await login()
  const actor = await actorOf(two)
  const change = (currentPassword: string) =>
    accountVerbs.changePassword(
      { ...market, actor },
      { ...bare, body: { currentPassword, newPassword: 'another password' } },
    )
  await refused(change('wrong'), 'wrong_password')
  await change('a long password')
  assert.is(await bySession(one), null)
  assert.ok(await bySession(two))
  await writing(actor, ctx => accountVerbs.logout(ctx, bare))
  assert.is(await bySession(two), null)

  body.password = 'another password'
  const idle = await login()
  world.advance(world.now() + durations.session.idleMs)
  assert.is(await bySession(idle), null)

  const busy = await login()
  const touch = createTouch(market)
  for (let day = 0; day < 29; day++) {
    world.advance(world.now() + durations.dayMs)
    touch(await actorOf(busy))
    world.tick(1000)
    await market.db.write(async () => {})
  }
  assert.ok(await bySession(busy))
  world.advance(world.now() + durations.dayMs)
  assert.is(await bySession(busy), null)
})

test('a session that is used every few days lives over a clock that is moved right after its use', async () => {
  const { market, world, bySession, join } = await open()
  const authenticate = createAuthenticate(world, createTouch(market))
  const { session } = await join('a@x.test')
  const ask = () => market.db.read(q => authenticate.session(q, session!))
  for (let use = 0; use < 6; use++) {
    assert.ok(await ask(), `use ${use}`)
    world.advance(world.now() + 4 * durations.dayMs)
  }
  assert.is(await bySession(session!), null, 'not even written, as no second has passed')
  assert.ok(await ask())
  world.tick(1000)
  await market.db.write(async () => {})
  assert.ok(await bySession(session!), 'and written a second later')
  world.advance(world.now() + durations.session.idleMs)
  assert.is(await ask(), null)
})

test('a banned account learns so only with its password', async () => {
  const { market, join, actorOf, writing } = await open()
  const admin = await actorOf((await join('admin@x.test')).session!)
  const { data } = await join('a@x.test')
  const update = (id: string, body: object) =>
    writing(admin, ctx => peopleVerbs.adminUpdateUser(ctx, { ...bare, params: { id }, body }))
  assert.is((await update(data.user.id, { banned: true, chargebacks: 2 })).trustTier, 'banned')
  const login = (password: string) =>
    accountVerbs.login({ ...market, actor: null }, { ...bare, body: { email: 'a@x.test', password } })
  await refused(login('wrong'), 'wrong_login')
  await refused(login('a long password'), 'banned')
  assert.is((await update(data.user.id, { banned: false })).trustTier, 'chargeback_risk')
  await refused(update(admin.user.id, { banned: true }), 'validation_failed')
  await refused(update('usr_none', {}), 'not_found')
})

test('keys: ten, shown once, seen at most once a minute, gone when deleted', async () => {
  const { market, db, world, authenticate, join, actorOf, reading, writing } = await open()
  const actor = await actorOf((await join('a@x.test')).session!)
  const create = (name: string) => writing(actor, ctx => keyVerbs.createKey(ctx, { ...bare, body: { name } }))
  const { key, keyInfo } = await create('first')
  assert.match(key, /^svc_[0-9a-f]{48}$/)
  assert.is(keyInfo.keyPrefix, key.slice(0, 12))
  for (let i = 1; i < 10; i++) await create(`key ${i}`)
  await refused(create('eleventh'), 'too_many_keys')

  const byKey = () => db.read(q => authenticate.key(q, key))
  const used = (await byKey())!
  assert.equal([used.via, used.credential, used.user.id], ['key', keyInfo.id, actor.user.id])
  assert.not('keyId' in used.user)
  const touch = createTouch(market)
  const first = world.now()
  for (const wait of [0, 30_000]) {
    world.advance(first + wait)
    touch(used)
    world.tick(1000)
    await db.write(async () => {})
  }
  const list = await reading(actor, ctx => keyVerbs.listKeys(ctx, page))
  assert.is(list.total, 10)
  assert.is(list.items[0]!.lastUsedAt, new Date(first).toISOString())
  assert.is(list.items[1]!.lastUsedAt, null)

  const other = await actorOf((await join('b@x.test')).session!)
  const remove = (who: Actor, id: string) => writing(who, ctx => keyVerbs.deleteKey(ctx, { ...bare, params: { id } }))
  await refused(remove(other, keyInfo.id), 'not_yours')
  await refused(remove(actor, 'key_none'), 'not_found')
  assert.equal(await remove(actor, keyInfo.id), { id: keyInfo.id })
  assert.is(await byKey(), null)
})

test('the builder role stays while own agents have open work', async () => {
  const { db, join, actorOf, reading, writing } = await open()
  const actor = await actorOf((await join('a@x.test')).session!)
  const { id } = actor.user
  await db.write(async tx => {
    await tx.run(
      `INSERT INTO agents (id, slug, builder_id, name, tagline, description, pricing_model, base_price,
         turnaround_hours, tags, status, created_at, updated_at)
       VALUES ('agt_1', 's', $1, 'n', 't', 'd', 'fixed', 200, 24, '[]', 'active', 0, 0)`,
      [id],
    )
    await tx.run(
      `INSERT INTO tasks (id, agent_id, buyer_id, builder_id, title, description, agreed_price, status, created_at,
         updated_at) VALUES ('task_1', 'agt_1', $1, $1, 't', 'd', 200, 'delivered', 0, 0)`,
      [id],
    )
  })
  const leave = () => writing(actor, ctx => accountVerbs.updateMe(ctx, { ...bare, body: { isBuilder: false } }))
  assert.match(String(await leave().catch(error => error.message)), '1 task is not finished')
  const state = (sql: string) => db.write(tx => tx.run(sql))
  await refused(leave(), 'open_work')
  await refused(
    writing(actor, ctx => peopleVerbs.adminUpdateUser(ctx, { ...bare, params: { id }, body: { isBuilder: false } })),
    'open_work',
  )
  await state(`UPDATE tasks SET status = 'completed'`)
  await state(`INSERT INTO disputes (task_id, status, reason, opened_at, opened_from, opened_by)
    VALUES ('task_1', 'open', 'r', 0, 'completed', 'usr')`)
  await refused(leave(), 'open_work')
  await state(`UPDATE disputes SET status = 'resolved'`)
  assert.is((await leave()).user.isBuilder, false)
  const people = await reading(actor, ctx => peopleVerbs.adminListUsers(ctx, page))
  assert.equal([people.total, people.items[0]!.id], [1, id])
})

const amountOf = (amount: number) => ({ ...bare, body: { amount } })

test('sandbox money arrives and leaves at once, within the limits', async () => {
  const { db, world, join, actorOf, reading, writing } = await open()
  const { session } = await join('a@x.test')
  const actor = await actorOf(session!)
  const deposit = (amount: number) => writing(actor, ctx => paymentVerbs.deposit(ctx, amountOf(amount)))
  assert.is((await deposit(40_000)).status, 'completed')
  assert.match((await refused(deposit(50_001), 'deposit_limit')).message, '500.00 at most')
  await deposit(50_000)
  assert.match((await refused(deposit(10_001), 'deposit_limit')).message, '100.00 is left')
  const left = () => reading(actor, ctx => paymentVerbs.getDepositLimits(ctx, bare))
  assert.is((await left()).dailyRemaining, 10_000)
  world.advance(world.now() + durations.dayMs)
  assert.is((await left()).dailyRemaining, 100_000)

  const withdraw = async (amount: number) => {
    const now = await actorOf(session!)
    return writing(now, ctx => paymentVerbs.withdraw(ctx, amountOf(amount)))
  }
  await refused(withdraw(200), 'not_connected')
  assert.is((await writing(actor, ctx => paymentVerbs.connectPayouts(ctx, bare))).connectStatus, 'connected')
  await refused(withdraw(90_001), 'not_enough_money')
  assert.is((await withdraw(90_000)).status, 'completed')
  assert.is((await db.read(q => balances(q, actor.user.id))).available, 0)
})

test('manual money waits for an administrator, who decides once', async () => {
  const { db, join, actorOf, reading, writing } = await open('manual')
  const { session, data } = await join('a@x.test')
  const actor = await actorOf(session!)
  const available = async () => (await db.read(q => balances(q, data.user.id))).available
  const deposit = await writing(actor, ctx => paymentVerbs.deposit(ctx, amountOf(5_000)))
  const rejected = await writing(actor, ctx => paymentVerbs.deposit(ctx, amountOf(50_000)))
  assert.equal([deposit.status, await available()], ['pending', 0])
  type Deciding = 'confirmDeposit' | 'rejectDeposit' | 'confirmWithdrawal' | 'rejectWithdrawal'
  const decide = (verb: Deciding, id: string) =>
    writing(actor, ctx => paymentVerbs[verb](ctx, { ...bare, params: { id } }))
  const confirmed = await decide('confirmDeposit', deposit.id)
  assert.equal([confirmed.userId, confirmed.status, await available()], [data.user.id, 'completed', 5_000])
  await refused(decide('rejectDeposit', deposit.id), 'payment_decided')
  await refused(decide('confirmWithdrawal', deposit.id), 'not_found')
  await decide('rejectDeposit', rejected.id)
  const limits = await reading(actor, ctx => paymentVerbs.getDepositLimits(ctx, bare))
  assert.is(limits.dailyRemaining, 95_000)

  assert.is((await writing(actor, ctx => paymentVerbs.connectPayouts(ctx, bare))).connectStatus, 'pending')
  await db.write(tx => tx.run(`UPDATE users SET connect_status = 'connected'`))
  const connected = await actorOf(session!)
  const withdraw = () => writing(connected, ctx => paymentVerbs.withdraw(ctx, amountOf(2_000)))
  const paid = await withdraw()
  const back = await withdraw()
  assert.equal([paid.status, await available()], ['pending', 1_000])
  assert.is((await decide('confirmWithdrawal', paid.id)).status, 'completed')
  assert.is((await decide('rejectWithdrawal', back.id)).status, 'rejected')
  await refused(decide('confirmWithdrawal', back.id), 'payment_decided')
  assert.is(await available(), 3_000)
  const list = await reading(actor, ctx =>
    paymentVerbs.adminListWithdrawals(ctx, { ...page, query: { ...page.query, status: 'rejected' } }),
  )
  assert.equal([list.total, list.items[0]!.id], [1, back.id])
  const sums = await db.read(q => q.all('SELECT id, balance FROM accounts WHERE user_id IS NULL ORDER BY id'))
  assert.equal(sums, [
    { id: 'payouts', balance: 0 },
    { id: 'platform', balance: 0 },
    { id: 'world', balance: -3_000 },
  ])
})

test('an administrator is made in one unit', async () => {
  const { db, world } = await open()
  const passwordHash = await hashPassword('a long password')
  assert.match(passwordHash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  const given = { email: 'root@x.test', name: 'Root', passwordHash, isBuilder: false, isAdmin: true }
  const user = await db.write(tx => createUser(tx, world, given))
  assert.equal([user.isAdmin, user.isBuilder], [1, 0])
})

test.run()
