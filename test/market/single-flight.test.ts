// engines: embedded; process: shared
/** Work that must not overlap itself. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { singleFlight } from '../../src/market/single-flight.ts'

const breath = () => new Promise<void>(resolve => setImmediate(resolve))

function open() {
  const ends: ((error?: Error) => void)[] = []
  let running = 0
  let most = 0
  const work = () =>
    new Promise<void>((resolve, reject) => {
      most = Math.max(most, ++running)
      ends.push(error => {
        running--
        if (error) reject(error)
        else resolve()
      })
    })
  return { runs: singleFlight(work), ends, most: () => most }
}

test('however many wish for it while it runs, it runs once more, and all wait for that', async () => {
  const { runs, ends, most } = open()
  let done = 0
  const wishes = [1, 2, 3].map(() => runs.run().then(() => done++))
  assert.is(ends.length, 1)
  ends[0]!()
  await breath()
  assert.equal([ends.length, done], [2, 0])
  ends[1]!()
  await Promise.all(wishes)
  assert.equal([ends.length, most()], [2, 1])
  const next = runs.run()
  assert.is(ends.length, 3)
  ends[2]!()
  await next
  assert.is(ends.length, 3, 'nobody has wished for more')
})

test('a run that fails tells whoever waits, and the next wish runs again', async () => {
  const { runs, ends } = open()
  const first = runs.run()
  ends[0]!(new Error('no'))
  assert.is(await first.catch(error => error.message), 'no')
  const second = runs.run()
  assert.is(ends.length, 2)
  ends[1]!()
  await second
})

test('once it is stopped, it waits for what runs, does not run again, and takes no wish', async () => {
  const { runs, ends } = open()
  const first = runs.run()
  void runs.run()
  let hasStopped = false
  const stop = runs.stop().then(() => {
    hasStopped = true
  })
  await breath()
  assert.is(hasStopped, false)
  const late = runs.run()
  ends[0]!()
  await Promise.all([first, stop, late])
  await runs.run()
  assert.is(ends.length, 1)
})

test('stopping is no failure, though what runs fails', async () => {
  const { runs, ends } = open()
  const first = runs.run().catch(error => error.message)
  const stop = runs.stop()
  ends[0]!(new Error('no'))
  assert.equal([await first, await stop], ['no', undefined])
  await open().runs.stop()
})

test.run()
