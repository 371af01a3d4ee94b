// engines: embedded; process: shared
/** Who is next in a queue of many flows: by what each has had, and not by who came first. Source: A-289. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FairQueue } from '../../src/shared/fair-queue.ts'

/** Serves all that waits, each for what its name costs. */
function serveAll(queue: FairQueue<string>, costs: Readonly<Record<string, number>>) {
  const order: string[] = []
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
    order.push(item)
    const flow = item[0]!
    queue.charge(flow, costs[flow] ?? 0)
  }
  return order.join(' ')
}

test('flows are served by what they have had: a dear request is worth ten cheap ones', () => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item)
  for (let i = 0; i < 12; i++) queue.push('b', `b${i}`)
  assert.is(serveAll(queue, { a: 10, b: 1 }), 'a1 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 a2 b10 b11 a3')
  assert.is(queue.waiting, 0)
})

test('who was not there saves no turns up, and who had much pays for it when it comes again', () => {
  const queue = new FairQueue<string>()
  for (let i = 0; i < 5; i++) queue.push('a', `a${i}`)
  for (let i = 0; i < 3; i++) {
    assert.is(queue.shift(), `a${i}`)
    queue.charge('a', 10)
  }
  for (let i = 0; i < 5; i++) queue.push('c', `c${i}`)
  assert.is(serveAll(queue, { a: 10, c: 10 }), 'c0 a3 c1 a4 c2 c3 c4')
  queue.push('a', 'a5')
  queue.charge('a', 100)
  queue.push('a', 'a6')
  queue.push('d', 'd0')
  assert.is(serveAll(queue, {}), 'd0 a5 a6')
})

test('something urgent is ahead, though not of those who have had far less', () => {
  const queue = new FairQueue<string>(20)
  queue.push('x', 'x0')
  queue.push('u', 'u0')
  queue.push('u', 'u1', true)
  assert.is(serveAll(queue, { u: 1 }), 'u1 x0 u0')
  queue.charge('u', 30)
  queue.push('x', 'x1')
  queue.push('u', 'u2', true)
  assert.is(serveAll(queue, {}), 'x1 u2')
})

test('only flows that may be served are; the others keep their places', () => {
  const queue = new FairQueue<string>()
  queue.push('a', 'a0')
  queue.push('b', 'b0')
  assert.is(
    queue.shift(name => name !== 'a'),
    'b0',
  )
  assert.is(
    queue.shift(() => false),
    undefined,
  )
  assert.is(queue.waiting, 1)
  assert.is(queue.shift(), 'a0')
})

test('who leaves is taken out; of the largest flow the newest gives way', () => {
  const queue = new FairQueue<string>()
  for (const item of ['a0', 'a1', 'a2']) queue.push('a', item)
  queue.push('b', 'b0', true)
  assert.is(queue.remove('a', 'a1'), true)
  assert.is(queue.remove('a', 'a1'), false)
  assert.is(queue.remove('nobody', 'a0'), false)
  assert.equal([queue.hasItsShare('a'), queue.hasItsShare('b'), queue.hasItsShare('c')], [true, false, false])
  assert.is(queue.pop(), 'a2')
  assert.is(queue.waiting, 2)
  assert.is(serveAll(queue, {}), 'a0 b0')
})

test('flows are bounded and forgotten: all of them when nobody waits, the idle ones when there are too many', () => {
  const queue = new FairQueue<string>()
  queue.push('waiting', 'w0')
  for (let i = 0; i < 10_000; i++) queue.charge(`address ${i}`, 1)
  assert.ok(queue.flows <= 4_096, `${queue.flows} flows`)
  queue.forget()
  assert.ok(queue.flows > 0, 'somebody waits')
  assert.is(queue.shift(), 'w0')
  queue.forget()
  assert.is(queue.flows, 0)
})

test.run()
