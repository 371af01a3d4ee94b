// engines: embedded, postgres; process: shared
/** A clock that was ahead and is right again: nothing waits for the time that it told. Source: A-44. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { planHeartbeat } from '../../src/market/checks/heartbeat.ts'
import { countInCommon } from '../../src/market/requests/rate-windows.ts'
import { runDue } from '../../src/market/upkeep/due.ts'
import { watchClock } from '../../src/market/upkeep/set-back-clock.ts'
import { openBareMarket } from '../support/bare-market.ts'
import { type House, openHouse } from '../support/marketplace.ts'

const DAY = 86_400_000

/** The machine's clock goes back by a day: what a look at it every second sees. */
async function setBack(house: House): Promise<void> {
  const { market, world } = house
  const machine = { ...world, realNow: () => world.realNow() + DAY }
  const ahead = { ...market, world: machine }
  await watchClock(ahead)
  machine.realNow = world.realNow
  await runDue(ahead)
}

const sql = (house: House, text: string, ...values: (string | number)[]) =>
  house.market.db.write(tx => tx.run(text, values))

test('a webhook written, or tried, by a clock a day ahead is sent now', async () => {
  const house = await openHouse()
  const buyer = await house.join('buyer', 5_000)
  const agent = await house.list(await house.join('builder'))
  const { id } = await house.draft(buyer, agent)
  const { sent } = house.world.egress as unknown as { sent: unknown[] }
  let isUp = false
  agent.sink.answer = () => ({ ok: true, status: isUp ? 200 : 503, headers: {}, body: '', durationMs: 0 })
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await house.webhooksSent()
  const tried = sent.length
  const ahead = house.world.now() + DAY
  await sql(
    house,
    'UPDATE deliveries SET created_at = $1, next_at = $1, leased_until = $2 WHERE task_id = $3',
    ahead,
    house.world.realNow() + DAY,
    id,
  )
  await house.runDue()
  await house.webhooksSent()
  assert.is(sent.length, tried, 'as it lies ahead, nobody sends it')
  isUp = true
  await setBack(house)
  await house.runDue()
  await house.webhooksSent()
  assert.is(sent.length, tried + 1)
  await house.close()
})

test('work in hand by a clock a day ahead is free again: tests, keyed requests, runs of the heartbeat', async () => {
  const house = await openHouse()
  const buyer = await house.join('buyer', 5_000)
  const agent = await house.list(await house.join('builder'))
  const [now, realNow] = [house.world.now() + DAY, house.world.realNow() + DAY]
  await sql(house, 'UPDATE agent_tests SET ended = 0, started_at = $1 WHERE agent_id = $2', realNow, agent.id)
  const body = {
    agentId: agent.id,
    title: 'A task of a test',
    description: 'Something that is asked for',
    agreedPrice: 500,
  }
  const create = () => buyer.ask('POST', '/api/tasks', body, 'key', { 'idempotency-key': 'one' })
  assert.is((await create()).status, 201)
  await sql(house, 'UPDATE idempotency_keys SET status = NULL, created_at = $1, running_until = $2', now, realNow)
  await sql(house, 'UPDATE jobs SET next_at = $1, leased_until = $2', now, realNow)
  const test = () => agent.builder.ask('POST', `/api/my/agents/${agent.id}/test-connection`, undefined, 'key')
  assert.equal([(await test()).status, (await create()).status], [409, 409])
  await setBack(house)
  assert.equal([(await test()).status, (await create()).status], [200, 201])
  const jobs = await house.market.db.read(q =>
    q.all<{ at: number; till: number }>('SELECT next_at AS at, leased_until AS till FROM jobs'),
  )
  for (const { at, till } of jobs) assert.ok(at <= house.world.now() && till <= house.world.realNow())
  await house.close()
})

test('a test that passed or failed a day ahead does not decide for a day what is public', async () => {
  const house = await openHouse()
  await house.stopHeartbeat()
  const builder = await house.join('builder')
  const [passed, failed] = [
    await house.list(builder, { name: 'Passed' }),
    await house.list(builder, { name: 'Failed' }),
  ]
  const ahead = house.world.now() + DAY
  await sql(house, 'UPDATE agents SET last_pass_at = $1, tested_at = $1 WHERE id = $2', ahead, passed.id)
  await sql(
    house,
    'UPDATE agents SET last_pass_at = $1, failed_at = $2, tested_at = $1 WHERE id = $3',
    ahead,
    ahead + 5,
    failed.id,
  )
  await setBack(house)
  const names = async () => {
    const { items } = await house.visitor.call<{ items: { name: string }[] }>('GET', '/api/agents?sort=newest')
    return items.map(({ name }) => name)
  }
  assert.equal(await names(), ['Passed'], 'what failed later is hidden still')
  house.world.advance(house.world.now() + 1000)
  await house.freshen(failed)
  assert.equal(await names(), ['Failed', 'Passed'])
  house.world.advance(house.world.now() + DAY + 1)
  assert.equal(await names(), [])
  await house.close()
})

test('a rate window that was begun a day ahead is over', async () => {
  const house = await openHouse()
  const now = house.world.now()
  const count = async (at: number) => (await countInCommon(house.market, 'general', '198.51.100.7', at)).count
  assert.equal([await count(now + DAY), await count(now + DAY)], [1, 2])
  assert.equal([await count(now), await count(now)], [1, 2])
  assert.is(await count(now - 60_000), 3, 'an instance a minute behind counts in the same window')
  await house.close()
})

test('what a clock that is right has written stays as it is', async () => {
  const house = await openHouse()
  const buyer = await house.join('buyer', 5_000)
  const agent = await house.list(await house.join('builder'))
  agent.sink.answer = () => ({ ok: true, status: 503, headers: {}, body: '', durationMs: 0 })
  const { id } = await house.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await house.webhooksSent()
  const before = await house.contents()
  const rows = () => house.market.db.read(q => q.all('SELECT id, next_at, leased_until FROM deliveries ORDER BY id'))
  const deliveries = await rows()
  await setBack(house)
  assert.equal(await house.contents(), before)
  assert.equal(await rows(), deliveries)
  await house.close()
})

test('a clock that goes back by less than clocks may differ mends nothing; by more than that it does, and says how much', async () => {
  const { market, world, logged, close } = await openBareMarket()
  const LAST = 300_000
  const ahead = 'UPDATE jobs SET next_at = $1'
  await planHeartbeat(market)
  const machine = { ...world, realNow: () => world.realNow() }
  const look = (at: number) => {
    machine.realNow = () => world.realNow() + at
    return watchClock({ ...market, world: machine })
  }
  await look(0)
  await market.db.write(tx => tx.run(ahead, [world.now() + DAY]))
  await look(DAY)
  await look(DAY - LAST)
  await look(DAY - LAST)
  assert.equal(logged, [], 'the clock was set back by five minutes')
  await look(DAY - 2 * LAST - 1)
  assert.equal(logged, [
    { type: 'warning', message: 'The clock was set back: 1 rows that waited for times far ahead are due now' },
  ])
  await look(0)
  assert.is(logged.length, 1, 'nothing waits any more')
  await close()
})

test('the first look, at the start, mends what another process has left', async () => {
  const { market, world, logged, close } = await openBareMarket()
  await planHeartbeat(market)
  await market.db.write(tx => tx.run('UPDATE jobs SET next_at = $1', [world.now() + DAY]))
  await watchClock(market)
  assert.is(logged.length, 1)
  await close()
})

test.run()
