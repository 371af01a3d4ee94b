// engines: embedded; process: shared
/** What the judge sends by hand: again where a kept connection is closed on it, and not where a new one is. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bytesOf } from '../../src/conform/history/history.ts'
import { type ByHand, Connection, sendByHand } from '../../src/conform/marketplaces/odd-requests.ts'
import { freePort } from '../../src/sim/agents/free-port.ts'

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

test('what is sent by hand arrives as it was said: in parts, with a method, of a length that is not told, half', async () => {
  let hasPart = () => {}
  const seen: unknown[] = []
  let body = ''
  const ended = new Set<() => void>()
  const server = createServer((request, response) => {
    const { method, headers } = request
    body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk
      hasPart()
    })
    request.on('end', () =>
      response
        .writeHead(
          202,
          [
            ['X-A', '1'],
            ['X-A', '2'],
          ].flat(),
        )
        .end('taken'),
    )
    request.on('close', () => {
      seen.push([method, headers['content-length'] ?? headers['transfer-encoding'] ?? null, body])
      for (const tell of ended) tell()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const send = async (how: ByHand, text = '{"a":1}') => {
    const closed = new Promise<void>(resolve => ended.add(resolve))
    const { answer, error, sentHeaders } = await sendByHand(
      { url, headers: [['X-Of', 'us']], body: Buffer.from(text) },
      how,
    )
    await closed
    const own = answer?.headers.filter(([name]) => name === 'x-a').map(([, value]) => value)
    const told = answer && [answer.status, ...own!, bytesOf(answer.body).toString()]
    return [told, error, sentHeaders.map(line => line.join(': '))]
  }
  /** Resolves when the agent has a part, and what that is. */
  const firstPart = () => {
    let first = ''
    const between = new Promise<void>(resolve => {
      hasPart = () => {
        first ||= body
        resolve()
      }
    })
    return { between, first: () => first }
  }
  const taken = [202, '1', '2', 'taken']
  const told = [taken, null, ['X-Of: us', 'content-length: 7']]
  try {
    assert.equal(await send({}), told)
    assert.equal(await send({ method: 'GET' }, ''), [taken, null, ['X-Of: us']])
    assert.equal(await send({ chunked: true }), [taken, null, ['X-Of: us', 'transfer-encoding: chunked']])
    for (const [how, wanted] of [
      [{ pieces: 3 }, '{"a'],
      [{ cutsAt: [1, 4] }, '{'],
    ] as const) {
      const { between, first } = firstPart()
      assert.equal(await send({ ...how, between }), told)
      assert.is(first(), wanted)
    }
    const closed = await send({ closeAfter: 4 })
    assert.equal(closed.slice(0, 2), [null, 'reset: closed by us'])
    assert.equal(seen, [
      ['POST', '7', '{"a":1}'],
      ['GET', null, ''],
      ['POST', 'chunked', '{"a":1}'],
      ['POST', '7', '{"a":1}'],
      ['POST', '7', '{"a":1}'],
      ['POST', '7', '{"a"'],
    ])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('requests on one connection follow each other, also those that are sent at once', async () => {
  const sockets = new Set<object>()
  const server = createServer((request, response) => {
    sockets.add(request.socket)
    response.end('x'.repeat(1_000_000))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connection = new Connection()
  const request = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    headers: [],
    body: Buffer.from('{}'),
  }
  try {
    const all = await Promise.all(Array.from({ length: 3 }, () => sendByHand(request, { connection })))
    assert.equal([all.map(({ answer }) => answer?.status), sockets.size], [[200, 200, 200], 1])
    const [{ answer }] = all as [(typeof all)[0]]
    assert.ok(answer!.body.size < 1_000_000, 'a long answer is not kept whole')
  } finally {
    connection.close()
    server.close()
  }
})

test('why there is no answer is told: nobody listens, or none came in time', async () => {
  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const errorOf = async (port: number) => {
    const request = { url: `http://127.0.0.1:${port}/`, headers: [], body: Buffer.from('{}') }
    return (await sendByHand(request, { timeoutMs: 300 })).error
  }
  assert.match((await errorOf(await freePort()))!, /^refused: .*ECONNREFUSED/)
  assert.is(await errorOf((silent.address() as AddressInfo).port), 'timeout: no answer came')
  silent.closeAllConnections()
  silent.close()
})

test.run()
