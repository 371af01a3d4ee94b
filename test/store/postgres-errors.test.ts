// engines: embedded; process: shared
/** What Postgres says, in the marketplace's own words; and who comes next when connections are few. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AwayError, BusyError, ConstraintError, ContestedError, StoreError } from '../../src/store/db.ts'
import { createSlots } from '../../src/store/postgres/connection-queue.ts'
import {
  codeOf,
  endsConnection,
  exhausted,
  translated,
  triesFor,
  uncertain,
  unreached,
} from '../../src/store/postgres/errors.ts'
import { until } from '../support/patience.ts'

const failure = (code: string, message = 'said so') => Object.assign(new Error(message), { code })

test('a refused row is known by its kind', () => {
  const kinds = ['23505', '23514', '23503', '23502'].map(code => translated(failure(code)) as ConstraintError)
  for (const error of kinds) assert.instance(error, ConstraintError)
  assert.equal(
    kinds.map(({ kind, message }) => `${kind}: ${message}`),
    ['unique', 'check', 'foreign_key', 'not_null'].map(kind => `${kind}: said so`),
  )
})

test('a server that has no time, no lock, no connection or no memory is busy; so is one that takes too long to answer', () => {
  for (const error of [
    ...['57014', '55P03', '53300', '53200'].map(code => failure(code)),
    new Error('timeout exceeded when trying to connect'),
    new Error('Connection terminated due to connection timeout'),
  ]) {
    const said = translated(error) as Error
    assert.instance(said, BusyError)
    assert.is(said.message, `Postgres is busy: ${error.message}`)
    assert.is(said.cause, error)
  }
})

test('a disk that is full is named, and what took nothing is not tried again', () => {
  const error = failure('53100', 'could not extend file "base/5/1249": No space left on device')
  const said = translated(error) as Error
  assert.equal([said.constructor, said.cause, triesFor(said)], [StoreError, error, 1])
  assert.is(said.message, `The disk of Postgres is full: ${error.message}. Make room there.`)
})

test('a connection that has ended says so, and what to check', () => {
  for (const error of [
    ...['57P01', '25P03', 'ECONNRESET'].map(code => failure(code)),
    new Error('Connection terminated unexpectedly'),
  ]) {
    const said = translated(error) as Error
    assert.instance(said, AwayError)
    assert.is(triesFor(said), 2)
    const unknown = uncertain(said)
    assert.instance(unknown, StoreError)
    assert.not.instance(unknown, AwayError)
    assert.is(triesFor(unknown), 1)
    assert.is(said.message, `The connection to Postgres has ended: ${error.message}. Check that the server runs.`)
    assert.is(said.cause, error)
  }
})

test('who can’t connect is told that the database is away; so is who may not write', () => {
  for (const error of [
    ...['57P03', 'ECONNREFUSED'].map(code => failure(code)),
    new Error('timeout exceeded when trying to connect'),
  ]) {
    const said = unreached(error) as Error
    assert.instance(said, AwayError)
    assert.equal([said.message, triesFor(said)], [`Postgres can't be reached: ${error.message}`, 1])
  }
  assert.not.instance(unreached(failure('53300')), AwayError)
  assert.instance(translated(failure('25006')), AwayError)
  assert.is(uncertain(failure('x')) instanceof StoreError, false)
})

test('after a long silence nothing is tried again', () => {
  assert.is(triesFor(translated(new Error('Query read timeout'))), 1)
})

test('every other error stays what it is', () => {
  for (const error of [
    failure('42P01'),
    failure('40001'),
    new Error('a timeout exceeded when trying to connect'),
    new Error('timeout exceeded when trying to connect, twice'),
    'text',
    null,
    undefined,
    { code: '23505' },
  ])
    assert.is(translated(error), error)
})

test('what lost against others at the same moment is tried again, a refused row a few times, the rest once', () => {
  assert.equal(
    ['40001', '40P01', '57014', '42P01'].map(code => triesFor(failure(code))),
    [12, 12, 1, 1],
  )
  assert.is(triesFor(failure('40001'), true), 60, 'where all transactions are SERIALIZABLE')
  assert.equal(
    (['unique', 'foreign_key', 'check', 'not_null'] as const).map(kind => triesFor(new ConstraintError(kind, ''))),
    [4, 4, 1, 1],
  )
  assert.is(triesFor(null), 1)
  assert.is(triesFor(new Error('x')), 1)
})

test('who has lost every time is told that it was contested; other errors stay', () => {
  const lost = failure('40001')
  const said = exhausted(lost) as Error
  assert.instance(said, ContestedError)
  assert.equal([said.message, said.cause], ['said so', lost])
  const other = failure('42P01')
  assert.is(exhausted(other), other)
})

test('a connection that has ended is told from a statement that has failed', () => {
  for (const code of ['57P01', '57P03', '25P03', '08006', 'ECONNRESET', 'EPIPE', ''])
    assert.ok(endsConnection(failure(code)), code)
  for (const code of ['57014', '23505', '40001', '22012', 'XX000', '10800'])
    assert.not(endsConnection(failure(code)), code)
  assert.ok(endsConnection(new Error('Query read timeout')))
  assert.ok(endsConnection(null))
  assert.equal([codeOf(null), codeOf(undefined), codeOf({}), codeOf(failure('x'))], ['', '', '', 'x'])
})

test('so many have a slot at once, the next come in the order of asking, and none is lost or had twice', async () => {
  const slots = createSlots(2, 10_000)
  assert.equal([slots.acquire('a'), slots.acquire('a'), slots.waiting], [undefined, undefined, 0])
  const order: number[] = []
  const waiting = [1, 2, 3].map(n => Promise.resolve(slots.acquire('a')).then(() => order.push(n)))
  assert.is(slots.waiting, 3)
  slots.release('a', 1)
  await waiting[0]
  assert.equal([order, slots.waiting], [[1], 2])
  slots.release('a', 1)
  slots.release('a', 1)
  await Promise.all(waiting)
  assert.equal([order, slots.waiting], [[1, 2, 3], 0])
  slots.release('a', 1)
  assert.is(slots.acquire('a'), undefined)
  assert.ok(slots.acquire('a') instanceof Promise, 'the other two are still had')
  assert.is(slots.waiting, 1)
  slots.release('a', 1)
})

test('no flow takes all slots while others may come; what is left is shared the same way, and one alone always has some', async () => {
  const slots = createSlots(10, 1)
  const waits: Promise<void>[] = []
  const takenBy = (flow: string, asks: number) => {
    const all = Array.from({ length: asks }, () => slots.acquire(flow))
    for (const wait of all) if (wait) waits.push(wait)
    return all.filter(got => got === undefined).length
  }
  assert.equal([takenBy('a', 12), takenBy('b', 12), takenBy('c', 1)], [8, 2, 0])
  assert.is(slots.waiting, 15)
  const ends = await Promise.allSettled(waits)
  assert.ok(ends.every(({ status }) => status === 'rejected'))
  assert.equal([createSlots(1, 10_000).acquire('a'), createSlots(2, 10_000).acquire('a')], [undefined, undefined])
})

test('a slot that is free goes to the flow that has had them for the shortest time', async () => {
  const slots = createSlots(1, 10_000)
  const order: string[] = []
  const ask = (flow: string) => Promise.resolve(slots.acquire(flow)).then(() => order.push(flow))
  slots.acquire('slow')
  const all = [ask('slow'), ask('slow'), ask('quick'), ask('quick'), ask('')]
  for (const ms of [1_000, 1, 1, 1, 1]) {
    slots.release(order.at(-1) ?? 'slow', ms)
    await new Promise(setImmediate)
  }
  await Promise.all(all)
  assert.equal(order, ['', 'quick', 'quick', 'slow', 'slow'])
})

test('where the server has room for fewer, flows share what there is as they share all, and more is tried now and then', async () => {
  const slots = createSlots(10, 100_000)
  const had = { a: 0, b: 0 }
  const ask = (flow: 'a' | 'b', times: number) => {
    for (let i = 0; i < times; i++) void Promise.resolve(slots.acquire(flow)).then(() => had[flow]++)
  }
  slots.narrow(4)
  ask('a', 6)
  ask('b', 6)
  await new Promise(setImmediate)
  assert.equal(had, { a: 3, b: 1 })
  slots.release('a', 500)
  await new Promise(setImmediate)
  assert.equal(had, { a: 3, b: 2 }, 'what a flow gives back goes to who has had less')
  // The last one is kept for others, as ever.
  await until('more', () => had.a + had.b >= 9)
  assert.ok(had.a >= 4 && had.b >= 4, JSON.stringify(had))
  for (let i = 0; slots.waiting > 0; i++) {
    slots.release(i % 2 ? 'a' : 'b', 1)
    await new Promise(setImmediate)
  }
})

test('who has waited too long is sent away, once, and takes nobody’s slot', async () => {
  const slots = createSlots(1, 30)
  assert.is(slots.acquire('a'), undefined)
  const error = await Promise.resolve(slots.acquire('a')).catch(error => error)
  assert.instance(error, BusyError)
  assert.is(error.message, 'No connection to the database was free for 30 ms.')
  assert.is(slots.waiting, 0)
  slots.release('a', 1)
  assert.is(slots.acquire('a'), undefined)
  const next = slots.acquire('a')
  slots.release('a', 1)
  await next
  await new Promise(resolve => setTimeout(resolve, 60))
  assert.ok(slots.acquire('a') instanceof Promise, 'the slot is had, whatever the clock says by then')
  slots.release('a', 1)
})

test.run()
