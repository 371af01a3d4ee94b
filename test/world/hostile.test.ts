// engines: embedded; process: own; lengths: short, long
/** The way out, against endpoints that mean harm: each attempt ends, and takes nothing with it. Source: A-42. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { EgressOptions } from '../../src/world/egress/egress.ts'
import type { Outgoing, OutgoingResult } from '../../src/world/world.ts'
import { type Behaviour, hostile } from '../support/hostile.ts'
import { amount } from '../support/length.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { closeOpened, httpServer, openEgress, pause, rawServer } from '../support/servers.ts'

const dev: EgressOptions = { allowLoopback: true, requireHttps: false }
const SHORT_MS = 200
/** A server that ends by itself is never waited for. */
const LONG_MS = PATIENCE_MS

test.after.each(closeOpened)

const request = (url: string, expected: string, body = '{}'): Outgoing => ({
  url,
  body,
  headers: { 'Content-Type': 'application/json' },
  timeoutMs: expected === 'timeout' ? SHORT_MS : LONG_MS,
  maxResponseBytes: 20_000,
})

const reasonOf = (result: OutgoingResult) => (result.ok ? `answered ${result.status}` : result.reason)

async function attack(behave: Behaviour, expected: string, times: number, body?: string) {
  const server = await rawServer(behave)
  const egress = openEgress(dev)
  const asked = request(`http://127.0.0.1:${server.port}/`, expected, body)
  const results = await Promise.all(Array.from({ length: times }, () => egress.post(asked)))
  for (const result of results) {
    assert.is(reasonOf(result), expected)
    if (result.ok) assert.ok(result.body.length <= 20_000)
  }
  assert.ok(await server.allClosed(), 'no socket stays open')
}

for (const [what, [expected, behave]] of Object.entries(hostile)) {
  test(`a server that ${what} ends as "${expected}", its socket closed`, () => attack(behave, expected, 3))
}

test('a server that never reads ends as "timeout", its socket closed', async () => {
  const deaf: Behaviour = socket => {
    socket.pause()
    // To see the end of the connection, it has to read after all.
    setTimeout(() => socket.resume(), 2 * SHORT_MS)
  }
  await attack(deaf, 'timeout', 3, 'x'.repeat(30_000_000))
})

test('after a deadline a slow server gets no socket back, and the next request works', async () => {
  let slow = true
  const server = await httpServer((incoming, answer) => {
    incoming.resume()
    if (!slow) answer.end('ok')
  })
  const egress = openEgress(dev)
  assert.is(reasonOf(await egress.post(request(server.url, 'timeout'))), 'timeout')
  slow = false
  assert.is(reasonOf(await egress.post(request(server.url, 'answered 200'))), 'answered 200')
})

test('a compressed answer is asked against and never unpacked', async () => {
  let asked = ''
  const server = await httpServer((incoming, answer) => {
    asked = String(incoming.headers['accept-encoding'])
    answer.writeHead(200, { 'Content-Encoding': 'gzip' }).end('packed')
  })
  const result = await openEgress(dev).post(request(server.url, 'answered 200'))
  assert.equal([asked, result.ok && result.body], ['identity', 'packed'])
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function inUse() {
  await pause(50)
  collect()
  const { heapUsed, external } = process.memoryUsage()
  const sockets = process.getActiveResourcesInfo().filter(name => /^(?:TCPSocketWrap|TLSWrap)$/.test(name)).length
  return { bytes: heapUsed + external, sockets }
}

test('of attempts at hostile servers nothing is kept: memory and sockets return to where they were', async () => {
  const all = (times: number) =>
    Promise.all(Object.values(hostile).map(([expected, behave]) => attack(behave, expected, times)))
  await all(10)
  await closeOpened()
  const before = await inUse()
  await all(amount({ short: 20, long: 50 }))
  await closeOpened()
  const after = await inUse()
  assert.is(after.sockets, before.sockets)
  const grown = after.bytes - before.bytes
  assert.ok(grown < 8_000_000, `${grown} bytes more are in use`)
})

test.run()
