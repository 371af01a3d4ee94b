/** The way out, against honest and hostile servers on loopback. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createFrontAuthority } from '../../src/sim/https-front.ts'
import type { Lookup, Resolved } from '../../src/world/connect.ts'
import { createEgress, type EgressOptions } from '../../src/world/egress.ts'
import type { Outgoing, OutgoingResult } from '../../src/world/world.ts'

const dev: EgressOptions = { allowLoopback: true, requireHttps: false }
const serve: EgressOptions = { allowLoopback: false, requireHttps: true }
const DEADLINE_MS = 200

const request = (url: string, change: Partial<Outgoing> = {}): Outgoing => ({
  url,
  body: '{"event":"task.submitted"}',
  headers: { 'Content-Type': 'application/json' },
  timeoutMs: 5000,
  maxAnswerBytes: 20_000,
  ...change,
})

/** For servers that let a request wait: it is given little time. */
const impatient = (url: string, body = '{}') => request(url, { body, timeoutMs: DEADLINE_MS })

const reasonOf = (result: OutgoingResult) => (result.ok ? `answered ${result.status}` : result.reason)
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** A server of raw sockets that knows how many are open and how many bytes came in. */
async function rawServer(onSocket: (socket: net.Socket) => void) {
  const open = new Set<net.Socket>()
  let connections = 0
  let bytes = 0
  const server = net.createServer(socket => {
    connections++
    open.add(socket)
    socket.on('error', () => {}).once('close', () => open.delete(socket))
    socket.on('data', chunk => {
      bytes += chunk.length
    })
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as net.AddressInfo
  async function allClosed(withinMs = 500) {
    for (let waited = 0; open.size > 0 && waited < withinMs; waited += 10) await pause(10)
    return open.size === 0
  }
  const close = () => {
    for (const socket of open) socket.destroy()
    server.close()
  }
  return { port, connections: () => connections, bytes: () => bytes, allClosed, close }
}

async function httpServer(handler: http.RequestListener) {
  const server = http.createServer(handler).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url, close }
}

test('post: path, query, headers and body arrive; status, headers and body come back', async () => {
  let seen: Record<string, unknown> = {}
  const server = await httpServer(async (incoming, answer) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method, url, headers } = incoming
    const body = Buffer.concat(chunks).toString()
    seen = { method, url, own: headers['x-own'], encoding: headers['accept-encoding'], body }
    answer.writeHead(201, { 'X-Answer': 'yes', 'Set-Cookie': ['a=1', 'b=2'] }).end('naïve')
  })
  const egress = createEgress(dev)
  const result = await egress.post(
    request(`${server.url}/a%20b?x=%C3%A9`, { body: '{"ü":1}', headers: { 'X-Own': '1' } }),
  )
  assert.ok(result.ok)
  assert.is(result.status, 201)
  assert.is(result.body, 'naïve')
  assert.is(result.headers['x-answer'], 'yes')
  assert.is(result.headers['set-cookie'], 'a=1, b=2')
  assert.ok(Number.isInteger(result.durationMs))
  const expected = { method: 'POST', url: '/a%20b?x=%C3%A9', own: '1', encoding: 'identity', body: '{"ü":1}' }
  assert.equal(seen, expected)
  await egress.close()
  server.close()
})

test('post: one connection serves many requests', async () => {
  const sockets = new Set<unknown>()
  const server = await httpServer((incoming, answer) => {
    sockets.add(incoming.socket)
    incoming.resume().on('end', () => answer.end('ok'))
  })
  const egress = createEgress(dev)
  for (let i = 0; i < 20; i++) {
    assert.ok((await egress.post(request(server.url))).ok)
    await pause(2)
  }
  assert.is(sockets.size, 1)
  await egress.close()
  server.close()
})

test('post: a redirect is just an answer', async () => {
  const canary = await rawServer(() => {})
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await httpServer((_incoming, answer) => {
      const location = `http://127.0.0.1:${canary.port}/`
      answer.writeHead(status, { Location: location, Refresh: `0; url=${location}` }).end()
    })
    const egress = createEgress(dev)
    assert.is(reasonOf(await egress.post(request(server.url))), `answered ${status}`)
    await egress.close()
    server.close()
  }
  assert.is(canary.connections(), 0)
  canary.close()
})

