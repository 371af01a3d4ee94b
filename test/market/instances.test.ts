// engines: postgres; process: shared
/** Several instances on one database act as one: what falls due is done once, limits are one limit, the dead are succeeded. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../src/api/dispatch.ts'
import { durations, heartbeat } from '../../src/api/limits.ts'
import type { TaskRecord } from '../../src/api/records.ts'
import { keepFiles } from '../../src/market/tasks/files.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { answered } from '../../src/world/virtual.ts'
import type { Egress } from '../../src/world/world.ts'
import { type Instances, openInstances } from '../support/instances.ts'
import type { ListedAgent, TestMarketplace } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { openPostOffice } from '../support/post-office.ts'

const range = (count: number) => Array.from({ length: count }, (_, i) => i)

const ledTo = (step: () => Promise<unknown>, holds: () => Promise<boolean> | boolean) =>
  until('what the steps lead to', async () => (await holds()) || void (await step()))

const countOf = async ({ marketplace }: Instances, sql: string) =>
  (await marketplace.market.db.read(q => q.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${sql}`)))!.count

test('a window is one window for all instances: exactly its limit passes, and old windows are forgotten', async () => {
  const instances = await openInstances({ rateLimits: 'strict' })
  const urls = [instances.marketplace.url, (await instances.join()).url]
  const ask = async (i: number) => {
    const { status, headers } = await fetch(`${urls[i % 2]}/api/agents`)
    return [status, headers.get('ratelimit')!.match(/r=(\d+)/)![1]!] as const
  }
  for (const round of range(2)) {
    const answers = await Promise.all(range(70).map(ask))
    const passed = answers.filter(([status]) => status === 200).map(([, left]) => Number(left))
    const falling = passed.sort((a, b) => b - a)
    assert.equal(falling, range(30).reverse(), `round ${round}`)
    assert.ok(answers.every(([status]) => status === 200 || status === 429))
    instances.advance(60_000)
  }
  instances.advance(3_600_000)
  await instances.runDue()
  assert.is(await countOf(instances, 'rate_windows'), 0)
  await instances.close()
})

test('each run of the heartbeat is run once, whoever comes first', async () => {
  const instances = await openInstances({ heartbeatBatch: 3 })
  const { marketplace } = instances
  await instances.join()
  const builder = await marketplace.join('builder')
  const agents: ListedAgent[] = []
  for (const i of range(6)) agents.push(await marketplace.list(builder, { name: `Agent ${i}` }))
  for (const { sink } of agents) sink.tests = 0
  const tests = () => agents.reduce((sum, { sink }) => sum + sink.tests, 0)
  for (const run of range(4)) {
    instances.advance(4 * 3_600_000)
    await instances.runDue()
    await instances.runDue()
    assert.is(tests(), 3 * (run + 1))
  }
  assert.equal(
    agents.map(({ sink }) => sink.tests),
    [2, 2, 2, 2, 2, 2],
  )
  await instances.close()
})

test('200 events are each sent once, by whichever instance takes them up', async () => {
  const instances = await openInstances()
  const { marketplace } = instances
  const other = await instances.join()
  const builder = await marketplace.join('builder')
  const buyer = await marketplace.join('buyer', 500_000)
  const agents: ListedAgent[] = []
  for (const i of range(4)) agents.push(await marketplace.list(builder, { name: `Agent ${i}` }))
  const users = [marketplace, other].map(({ url }) => Object.assign(new HttpUser(url), { key: buyer.key }))
  const left = range(200)
  const work = async () => {
    for (let i = left.pop(); i !== undefined; i = left.pop()) {
      const { id } = await marketplace.draft(buyer, agents[i % 4]!)
      await users[i % 2]!.call('POST', `/api/tasks/${id}/submit`, undefined, 'key')
    }
  }
  await Promise.all(range(8).map(work))
  await ledTo(instances.runDue, async () => (await countOf(instances, `deliveries WHERE state = 'delivered'`)) === 200)
  const ids = agents.flatMap(({ sink }) => sink.received.map(({ headers }) => headers['X-Service-Delivery-Id']))
  assert.equal([ids.length, new Set(ids).size], [200, 200])
  assert.is(await countOf(instances, 'attempts'), 200)
  await marketplace.checkLedger()
  await instances.close()
})

/** The network of an instance that dies: nothing that it sends is ever answered, until `release`. */
function deadEgress(): Egress & { sent: number; release(): void } {
  const waiting: (() => void)[] = []
  return {
    sent: 0,
    post() {
      this.sent++
      return new Promise(resolve => waiting.push(() => resolve(answered(200))))
    },
    release() {
      for (const end of waiting.splice(0)) end()
    },
    async close() {},
  }
}

