// engines: embedded, postgres; process: shared
/** Idempotency-Key over real HTTP: one effect, and the first answer for every repeat. Source: A-39. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultKeeping, durations } from '../../src/api/limits.ts'
import type { TaskRecord, TestReport } from '../../src/api/records.ts'
import type { Answer, By, HttpUser } from '../../src/sim/http-user.ts'
import type { Tx } from '../../src/store/db.ts'
import { claimRequest } from '../../src/store/tables/requests/idempotency-keys.ts'
import { answered } from '../../src/world/virtual.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'

const post = <Data>(user: HttpUser, path: string, body: object | undefined, key: string, by: By = 'session') =>
  user.ask<Data>('POST', path, body, by, { 'idempotency-key': key })

/** What a client sees of an answer; the headers tell a repeat apart. */
const seen = <Data>({ headers: _, ...rest }: Answer<Data>) => rest
const isRepeat = <Data>({ headers }: Answer<Data>) => headers.get('idempotent-replayed') === 'true'

test('of 20 submits at once under one key, one holds the money and all get its answer', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const task = await marketplace.draft(buyer, agent)
  const submit = (by: By) => post<TaskRecord>(buyer, `/api/tasks/${task.id}/submit`, undefined, 'one submit', by)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => submit(i % 2 ? 'key' : 'session')))
  for (const answer of answers) assert.equal(seen(answer), seen(answers[0]!))
  assert.is(answers[0]!.status, 200)
  assert.is(answers[0]!.data!.status, 'pending')
  assert.is(answers.filter(isRepeat).length, 19)
  assert.equal(await marketplace.balances(buyer.id), { available: 4_000, held: 1_000, clearing: 0 })
  await marketplace.webhooksSent()
  assert.is(agent.sink.received.length, 1)
  assert.is((await buyer.ask('POST', `/api/tasks/${task.id}/submit`)).status, 400)
  await marketplace.close()
})

test('of 20 deposits at once under one key, one pays in; another key pays in again', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer')
  const deposit = (key: string) => post(buyer, '/api/wallet/deposit', { amount: 300 }, key)
  const answers = await Promise.all(Array.from({ length: 20 }, () => deposit('a')))
  for (const answer of answers) assert.equal(seen(answer), seen(answers[0]!))
  assert.is(answers[0]!.status, 201)
  assert.equal(await marketplace.balances(buyer.id), { available: 300, held: 0, clearing: 0 })
  await deposit('b')
  assert.equal(await marketplace.balances(buyer.id), { available: 600, held: 0, clearing: 0 })
  await marketplace.close()
})

test('a 403 is not kept: the same request is answered anew once it may be', async () => {
  const marketplace = await openTestMarketplace()
  const [owner, hirer, seller] = [
    await marketplace.join('owner', 5_000),
    await marketplace.join('hirer'),
    await marketplace.join('seller'),
  ]
  const [buying, agent] = [await marketplace.list(hirer), await marketplace.list(seller)]
  const caps = { maxPerTask: 1_000, maxDaily: 1_000, maxMonthly: 1_000 }
  const { id } = await owner.client.createBudget({ agentId: buying.id, ...caps })
  const task = await marketplace.draft(hirer, agent, { budgetAuthorizationId: id })
  const stand = (fields: object) => marketplace.admin.call('PUT', `/api/admin/users/${owner.id}`, fields)
  const submit = () => post<TaskRecord>(hirer, `/api/tasks/${task.id}/submit`, undefined, 'k')
  await stand({ suspended: true })
  assert.is((await submit()).status, 403)
  await stand({ suspended: false })
  const submitted = await submit()
  assert.is(submitted.status, 200)
  assert.not.ok(isRepeat(submitted))
  assert.ok(isRepeat(await submit()))
  await marketplace.close()
})

test('a key with another body is refused with 409; another account, another path is another request', async () => {
  const marketplace = await openTestMarketplace()
  const [ann, bob, builder] = [
    await marketplace.join('ann', 5_000),
    await marketplace.join('bob'),
    await marketplace.join('builder'),
  ]
  const agent = await marketplace.list(builder)
  const fields = { ...taskFields, agentId: agent.id }
  const first = await post<TaskRecord>(ann, '/api/tasks', fields, 'k')
  assert.is(first.status, 201)
  const other = await post(ann, '/api/tasks', { ...fields, agreedPrice: 2_000 }, 'k')
  assert.is(other.status, 409)
  assert.match(other.error!, 'another request')
  assert.is((await post(ann, '/api/tasks', {}, 'k')).status, 409)
  const again = await post(ann, '/api/tasks', { ...fields, ignored: true }, 'k')
  assert.equal(seen(again), seen(first))
  const bobs = await post<TaskRecord>(bob, '/api/tasks', fields, 'k')
  assert.is(bobs.status, 201)
  assert.is.not(bobs.data!.id, first.data!.id)
  assert.is((await post(ann, `/api/tasks/${first.data!.id}/cancel`, undefined, 'k')).status, 200)
  assert.is((await ann.call<{ pagination: { total: number } }>('GET', '/api/tasks')).pagination.total, 1)
  await marketplace.close()
})

