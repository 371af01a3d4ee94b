// engines: embedded; process: own
/** The real world: two clocks, ids, chance and timers. */
import { spawnSync } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createWorld } from '../../src/world/real.ts'
import { loader, urlOf } from '../support/child-code.ts'
import { PATIENCE_MS } from '../support/patience.ts'

const rule = { allowLoopback: false, requireHttps: true }
const HOUR_MS = 3_600_000

/** Runs `work` with a machine clock that `set` moves at will, and a count of time that `pass` moves. */
function withClock(work: (set: (ms: number) => void, pass: (ms: number) => void) => void): void {
  const original = Date.now
  const count = performance.now
  let time = 1_767_225_600_000
  let elapsed = 0
  Date.now = () => time
  performance.now = () => elapsed
  try {
    work(
      ms => {
        time = ms
      },
      ms => {
        elapsed += ms
      },
    )
  } finally {
    Date.now = original
    performance.now = count
  }
}

test('clock: domain time is the machine time plus the offset, real time is the machine time', () => {
  withClock(set => {
    const world = createWorld({ ...rule, offsetMs: HOUR_MS })
    assert.is(world.now() - world.realNow(), HOUR_MS)
    set(Date.now() + 5)
    assert.is(world.now(), Date.now() + HOUR_MS)
  })
})

test('clock: advance moves domain time alone, and never back', () => {
  withClock(set => {
    const world = createWorld(rule)
    const start = world.now()
    world.advance(start + 48 * HOUR_MS)
    assert.is(world.now(), start + 48 * HOUR_MS)
    assert.is(world.realNow(), start)
    world.advance(start + HOUR_MS)
    assert.is(world.now(), start + 48 * HOUR_MS)
    set(start + 10)
    assert.is(world.now(), start + 48 * HOUR_MS + 10)
  })
})

test('clock: while it is held, domain time moves by advance alone, and goes on from there', () => {
  withClock((set, pass) => {
    const world = createWorld(rule)
    const start = world.now()
    const release = world.stopClock()
    set(start + 30_000)
    pass(30_000)
    assert.is(world.now(), start)
    world.advance(start + HOUR_MS)
    world.advance(start + 5)
    pass(1_000)
    assert.is(world.now(), start + HOUR_MS)
    release()
    assert.is(world.now(), start + HOUR_MS)
    set(start + 30_010)
    assert.is(world.now(), start + HOUR_MS + 10)
    release()
    assert.is(world.now(), start + HOUR_MS + 10)
  })
})

test('clock: domain time never goes back when the machine clock does', () => {
  withClock(set => {
    const world = createWorld(rule)
    const start = world.now()
    set(start - 25 * HOUR_MS)
    assert.is(world.now(), start)
    assert.is(world.realNow(), start - 25 * HOUR_MS)
    set(start - 1)
    assert.is(world.now(), start)
    set(start + 1)
    assert.is(world.now(), start + 1)
    set(start - HOUR_MS)
    world.advance(start + 100)
    assert.is(world.now(), start + 100)
    set(start - HOUR_MS + 1)
    assert.is(world.now(), start + 101)
  })
})

test('clock: set back by an hour, domain time goes on, and the machine catches up with it', () => {
  withClock((set, pass) => {
    const world = createWorld(rule)
    const start = world.now()
    set(start - HOUR_MS)
    let before = start
    for (let second = 1; second <= 65; second++) {
      pass(1000)
      set(start - HOUR_MS + second * 1000)
      const now = world.now()
      assert.ok(Number.isInteger(now))
      assert.ok(now > before)
      before = now
    }
    assert.ok(before >= start + 60_000, 'a window of a minute is over after 65 seconds')
    assert.ok(before < start + 65_000, 'but slower than the machine')
    pass(20 * HOUR_MS)
    set(start + 19 * HOUR_MS + 65_000)
    assert.is(world.now(), start + 19 * HOUR_MS + 65_000, 'and then it is the same again')
  })
})

test('ids: prefixed, unique, and in the order of their making, over a clock that jumps', () => {
  withClock(set => {
    const world = createWorld(rule)
    const made: string[] = []
    for (let i = 0; i < 20_000; i++) {
      if (i % 1000 === 0) set(Date.now() + (i % 3 === 0 ? -HOUR_MS : 7))
      if (i === 10_000) world.advance(world.now() + 30 * 24 * HOUR_MS)
      made.push(world.id('task'))
    }
    assert.match(made[0]!, /^task_[0-9a-f]{32}$/)
    assert.is(new Set(made).size, made.length)
    assert.equal([...made].sort(), made)
  })
})

test('chance: unseeded worlds differ, seeded ones repeat', () => {
  const draw = (seed?: string) => {
    const world = createWorld(seed === undefined ? rule : { ...rule, seed })
    return [world.id('a'), world.bytes(32).toString('hex'), world.chance(), world.id('b'), world.bytes(5).length]
  }
  assert.equal(draw('one'), draw('one'))
  assert.not.equal(draw('one'), draw('two'))
  assert.not.equal(draw(), draw())
  for (let i = 0; i < 1000; i++) {
    const value = createWorld({ ...rule, seed: String(i) }).chance()
    assert.ok(value >= 0 && value < 1)
  }
})

test('chance: seeded ids are unique and in order', () => {
  const world = createWorld({ ...rule, seed: 7 })
  const made = Array.from({ length: 10_000 }, () => world.id('x'))
  assert.equal([...new Set(made)].sort(), made)
})

test('after: runs once, later; a cancelled one never', async () => {
  const world = createWorld(rule)
  const ran: string[] = []
  world.after(10, () => ran.push('late'))
  world.after(0, () => ran.push('soon'))
  world.after(5, () => ran.push('never')).cancel()
  await new Promise(resolve => setTimeout(resolve, 40))
  assert.equal(ran, ['soon', 'late'])
})

test('after: a timer does not keep the process alive, and undici is not loaded by a start', () => {
  const url = urlOf('src/world/real.ts')
  const script = `
    const { createWorld } = await import(${JSON.stringify(url)})
    const world = createWorld({ allowLoopback: false, requireHttps: true })
    world.after(${2 * PATIENCE_MS}, () => {})
    const { createRequire } = await import('node:module')
    const cache = Object.keys(createRequire(${JSON.stringify(url)}).cache)
    console.log(cache.filter(path => path.includes('/undici/')).length)`
  const run = spawnSync(process.execPath, [...loader, '--input-type=module', '-e', script], { timeout: PATIENCE_MS })
  assert.is(run.status, 0, String(run.stderr))
  assert.is(String(run.stdout).trim(), '0')
})

test.run()
