// engines: embedded; process: own
/** Ticks at full hours, in the real world under a mocked clock and in the virtual one. */
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { everyHours, loadCron } from '../../src/world/cron.ts'
import { createVirtualWorld } from '../../src/world/virtual.ts'

const hour = 3_600_000
const settle = () => new Promise(resolve => setImmediate(resolve))

/** Lets the scheduler be loaded and started, once its own wait of the mocked clock is over. */
async function loaded() {
  mock.timers.tick(60_000)
  await loadCron()
  await settle()
}

test('the real ticks come at every fourth full hour, UTC, until they are cancelled', async () => {
  await import('node-cron')
  const start = Date.parse('2026-03-01T02:30:00Z')
  mock.timers.enable({ apis: ['Date', 'setTimeout', 'setInterval'], now: start })
  const ticks: string[] = []
  const timer = everyHours(4, () => void ticks.push(new Date().toISOString().slice(11, 16)))
  try {
    await loaded()
    for (let minutes = 0; minutes < 24 * 60; minutes++) {
      mock.timers.tick(60_000)
      await settle()
    }
    assert.equal(ticks, ['04:00', '08:00', '12:00', '16:00', '20:00', '00:00'])
    timer.cancel()
    await settle()
    mock.timers.tick(24 * hour)
    await settle()
    assert.is(ticks.length, 6)
  } finally {
    mock.timers.reset()
  }
})

test('cancelled before it has begun, it never ticks', async () => {
  mock.timers.enable({ apis: ['Date', 'setTimeout', 'setInterval'], now: Date.parse('2026-03-01T03:59:00Z') })
  let ticks = 0
  everyHours(4, () => void ticks++).cancel()
  try {
    await loaded()
    mock.timers.tick(24 * hour)
    await settle()
    assert.is(ticks, 0)
  } finally {
    mock.timers.reset()
  }
})

test('the virtual ticks come at the same hours', () => {
  const world = createVirtualWorld({ startMs: Date.parse('2026-03-01T02:30:00Z') })
  const ticks: string[] = []
  const timer = world.everyHours(4, () => void ticks.push(new Date(world.realNow()).toISOString().slice(11, 16)))
  world.tick(10 * hour)
  assert.equal(ticks, ['04:00', '08:00', '12:00'])
  timer.cancel()
  world.tick(10 * hour)
  assert.is(ticks.length, 3)
})

test.run()