test('a refusal is kept too, but none with 401 or 403', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer'), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent)
  const submit = (key: string, by: By = 'session') => post(buyer, `/api/tasks/${id}/submit`, undefined, key, by)
  assert.is((await submit('poor', 'nobody')).status, 401)
  const poor = await submit('poor')
  assert.is(poor.status, 400)
  assert.match(poor.error!, '10.00 is needed')
  const invalid = await post(buyer, '/api/tasks', { title: 'x' }, 'invalid')
  assert.equal(invalid.errors?.title?.length, 1)
  const stillInvalid = await post(buyer, '/api/tasks', { title: 'x' }, 'invalid')
  assert.equal(seen(stillInvalid), seen(invalid))
  assert.equal([isRepeat(invalid), isRepeat(stillInvalid)], [false, true])
  await buyer.call('POST', '/api/wallet/deposit', { amount: 5_000 })
  const still = await submit('poor')
  assert.equal(seen(still), seen(poor))
  assert.ok(isRepeat(still))
  const suspend = (suspended: boolean) => marketplace.admin.call('PUT', `/api/admin/users/${buyer.id}`, { suspended })
  await suspend(true)
  assert.is((await submit('rich')).status, 403)
  assert.is((await post(buyer, `/api/tasks/${id}/accept`, undefined, 'theirs')).status, 403)
  await suspend(false)
  assert.is((await submit('rich')).status, 200)
  await suspend(true)
  assert.is((await submit('rich')).status, 403) // who may not call may not look at answers either
  assert.is((await post(buyer, `/api/tasks/${id}/accept`, undefined, 'theirs')).status, 403)
  await marketplace.close()
})

test('a repeat of what is still running is refused with 409, and answered once it has ended', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  let tests = 0
  let begun = () => {}
  let end = () => {}
  const running = new Promise<void>(resolve => {
    begun = resolve
  })
  const ended = new Promise<void>(resolve => {
    end = resolve
  })
  agent.sink.answer = async () => {
    tests++
    begun()
    await ended
    return answered(200)
  }
  const check = () => post<TestReport>(builder, `/api/my/agents/${agent.id}/test-connection`, undefined, 'check')
  const first = check()
  await running
  const early = await check()
  assert.is(early.status, 409)
  assert.match(early.error!, 'still running')
  end()
  const answer = await first
  assert.is(answer.data?.status, 'passed')
  const late = await check()
  assert.equal(seen(late), seen(answer))
  assert.is(tests, 1)
  await marketplace.close()
})

test('an answer that holds a secret is not kept: a repeat is told that the thing exists', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  const paths = [
    ['/api/my/api-keys', { name: 'ci' }],
    [`/api/my/agents/${agent.id}/webhook-secret`, undefined],
  ] as const
  for (const [path, body] of paths) {
    const first = await post<{ key?: string; secret?: string }>(builder, path, body, 'secret')
    const secret = first.data!.key ?? first.data!.secret!
    assert.ok(first.status < 300)
    const repeats = await Promise.all([1, 2, 3].map(() => post(builder, path, body, 'secret')))
    for (const { status, error } of repeats) {
      assert.is(status, 409)
      assert.match(error!, 'exists, and its secret is shown once')
    }
    const rows = await marketplace.market.db.read(q => q.all<object>('SELECT * FROM idempotency_keys ORDER BY path'))
    assert.not(JSON.stringify(rows).includes(secret))
  }
  const keys = await builder.call<{ items: { name: string }[] }>('GET', '/api/my/api-keys')
  assert.is(keys.items.filter(({ name }) => name === 'ci').length, 1)
  await marketplace.close()
})