const OK = 'HTTP/1.1 200 OK\r\n'
const forever = (socket: net.Socket, text: string, ms: number) => {
  const timer = setInterval(() => socket.write(text), ms)
  socket.once('close', () => clearInterval(timer))
}
const flood = (socket: net.Socket, text: string) => {
  const more = () => {
    while (!socket.destroyed && socket.write(text)) {}
  }
  socket.on('drain', more)
  more()
}

const hostile: Record<string, [expected: string, (socket: net.Socket) => void]> = {
  'never answers': ['timeout', () => {}],
  'never reads': [
    'timeout',
    socket => {
      socket.pause()
      // To see the end of the connection, it has to read after all.
      setTimeout(() => socket.resume(), DEADLINE_MS + 50)
    },
  ],
  'drips its headers': [
    'timeout',
    socket => {
      socket.write(OK)
      forever(socket, 'X-A: b\r\n', 20)
    },
  ],
  'drips its body': [
    'timeout',
    socket => {
      socket.write(`${OK}Content-Length: 10000\r\n\r\n`)
      forever(socket, 'x', 20)
    },
  ],
  'drips chunks': [
    'timeout',
    socket => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`)
      forever(socket, '1\r\nx\r\n', 20)
    },
  ],
  'says 102 Processing for ever': ['timeout', socket => forever(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 10)],
  'says 100 Continue unasked': ['bad_answer', socket => forever(socket, 'HTTP/1.1 100 Continue\r\n\r\n', 10)],
  'never ends its body': [
    'answered 200',
    socket => {
      socket.write(`${OK}\r\n`)
      flood(socket, 'x'.repeat(65_536))
    },
  ],
  'floods chunks': [
    'answered 200',
    socket => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`)
      flood(socket, `10000\r\n${'x'.repeat(65_536)}\r\n`)
    },
  ],
  'sends 1 MB of headers': [
    'bad_answer',
    socket => {
      socket.write(OK)
      flood(socket, `X-Long: ${'x'.repeat(4000)}\r\n`)
    },
  ],
  'sends one endless header': [
    'bad_answer',
    socket => {
      socket.write(`${OK}X-Long: `)
      flood(socket, 'x'.repeat(4000))
    },
  ],
  'speaks no HTTP': ['bad_answer', socket => void socket.write('SSH-2.0-OpenSSH_9.2\r\n')],
  'has two lengths': [
    'bad_answer',
    socket => void socket.write(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`),
  ],
  'resets at once': ['reset', socket => void socket.resetAndDestroy()],
  'resets after the request': ['reset', socket => void socket.once('data', () => socket.resetAndDestroy())],
  'hangs up after the request': ['reset', socket => void socket.once('data', () => socket.end())],
  'breaks off its body': [
    'reset',
    socket => void socket.once('data', () => socket.end(`${OK}Content-Length: 9\r\n\r\nx`)),
  ],
  'breaks off a chunk': [
    'reset',
    socket => void socket.once('data', () => socket.end(`${OK}Transfer-Encoding: chunked\r\n\r\n9\r\nx`)),
  ],
  'wants to upgrade': [
    'bad_answer',
    socket =>
      void socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      ),
  ],
}

for (const [what, [expected, behave]] of Object.entries(hostile)) {
  test(`hostile: a server that ${what} ends in time as "${expected}", its socket closed`, async () => {
    const server = await rawServer(behave)
    const egress = createEgress(dev)
    const startedAt = performance.now()
    const body = what === 'never reads' ? 'x'.repeat(30_000_000) : '{}'
    const results = await Promise.all(
      [1, 2, 3].map(() => egress.post(impatient(`http://127.0.0.1:${server.port}/`, body))),
    )
    assert.ok(performance.now() - startedAt < DEADLINE_MS + 300, 'in time')
    for (const result of results) {
      assert.is(reasonOf(result), expected)
      if (result.ok) assert.is(result.body.length, 20_000)
    }
    assert.ok(await server.allClosed(), 'no socket stays open')
    await egress.close()
    server.close()
  })
}