/** Lets time pass at each of them: as long as one needs to show that it runs, with real time to do so, until `holds`. */
async function passUntil(running: readonly Pick<TestMarketplace, 'world'>[], holds: () => Promise<boolean>) {
  let passed = 0
  for (; !(await holds()); passed += dispatch.beatMs) {
    assert.ok(passed < dispatch.leaseMs / 2, 'long before any lease is over')
    for (const { world } of running) world.tick(dispatch.beatMs)
    await wait(50)
  }
  return passed
}

const delivered = async (instances: Instances) => countOf(instances, `deliveries WHERE state = 'delivered'`)
const attemptsAt = (agents: readonly ListedAgent[]) =>
  agents.flatMap(({ sink }) => sink.received.map(({ headers }) => headers['X-Service-Attempt']))

/** One more instance, whose webhooks nobody answers, and which has one on its way. */
async function openWaiting() {
  const instances = await openInstances()
  const { marketplace } = instances
  const egress = deadEgress()
  const waiting = await instances.join({ egress })
  const agent = await marketplace.list(await marketplace.join('builder'))
  const buyer = await marketplace.join('buyer', 10_000)
  const { id } = await marketplace.draft(buyer, agent)
  const user = Object.assign(new HttpUser(waiting.url), { key: buyer.key })
  await user.call('POST', `/api/tasks/${id}/submit`, undefined, 'key')
  await until('the webhook', () => egress.sent === 1)
  return { instances, marketplace, egress, waiting, agent }
}

test('what an instance that stands still had in hand is taken over before its lease is over, and its late word counts no more', async () => {
  const { instances, marketplace, egress, waiting, agent } = await openWaiting()
  await passUntil([marketplace], async () => (await delivered(instances)) === 1)
  assert.equal(attemptsAt([agent]), ['2'])
  egress.release()
  await waiting.close(0)
  assert.is(await countOf(instances, 'attempts'), 1)
  assert.is(egress.sent, 1)
  await instances.close()
})

test('what an instance that runs has in hand is its own, however long the agent takes', async () => {
  const { instances, marketplace, egress, waiting, agent } = await openWaiting()
  let passes = 0
  await passUntil([waiting, marketplace], async () => passes++ === (4 * dispatch.silentMs) / dispatch.beatMs)
  assert.is(agent.sink.received.length, 0)
  egress.release()
  await until('the outcome', async () => (await delivered(instances)) === 1)
  assert.equal([egress.sent, await countOf(instances, 'attempts')], [1, 1])
  await instances.close()
})

test('what was claimed and is not known to run ends with its lease', async () => {
  const { instances, marketplace, egress, waiting, agent } = await openWaiting()
  // As where the answer to the commit of a claim is lost: nobody has it in hand, and its sender runs.
  marketplace.world.tick(dispatch.leaseMs - 1)
  for (const _ of range(5)) await marketplace.runDue()
  assert.is(agent.sink.received.length, 0)
  marketplace.world.tick(1)
  await ledTo(marketplace.runDue, async () => (await delivered(instances)) === 1)
  egress.release()
  await waiting.close(0)
  await instances.close()
})

test('an instance that goes on sends nothing of what others have sent meanwhile', async () => {
  const instances = await openInstances()
  const { marketplace } = instances
  const egress = deadEgress()
  const still = await instances.join({ egress })
  const builder = await marketplace.join('builder')
  const agents: ListedAgent[] = []
  for (const i of range(4)) agents.push(await marketplace.list(builder, { name: `Agent ${i}` }))
  await submitAtOnce(instances, still, agents)
  await until('as many as one host takes', () => egress.sent === dispatch.perHost)
  await passUntil([marketplace], async () => (await delivered(instances)) === agents.length)
  assert.equal(attemptsAt(agents), ['2', '2', '2', '2'])
  still.world.tick(4 * dispatch.silentMs)
  egress.release()
  let passes = 0
  await passUntil([still], async () => (await countOf(instances, 'senders')) === 2 && passes++ === 4)
  assert.is(egress.sent, dispatch.perHost)
  await still.close(0)
  assert.equal([egress.sent, await countOf(instances, 'attempts')], [dispatch.perHost, agents.length])
  await instances.close()
})

