/** Places of the webhooks that are sent, by host, and what waits for them. Source: D37. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../src/api/limits.ts'
import { hostOf, inFlight } from '../../src/market/flight.ts'

test('a host has two places, and what waits for one of them leaves no room to take more for it', async () => {
  const flight = inFlight(() => 5)
  const ends: (() => void)[] = []
  const send = (host: string) => {
    const answered = new Promise<void>(resolve => ends.push(resolve))
    return flight.add(host, answered, answered)
  }
  const free = () => [flight.places(), flight.hasPlace('a'), flight.roomAt('a'), flight.roomAt('b')]
  assert.equal(free(), [5, true, 2, 2])
  const first = send('a')
  assert.equal(free(), [4, true, 1, 2])
  flight.waits('a', 1)
  assert.equal(free(), [4, true, 0, 2])
  flight.waits('a', -1)
  const second = send('a')
  assert.equal(free(), [3, false, 0, 2])
  ends[0]!()
  await first
  assert.equal(free(), [4, true, 1, 2])
  ends[1]!()
  await Promise.all([second, flight.ended()])
  assert.equal(free(), [5, true, dispatch.perHost, 2])
})

test('an answer that fails frees its place too', async () => {
  const flight = inFlight(() => 1)
  await flight.add('a', Promise.reject(new Error('lost')), Promise.resolve())
  assert.is(flight.places(), 1)
})

test('a host is a name with its port, whatever the path; what is no address shares one', () => {
  assert.is(hostOf('https://one.example/a?b'), hostOf('https://one.example/c'))
  assert.is.not(hostOf('https://one.example/'), hostOf('https://one.example:444/'))
  assert.equal([hostOf(null), hostOf('nothing')], ['', ''])
})

test.run()