test('hostile: after the deadline a slow server gets no socket back, and the next request works', async () => {
  let slow = true
  const server = await httpServer((incoming, answer) => {
    incoming.resume()
    if (!slow) answer.end('ok')
  })
  const egress = createEgress(dev)
  assert.is(reasonOf(await egress.post(impatient(server.url))), 'timeout')
  slow = false
  assert.is(reasonOf(await egress.post(request(server.url))), 'answered 200')
  await egress.close()
  server.close()
})

test('a compressed answer is asked against and never unpacked', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000))
  const server = await httpServer((_incoming, answer) => {
    answer.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb)
  })
  const egress = createEgress(dev)
  const result = await egress.post(request(server.url, { maxAnswerBytes: 100_000 }))
  assert.ok(result.ok && result.body.length <= bomb.length)
  await egress.close()
  server.close()
})

test('an answer of exactly the most bytes is whole, and its connection is used again', async () => {
  const sockets = new Set<unknown>()
  const server = await httpServer((incoming, answer) => {
    sockets.add(incoming.socket)
    incoming.resume().on('end', () => answer.end('x'.repeat(500)))
  })
  const egress = createEgress(dev)
  for (const maxAnswerBytes of [500, 500, 499, 500]) {
    const result = await egress.post(request(server.url, { maxAnswerBytes }))
    assert.is(result.ok && result.body.length, maxAnswerBytes)
  }
  assert.is(sockets.size, 2)
  await egress.close()
  server.close()
})

test('nobody listens: refused; a header that is not allowed: bad_url; neither throws', async () => {
  const server = await rawServer(() => {})
  server.close()
  const egress = createEgress(dev)
  const url = `http://127.0.0.1:${server.port}/`
  assert.is(reasonOf(await egress.post(request(url))), 'refused')
  assert.is(reasonOf(await egress.post(request(url, { headers: { 'X-Bad': 'a\r\nb: c' } }))), 'bad_url')
  assert.is(reasonOf(await egress.post(request(url, { headers: { 'bad name': 'x' } }))), 'bad_url')
  await egress.close()
})

const to = (...addresses: string[]): Resolved[] => addresses.map(address => ({ address, family: net.isIP(address) }))

test('names: any forbidden answer among them refuses the name', async () => {
  const canary = await rawServer(() => {})
  const answers = [to('93.184.216.34', '10.0.0.1'), to('127.0.0.1', '93.184.216.34'), to('2606:4700::1', '::1')]
  answers.push(to('::ffff:127.0.0.1'), to('169.254.169.254'), to('0.0.0.0'), to('not an address'), to('127.0.0.1%lo'))
  for (const answer of answers) {
    const egress = createEgress({ ...serve, lookup: async () => answer })
    const result = await egress.post(request(`https://hooks.example.com:${canary.port}/`))
    assert.is(reasonOf(result), 'private_address', JSON.stringify(answer))
    assert.not.match(result.ok ? '' : result.message, /\d+\.\d+\.\d+|::/, 'what a name leads to is not told')
    await egress.close()
  }
  assert.is(canary.connections(), 0)
  canary.close()
})

test('names: 1,000 look-ups that change each time never reach a canary', async () => {
  const canary = await rawServer(() => {})
  let turn = 0
  const flips = [to('127.0.0.1'), to('10.0.0.1', '93.184.216.34'), to('::1'), to('93.184.216.34', '127.0.0.1')]
  const lookup: Lookup = async () => flips[turn++ % flips.length]!
  const egress = createEgress({ ...serve, lookup })
  const url = `https://rebind.example.com:${canary.port}/`
  const results = await Promise.all(Array.from({ length: 1000 }, () => egress.post(request(url))))
  assert.equal([...new Set(results.map(reasonOf))], ['private_address'])
  assert.is(canary.connections(), 0)
  await egress.close()
  canary.close()
})

