// engines: embedded, postgres at length; process: shared
/** A simulator's clock that runs faster than real time. Source: A-233. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { clockMoves, durations, heartbeat } from '../../../src/api/limits.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { ClockScale } from '../../../src/market/upkeep/clock-scale.ts'
import { answered } from '../../../src/world/virtual.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

const STEP = clockMoves.scaleStepMs

test('a clock that can not be moved is told in the log, and moves again later', async () => {
  const logged: LogEntry[] = []
  const marketplace = await openTestMarketplace({ clockScale: 60, log: entry => logged.push(entry) })
  const { world, market } = marketplace
  const scale = market.memory.of(ClockScale)
  const start = world.now()
  const step = async () => {
    world.tick(STEP)
    await scale.ended()
  }
  const { write } = market.db
  market.db.write = async () => {
    throw new Error('The disk is away')
  }
  await step()
  market.db.write = write
  assert.equal(
    // What an instance tells others of itself fails as well.
    logged.flatMap(entry => (entry.type === 'error' && !/^Other instances/.test(entry.message) ? [entry.message] : [])),
    ['The clock could not be moved: The disk is away'],
  )
  await step()
  assert.ok(world.now() >= start + 60 * STEP)
  await marketplace.close()
})

test('a scaled clock moves in steps, does what falls due at its own time, and stands by while something is in flight', async () => {
  const marketplace = await openTestMarketplace({ clockScale: 3_600 })
  const { world, market, admin } = marketplace
  const agent = await marketplace.list(await marketplace.join('builder'))
  const buyer = await marketplace.join('buyer', 500_000)
  const scale = market.memory.of(ClockScale)
  const start = world.now()
  const step = async () => {
    world.tick(STEP)
    await scale.ended()
  }
  await step()
  assert.is(world.now(), start + 3_600 * STEP, 'half an hour in half a second')
  const tests = agent.sink.tests
  for (let n = 1; n < 9; n++) await step()
  assert.is(world.now(), start + 9 * 3_600 * STEP)
  assert.is(agent.sink.tests, tests + 1)
  const tested = await market.db.read(q => q.get<{ at: number }>('SELECT tested_at AS at FROM agents'))
  assert.is(tested!.at, start - (start % heartbeat.everyMs) + heartbeat.everyMs)

  let answer = (_: ReturnType<typeof answered>) => {}
  agent.sink.answer = () => new Promise(resolve => (answer = resolve))
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  while (agent.sink.received.length === 0) await new Promise(resolve => setImmediate(resolve))
  const before = world.now()
  await step()
  assert.is(world.now(), before + STEP, 'as fast as real time while an agent has not answered')
  answer(answered(200))
  await market.settled()
  await step()
  assert.is(world.now(), before + STEP + 3_600 * STEP)

  const path = '/api/dev/clock/scale'
  assert.is((await admin.call<{ scale: number }>('PUT', path, { scale: 1 }, 'key')).scale, 1)
  const slow = world.now()
  await step()
  await step()
  assert.is(world.now(), slow + 2 * STEP)
  assert.is((await admin.call<{ scale: number }>('PUT', path, { scale: 60 }, 'key')).scale, 60)
  await step()
  assert.is(world.now(), slow + 2 * STEP + 60 * STEP)
  for (const wrong of [0, 1.5, clockMoves.scale + 1, '60']) {
    assert.is((await admin.ask('PUT', path, { scale: wrong }, 'key')).status, 400, String(wrong))
  }
  await marketplace.checkLedger()
  await marketplace.close()
  world.tick(10 * STEP)
  await scale.ended()
  assert.ok(world.now() - slow < durations.hourMs, 'a marketplace that is closed moves nothing')
})

test.run()
