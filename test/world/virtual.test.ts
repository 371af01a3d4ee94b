// engines: embedded; process: shared
/** The virtual world: time that only moves when told to, and chance that repeats. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededChance } from '../../src/world/chance.ts'
import { answered, createVirtualWorld, recordingEgress } from '../../src/world/virtual.ts'

const START_MS = 1_767_225_600_000
const outgoing = { url: 'https://a.example/', body: '{}', headers: {}, timeoutMs: 1, maxResponseBytes: 1 }

test('time stands still until it is moved', async () => {
  const world = createVirtualWorld()
  await new Promise(resolve => setTimeout(resolve, 5))
  assert.is(world.now(), START_MS)
  assert.is(world.realNow(), START_MS)
})

test('advance moves domain time alone and never back; tick moves both', () => {
  const world = createVirtualWorld({ startMs: 1000 })
  world.advance(5000)
  world.advance(4000)
  assert.equal([world.now(), world.realNow()], [5000, 1000])
  world.tick(10)
  assert.equal([world.now(), world.realNow()], [5010, 1010])
})

test('tick runs the timers that fall due, each at its time, in order, also those made on the way', () => {
  const world = createVirtualWorld({ startMs: 0 })
  const ran: string[] = []
  const note = (name: string) => () => ran.push(`${name}@${world.realNow()}`)
  world.after(20, note('second'))
  world.after(10, () => {
    note('first')()
    world.after(5, note('made on the way'))
    world.after(100, note('later'))
  })
  world.after(20, note('third'))
  const cancelled = world.after(12, note('never'))
  cancelled.cancel()
  world.tick(50)
  assert.equal(ran, ['first@10', 'made on the way@15', 'second@20', 'third@20'])
  assert.is(world.nextTimer(), 110)
  world.advance(10_000)
  assert.is(ran.length, 4)
  world.tick(60)
  assert.is(ran.at(-1), 'later@110')
  assert.is(world.nextTimer(), undefined)
})

test('the same seed makes the same world; another seed another one', () => {
  const draw = (seed: string) => {
    const world = createVirtualWorld({ seed })
    const first = [world.id('task'), world.chance(), world.bytes(7).toString('hex')]
    world.tick(1000)
    return [...first, world.id('task')]
  }
  assert.equal(draw('a'), draw('a'))
  assert.not.equal(draw('a'), draw('b'))
})

test('ids sort by the time of their making', () => {
  const world = createVirtualWorld()
  const made: string[] = []
  for (let i = 0; i < 1000; i++) {
    if (i % 10 === 0) world.tick(1)
    if (i % 100 === 0) world.advance(world.now() + 86_400_000)
    made.push(world.id('task'))
  }
  assert.equal([...new Set(made)].sort(), made)
})

test('the recording egress keeps what was posted and answers as told', async () => {
  const egress = recordingEgress(request => (request.body === '{}' ? answered(503, 'busy') : answered(200)))
  const world = createVirtualWorld({ egress })
  assert.equal(await world.egress.post(outgoing), answered(503, 'busy'))
  assert.equal(await createVirtualWorld().egress.post(outgoing), answered(200))
  assert.equal(egress.sent, [outgoing])
})

test('seeded chance: the generator is sfc32, spread evenly over [0, 1) and over all bytes', () => {
  const chance = seededChance('even')
  const buckets = new Array(16).fill(0)
  for (let i = 0; i < 16_000; i++) buckets[Math.floor(chance.fraction() * 16)]++
  assert.ok(
    buckets.every(count => count > 850 && count < 1150),
    String(buckets),
  )
  const seen = new Set(chance.bytes(10_000))
  assert.is(seen.size, 256)
  assert.is(chance.bytes(0).length, 0)
})

test.run()