/** All are claimed as they are written, each while the others wait for the wallet: more than have a slot at their host. */
async function submitAtOnce(instances: Instances, { url }: { url: string }, agents: readonly ListedAgent[]) {
  const { marketplace } = instances
  const buyer = await marketplace.join('buyer', 10_000)
  const user = Object.assign(new HttpUser(url), { key: buyer.key })
  const drafts = await Promise.all(agents.map(agent => marketplace.draft(buyer, agent)))
  let submits: Promise<unknown> | undefined
  await marketplace.market.db.write(async tx => {
    await tx.lock('accounts', `available:${buyer.id}`)
    submits = Promise.all(drafts.map(({ id }) => user.call('POST', `/api/tasks/${id}/submit`, undefined, 'key')))
    const waiting = `pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    await until('all that wait', async () => (await countOf(instances, waiting)) === drafts.length)
  })
  await submits
}

test('what an instance that closes has claimed and not sent is sent by another at once, as its first attempt', async () => {
  const instances = await openInstances()
  const { marketplace } = instances
  const egress = deadEgress()
  const closing = await instances.join({ egress })
  const builder = await marketplace.join('builder')
  const agents: ListedAgent[] = []
  for (const i of range(4)) agents.push(await marketplace.list(builder, { name: `Agent ${i}` }))
  const claimed = () => countOf(instances, 'deliveries WHERE leased_until > 0')
  await submitAtOnce(instances, closing, agents)
  await until('as many as one host takes', () => egress.sent === dispatch.perHost)
  assert.is(await claimed(), agents.length)
  const closed = closing.close(0)
  await ledTo(marketplace.runDue, async () => (await claimed()) <= dispatch.perHost)
  egress.release()
  await closed
  await ledTo(marketplace.runDue, async () => (await delivered(instances)) === agents.length)
  assert.is(egress.sent, dispatch.perHost)
  assert.equal(attemptsAt(agents), ['1', '1'])
  await instances.close()
})

test('events of one task go out in the order of its steps, also where the clock of an instance is behind', async () => {
  const instances = await openInstances()
  const { marketplace } = instances
  const behind = await instances.join({ ids: 'own' })
  marketplace.world.tick(60_000)
  const buyer = await marketplace.join('buyer', 10_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent)
  agent.sink.status = 500
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  const parties = [marketplace, behind].map(({ url }) => Object.assign(new HttpUser(url), { key: buyer.key }))
  const words = range(6).map(String)
  for (const i of range(6))
    await parties[i % 2]!.call('POST', `/api/tasks/${id}/messages`, { content: words[i]! }, 'key')
  agent.sink.status = 200
  await marketplace.pass(10_000)
  await ledTo(marketplace.runDue, async () => (await countOf(instances, `deliveries WHERE state = 'delivered'`)) === 7)
  const said = agent.sink.received.flatMap(({ data }) => (data.message === undefined ? [] : [data.message]))
  assert.equal(said, words)
  await instances.close()
})

test('a heartbeat that died with its instance is run by another once its lease is over', async () => {
  const instances = await openInstances({ heartbeatBatch: 5 })
  const { marketplace } = instances
  const egress = deadEgress()
  const dying = await instances.join({ egress })
  const agent = await marketplace.list(await marketplace.join('builder'))
  agent.sink.tests = 0
  instances.advance(4 * 3_600_000)
  const never = dying.runDue()
  never.catch(() => {})
  await until('the webhook', () => egress.sent === 1)
  await marketplace.runDue()
  assert.is(agent.sink.tests, 0)
  // Nobody asks: it looks by itself, as at the next fourth hour it would be late.
  marketplace.world.tick(heartbeat.leaseMs + heartbeat.lookMs)
  await until('the test', () => agent.sink.tests === 1)
  egress.release()
  await instances.close()
})

test('money is cleared once and a letter is sent once when all instances look at the same moment', async () => {
  const office = await openPostOffice()
  const instances = await openInstances({ mail: { smtpUrl: office.url, from: 'Market <market@example.com>' } })
  const { marketplace } = instances
  await instances.join()
  await instances.join()
  const builder = await marketplace.join('builder')
  const buyer = await marketplace.join('buyer', 100_000)
  const agent = await marketplace.list(builder)
  for (const _ of range(10)) {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    await marketplace.callback(agent, id, { action: 'accept' })
    await marketplace.callback(agent, id, { action: 'deliver', content: 'x' })
    await buyer.call('POST', `/api/tasks/${id}/approve`)
  }
  for (const email of [builder.email, buyer.email, 'admin@example.com']) {
    await marketplace.visitor.ask('POST', '/api/auth/password-reset', { email })
  }
  instances.advance(durations.clearingMs)
  for (const _ of range(3)) await instances.runDue()
  assert.equal(await marketplace.balances(builder.id), { available: 10_000, held: 0, clearing: 0 })
  const resets = office.received.filter(({ text }) => /^[\w-]{43}$/m.test(text)).map(({ to }) => to[0])
  assert.equal(resets.sort(), ['admin@example.com', buyer.email, builder.email].sort())
  await marketplace.checkLedger()
  await instances.close()
  await office.close()
})

test('a file that one instance took in is served by another, and what a dead one left half done is removed by any', async () => {
  const instances = await openInstances()
  const { marketplace } = instances
  const other = await instances.join()
  const builder = await marketplace.join('builder')
  const buyer = await marketplace.join('buyer', 10_000)
  const { id } = await marketplace.draft(buyer, await marketplace.list(builder))
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await builder.call('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')
  const form = new FormData()
  form.append('files', new Blob(['a,b\n1,2\n']), 'table.csv')
  const headers = { authorization: `Bearer ${builder.key}` }
  const sent = await fetch(`${marketplace.url}/api/agent/tasks/${id}/deliver`, { method: 'POST', headers, body: form })
  const { data } = (await sent.json()) as { data: { task: TaskRecord } }
  const { url } = data.task.deliverable!.files[0]!
  const read = () => fetch(other.url + url, { headers: { authorization: `Bearer ${buyer.key}` } })
  assert.is(await (await read()).text(), 'a,b\n1,2\n')

  const path = join(marketplace.market.files.incoming, 'file_half')
  await writeFile(path, 'half done')
  await keepFiles(marketplace.market, [{ id: 'file_half', path }])
  assert.is(await text(await other.market.files.read('file_half')), 'half done')
  other.world.tick(61 * 60_000)
  await other.runDue()
  const gone = await other.market.files.read('file_half').catch(error => error.code)
  assert.is(gone, 'NoSuchKey')
  assert.is((await read()).status, 200)
  await instances.close()
})

test('three instances that start at the same moment make the tables and the administrator once', async () => {
  const instances = await openInstances()
  const { marketplace } = instances
  await marketplace.market.db.migrate(async tx => {
    await tx.run('DROP SCHEMA public CASCADE')
    await tx.run('CREATE SCHEMA public')
  })
  const joined = await Promise.all(range(3).map(() => instances.join()))
  assert.is(await countOf(instances, 'users'), 1)
  for (const { url } of joined) assert.is((await fetch(`${url}/readyz`)).status, 200)
  await instances.close()
})

test('a race that was lost is not kept under an Idempotency-Key: who looks again is told what there is now', async () => {
  const instances = await openInstances()
  const { marketplace } = instances
  const { db } = marketplace.market
  const add = () =>
    marketplace.admin.ask(
      'POST',
      '/api/admin/categories',
      { name: 'Contested', description: 'Wanted by two' },
      'session',
      {
        'idempotency-key': 'one',
      },
    )
  let letGo = () => {}
  const held = new Promise<void>(resolve => (letGo = resolve))
  const other = db.write(async tx => {
    const sql = 'INSERT INTO categories (id, name, slug, description) VALUES ($1, $2, $3, $4)'
    await tx.run(sql, ['cat_other', 'Contested', 'contested', 'Was first'])
    await held
  })
  // Of this database alone: others of the server belong to tests that run beside this one.
  const blocked = `SELECT COUNT(*) AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  const waiting = () => db.read(q => q.get<{ count: number }>(blocked)).then(row => row!.count > 0)
  const lost = add()
  await until('the one that waits', waiting)
  letGo()
  await other
  assert.is((await lost).status, 409)
  assert.match((await lost).error!, 'at the same moment')
  await db.write(tx => tx.run('DELETE FROM categories WHERE id = $1', ['cat_other']))
  assert.is((await add()).status, 201)
  await instances.close()
})

test.run()