test('after 24 hours the key is free and its row is gone', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer')
  const deposit = () => post(buyer, '/api/wallet/deposit', { amount: 300 }, 'daily')
  await deposit()
  marketplace.world.advance(marketplace.world.now() + durations.dayMs - 1)
  assert.ok(isRepeat(await deposit()))
  marketplace.world.advance(marketplace.world.now() + 1)
  assert.not(isRepeat(await deposit()))
  assert.is((await marketplace.balances(buyer.id)).available, 600)
  await marketplace.pass(durations.dayMs)
  assert.equal(await marketplace.market.db.read(q => q.all('SELECT * FROM idempotency_keys ORDER BY key')), [])
  await marketplace.close()
})

test('an account has so many keys kept, fewer with large answers, and the oldest give way', async () => {
  assert.is(defaultKeeping.idempotencyKeys, 5_000)
  const marketplace = await openTestMarketplace({ keeping: { idempotencyKeys: 8 } })
  const [buyer, other] = [await marketplace.join('buyer'), await marketplace.join('other', 5_000)]
  const agent = await marketplace.list(await marketplace.join('builder'))
  const kept = async ({ id }: { id: string }) =>
    (
      await marketplace.market.db.read(q =>
        q.all<{ key: string }>('SELECT key FROM idempotency_keys WHERE user_id = $1 ORDER BY key', [id]),
      )
    ).map(({ key }) => key)
  const deposit = (key: string, by = buyer) => post(by, '/api/wallet/deposit', { amount: 300 }, key)
  assert.not(isRepeat(await deposit('theirs', other)))
  await marketplace.market.db.write(tx => claimRunning(tx, buyer.id, marketplace.world.realNow() + 60_000))
  for (let n = 10; n < 20; n++) await deposit(`k${n}`)
  assert.equal(await kept(buyer), ['k12', 'k13', 'k14', 'k15', 'k16', 'k17', 'k18', 'k19', 'runs'])
  assert.ok(isRepeat(await deposit('k12')))
  assert.ok(isRepeat(await deposit('theirs', other)))
  assert.not(isRepeat(await deposit('k11')), 'one that had to give way')
  await Promise.all(Array.from({ length: 30 }, (_, n) => deposit(`many ${n}`)))
  assert.is((await kept(buyer)).length, 9, 'of those that come at once, and one that runs')
  const draft = { ...taskFields, agentId: agent.id, description: 'ä'.repeat(5_000) }
  for (let n = 0; n < 5; n++) await post(buyer, '/api/tasks', draft, `large ${n}`)
  assert.equal(await kept(buyer), ['large 2', 'large 3', 'large 4', 'runs'])
  await marketplace.close()
})

const claimRunning = (tx: Tx, userId: string, runningUntil: number) =>
  claimRequest(
    tx,
    { userId, method: 'POST', path: '/api/wallet/deposit', key: 'runs' },
    { fingerprint: 'f', now: 0, keptSince: 0, realNow: 0, runningUntil },
  )

test('what a dead process was doing no longer holds its key after a start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-repeat-'))
  const file = join(folder, 'a.db')
  const first = await openTestMarketplace({ file })
  const { id: userId } = first.admin
  const realNow = first.world.realNow()
  const request = { userId, method: 'POST', path: '/api/wallet/deposit', key: 'k' }
  const claim = { fingerprint: 'f', now: realNow, keptSince: 0, realNow, runningUntil: realNow + 60_000 }
  await first.market.db.write(tx => claimRequest(tx, request, claim))
  assert.is((await post(first.admin, request.path, { amount: 300 }, 'k')).status, 409)
  await first.close()
  const second = await openTestMarketplace({ file })
  assert.is((await post(second.admin, request.path, { amount: 300 }, 'k')).status, 201)
  await second.close()
  rmSync(folder, { recursive: true })
})

test('a key that can be none is 400; on GET and on /api/auth it says nothing', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer')
  for (const key of ['', 'x'.repeat(256), 'tab\tinside', 'caf\u00e9'])
    assert.is((await post(buyer, '/api/wallet/deposit', { amount: 300 }, key)).status, 400, JSON.stringify(key))
  assert.is((await post(marketplace.visitor, '/api/wallet/deposit', { amount: 300 }, '')).status, 401)
  assert.is((await buyer.ask('GET', '/api/wallet', undefined, 'session', { 'idempotency-key': '' })).status, 200)
  const login = { email: buyer.email, password: buyer.password }
  for (let i = 0; i < 2; i++) assert.not(isRepeat(await post(buyer, '/api/auth/login', login, 'k')))
  assert.is((await marketplace.balances(buyer.id)).available, 0)
  await marketplace.close()
})

test.run()
