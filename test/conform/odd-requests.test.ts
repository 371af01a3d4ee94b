// engines: embedded; process: shared
/** What the judge sends by hand: again where a kept connection is closed on it, and not where a new one is. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Connection, sendByHand } from '../../src/conform/marketplaces/odd-requests.ts'

test('a webhook on whose kept connection the agent hangs up goes out again on another, and counts where that was new', async () => {
  const seen = new WeakMap<object, number>()
  const paths: string[] = []
  let hangsUp = (_request: IncomingMessage) => false
  const server = createServer((request, response) => {
    paths.push(request.url!)
    seen.set(request.socket, (seen.get(request.socket) ?? 0) + 1)
    if (hangsUp(request)) request.socket.resetAndDestroy()
    else response.end('ok')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connection = new Connection()
  const send = (path: string) =>
    sendByHand({ url: `http://127.0.0.1:${port}${path}`, headers: [], body: Buffer.from('{}') }, { connection })
  try {
    assert.is((await send('/first')).answer?.status, 200)
    // As a server does whose time for the connection is over just then.
    hangsUp = request => seen.get(request.socket)! > 1
    assert.is((await send('/second')).answer?.status, 200)
    assert.equal(paths, ['/first', '/second', '/second'])
    hangsUp = () => true
    connection.close()
    const { answer, error } = await send('/third')
    assert.equal([answer, error?.startsWith('reset: ')], [null, true])
    assert.equal(paths.slice(3), ['/third'])
  } finally {
    connection.close()
    server.close()
  }
})

test.run()