test('names: looked up once a connection, and only the answers that were checked are used', async () => {
  const first = await rawServer(socket => void socket.on('data', () => socket.write(`${OK}Content-Length: 0\r\n\r\n`)))
  let lookups = 0
  const lookup: Lookup = async () => (lookups++ === 0 ? to('127.0.0.1') : to('10.0.0.1'))
  const egress = createEgress({ ...dev, lookup })
  const url = `http://flip.example.com:${first.port}/`
  for (let i = 0; i < 5; i++) {
    assert.is(reasonOf(await egress.post(request(url))), 'answered 200')
    await pause(2)
  }
  assert.is(lookups, 1)
  assert.is(first.connections(), 1)
  await egress.close()
  first.close()
})

test('names: the peer is checked again once connected, and not a byte is sent to a wrong one', async () => {
  const canary = await rawServer(() => {})
  for (const scheme of ['https', 'http']) {
    let reads = 0
    // Public when it is checked, loopback when it is used: what a bug below us would look like.
    const shifty = {
      family: 4,
      get address() {
        return reads++ === 0 ? '93.184.216.34' : '127.0.0.1'
      },
    }
    const egress = createEgress({ allowLoopback: false, requireHttps: false, lookup: async () => [shifty] })
    const result = await egress.post(request(`${scheme}://shifty.example.com:${canary.port}/`))
    assert.is(reasonOf(result), 'private_address')
    await egress.close()
  }
  assert.is(canary.connections(), 2)
  assert.is(canary.bytes(), 0)
  assert.ok(await canary.allClosed())
  canary.close()
})

test('names: one that does not exist, one without answers, one that takes for ever', async () => {
  const fault =
    (code: string): Lookup =>
    () =>
      Promise.reject(Object.assign(new Error(code), { code }))
  const cases: [Lookup, string][] = [
    [fault('ENOTFOUND'), 'dns'],
    [fault('EAI_AGAIN'), 'dns'],
    [async () => [], 'dns'],
    [() => new Promise(() => {}), 'timeout'],
  ]
  for (const [lookup, expected] of cases) {
    const egress = createEgress({ ...serve, lookup })
    const startedAt = performance.now()
    assert.is(reasonOf(await egress.post(impatient('https://nobody.example.com/'))), expected)
    assert.ok(performance.now() - startedAt < DEADLINE_MS + 200)
    await egress.close()
  }
})

const authority = createFrontAuthority()

async function tlsServer() {
  let handshakes = 0
  const server = tls.createServer({ ...(await authority.credentials) }, socket => {
    handshakes++
    socket.on('error', () => {}).on('data', () => socket.write(`${OK}Content-Length: 2\r\n\r\nok`))
  })
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return { port: (server.address() as net.AddressInfo).port, handshakes: () => handshakes, close: () => server.close() }
}

test('TLS: trusted with our own authority, even one that is not made yet; refused without', async () => {
  const server = await tlsServer()
  const url = `https://localhost:${server.port}/`
  const pinned = createEgress({ ...dev, requireHttps: true, ca: authority.ca })
  for (let i = 0; i < 3; i++) {
    assert.is(reasonOf(await pinned.post(request(url))), 'answered 200')
    await pause(2)
  }
  assert.is(server.handshakes(), 1)
  assert.is(reasonOf(await pinned.post(request(`https://127.0.0.1:${server.port}/`))), 'answered 200')
  const slow = createEgress({ ...dev, ca: pause(50).then(() => authority.ca) })
  assert.is(reasonOf(await slow.post(request(url))), 'answered 200')
  const never = createEgress({ ...dev, ca: new Promise<string>(() => {}) })
  assert.is(reasonOf(await never.post(impatient(url))), 'timeout')
  const broken = createEgress({ ...dev, ca: Promise.reject(new Error('no authority')) })
  const bare = createEgress(dev)
  for (const egress of [bare, broken]) {
    const result = await egress.post(request(url))
    assert.is(reasonOf(result), 'tls')
    assert.match(result.ok ? '' : result.message, /not trusted here; NODE_EXTRA_CA_CERTS/)
  }
  for (const egress of [pinned, slow, never, broken, bare]) await egress.close()
  server.close()
})

