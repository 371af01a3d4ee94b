// engines: embedded; process: shared
/** Bodies of callbacks: however many come at once, one long one alone is held in memory. */
import http from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { latch } from '../../../src/conform/scenarios/latch.ts'
import { Bodies } from '../../../src/sim/callbacks/request-bodies.ts'
import { listen } from '../../support/listen.ts'

const LONG = Buffer.alloc(3 * 1024 * 1024, 'x')

/** Serves until `done`; each body is held until its gate opens. */
async function serving(use: (body: Buffer) => Promise<void>, play: (url: string) => Promise<void>): Promise<void> {
  const bodies = new Bodies()
  const { url, close } = await listen((request, response) => {
    bodies.read(request, use).then(
      () => response.end(),
      () => response.destroy(),
    )
  })
  try {
    await play(url)
  } finally {
    await close()
  }
}

const post = async (url: string, body: Buffer) => (await fetch(url, { method: 'POST', body })).status

test('long bodies are held one at a time, and short ones wait for none', async () => {
  let held = 0
  let most = 0
  const { opened, open } = latch()
  const use = async (body: Buffer) => {
    if (body.length < LONG.length) return
    assert.ok(body.equals(LONG))
    most = Math.max(most, ++held)
    await opened
    held -= 1
  }
  await serving(use, async url => {
    const long = [1, 2, 3].map(() => post(url, LONG))
    for (let count = 0; count < 20; count++) assert.is(await post(url, Buffer.from('short')), 200)
    open()
    assert.equal(await Promise.all(long), [200, 200, 200])
  })
  assert.is(most, 1)
})

test('one that breaks off, or that nobody can use, holds up no other', async () => {
  let count = 0
  const use = async () => {
    if (++count === 1) throw new Error('not this one')
  }
  await serving(use, async url => {
    await post(url, LONG).then(
      () => assert.unreachable(),
      () => {},
    )
    const request = http.request(url, { method: 'POST', headers: { 'content-length': LONG.length } })
    request.on('error', () => {})
    await new Promise(resolve => request.write(LONG.subarray(0, 2 * 1024 * 1024), resolve))
    request.destroy()
    assert.is(await post(url, LONG), 200)
  })
})

test.run()