test('TLS: a certificate for another name, and a server that speaks plain text or nothing', async () => {
  const server = await tlsServer()
  const lookup: Lookup = async () => to('127.0.0.1')
  const egress = createEgress({ ...dev, ca: authority.ca, lookup })
  const wrong = await egress.post(request(`https://agent.example.com:${server.port}/`))
  assert.is(wrong.ok ? '' : wrong.message, 'The certificate is not made out to agent.example.com.')
  const plain = await httpServer((_incoming, answer) => void answer.end())
  assert.is(reasonOf(await egress.post(request(plain.url.replace('http:', 'https:')))), 'tls')
  const mute = await rawServer(() => {})
  assert.is(reasonOf(await egress.post(impatient(`https://localhost:${mute.port}/`))), 'timeout')
  assert.ok(await mute.allClosed(), 'a handshake nobody waits for is given up')
  const rude = await rawServer(socket => void socket.once('data', () => socket.resetAndDestroy()))
  assert.is(reasonOf(await egress.post(request(`https://localhost:${rude.port}/`))), 'reset')
  await egress.close()
  for (const each of [server, plain, mute, rude]) each.close()
})

test('TLS: an authority of our own does not switch NODE_EXTRA_CA_CERTS off', async () => {
  const server = await tlsServer()
  const folder = mkdtempSync(join(tmpdir(), 'egress-'))
  const extra = join(folder, 'extra.pem')
  writeFileSync(extra, await authority.ca)
  const other = await createFrontAuthority().ca
  const egressUrl = new URL('../../src/world/egress.ts', import.meta.url).href
  const script = `
    const { createEgress } = await import(${JSON.stringify(egressUrl)})
    for (const ca of [undefined, ${JSON.stringify(other)}]) {
      const egress = createEgress({ allowLoopback: true, requireHttps: true, ca })
      const url = 'https://localhost:${server.port}/'
      const result = await egress.post({ url, body: '{}', headers: {}, timeoutMs: 3000, maxAnswerBytes: 10 })
      console.log(result.ok ? result.status : result.message)
      await egress.close()
    }`
  const run = async (env: NodeJS.ProcessEnv) => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      env: { ...process.env, ...env },
    })
    let out = ''
    child.stdout.on('data', chunk => {
      out += chunk
    })
    await new Promise(resolve => child.once('close', resolve))
    return out.trim().split('\n')
  }
  assert.equal(await run({ NODE_EXTRA_CA_CERTS: extra }), ['200', '200'])
  assert.ok((await run({ NODE_EXTRA_CA_CERTS: '' })).every(line => line.includes('not trusted here')))
  rmSync(folder, { recursive: true })
  server.close()
})

test('close: what is under way ends, nothing starts afterwards, every socket closes', async () => {
  const server = await rawServer(() => {})
  const egress = createEgress(dev)
  const url = `http://127.0.0.1:${server.port}/`
  const underWay = [1, 2, 3].map(() => egress.post(request(url)))
  await pause(50)
  await egress.close()
  assert.equal((await Promise.all(underWay)).map(reasonOf), ['reset', 'reset', 'reset'])
  assert.is(reasonOf(await egress.post(request(url))), 'reset')
  assert.ok(await server.allClosed())
  server.close()
})

test('many at once: every request gets its own answer', async () => {
  const server = await httpServer(async (incoming, answer) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    answer.end(Buffer.concat(chunks))
  })
  const egress = createEgress(dev)
  const bodies = Array.from({ length: 2000 }, (_, i) => `body ${i}`)
  const results = await Promise.all(bodies.map(body => egress.post(request(server.url, { body, timeoutMs: 9000 }))))
  assert.equal(
    results.map(result => (result.ok ? result.body : result.message)),
    bodies,
  )
  await egress.close()
  server.close()
})

test.run()
