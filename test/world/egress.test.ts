// engines: embedded; process: own
/** The way out, against honest and hostile servers on loopback. */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { createFrontAuthority } from '../../src/sim/agents/https-front.ts'
import type { Resolved } from '../../src/world/egress/addresses.ts'
import type { EgressOptions } from '../../src/world/egress/egress.ts'
import type { Lookup } from '../../src/world/egress/names.ts'
import { ownAddresses, publicRule } from '../../src/world/egress/public-rule.ts'
import type { Outgoing, OutgoingResult } from '../../src/world/world.ts'
import { loader, urlOf } from '../support/child-code.ts'
import { openNameServer } from '../support/name-server.ts'
import { closeOpened, httpServer, openEgress, pause, rawServer, tlsServer } from '../support/servers.ts'

const dev: EgressOptions = { allowLoopback: true, requireHttps: false }
const serve: EgressOptions = { allowLoopback: false, requireHttps: true }
const DEADLINE_MS = 200

const request = (url: string, change: Partial<Outgoing> = {}): Outgoing => ({
  url,
  body: '{"event":"task.submitted"}',
  headers: { 'Content-Type': 'application/json' },
  timeoutMs: 30_000,
  maxResponseBytes: 20_000,
  ...change,
})

/** For servers that let a request wait: it is given little time. */
const impatient = (url: string, body = '{}') => request(url, { body, timeoutMs: DEADLINE_MS })

const reasonOf = (result: OutgoingResult) => (result.ok ? `answered ${result.status}` : result.reason)

test.after.each(closeOpened)

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
  const egress = openEgress(dev)
  const result = await egress.post(
    request(`${server.url}/a%20b?x=%C3%A9`, { body: '{"ü":1}', headers: { 'X-Own': '1' } }),
  )
  assert.ok(result.ok)
  assert.is(result.status, 201)
  assert.is(result.body, 'naïve')
  assert.is(result.headers['x-answer'], 'yes')
  assert.equal(result.headers['set-cookie'], ['a=1', 'b=2'])
  assert.ok(Number.isInteger(result.durationMs))
  const expected = { method: 'POST', url: '/a%20b?x=%C3%A9', own: '1', encoding: 'identity', body: '{"ü":1}' }
  assert.equal(seen, expected)
})

test('post: one connection serves many requests', async () => {
  const sockets = new Set<unknown>()
  const server = await httpServer((incoming, answer) => {
    sockets.add(incoming.socket)
    incoming.resume().on('end', () => answer.end('ok'))
  })
  const egress = openEgress(dev)
  for (let i = 0; i < 20; i++) {
    assert.ok((await egress.post(request(server.url))).ok)
    await pause(2)
  }
  assert.is(sockets.size, 1)
})

test('post: a redirect is just an answer', async () => {
  const canary = await rawServer(() => {})
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await httpServer((_incoming, answer) => {
      const location = `http://127.0.0.1:${canary.port}/`
      answer.writeHead(status, { Location: location, Refresh: `0; url=${location}` }).end()
    })
    const egress = openEgress(dev)
    assert.is(reasonOf(await egress.post(request(server.url))), `answered ${status}`)
  }
  assert.is(canary.connections(), 0)
})

const OK = 'HTTP/1.1 200 OK\r\n'

test('an answer of exactly the most bytes is whole, and its connection is used again', async () => {
  const sockets = new Set<unknown>()
  const server = await httpServer((incoming, answer) => {
    sockets.add(incoming.socket)
    incoming.resume().on('end', () => answer.end('x'.repeat(500)))
  })
  const egress = openEgress(dev)
  for (const maxResponseBytes of [500, 500, 499, 500]) {
    const result = await egress.post(request(server.url, { maxResponseBytes }))
    assert.is(result.ok && result.body.length, maxResponseBytes)
  }
  assert.is(sockets.size, 2)
})

test('nobody listens: refused; a header that is not allowed: bad_url; neither throws', async () => {
  const egress = openEgress(dev)
  const url = `http://127.0.0.1:${await freePort()}/`
  assert.is(reasonOf(await egress.post(request(url))), 'refused')
  assert.is(reasonOf(await egress.post(request(url, { headers: { 'X-Bad': 'a\r\nb: c' } }))), 'bad_url')
  assert.is(reasonOf(await egress.post(request(url, { headers: { 'bad name': 'x' } }))), 'bad_url')
})

const to = (...addresses: string[]): Resolved[] => addresses.map(address => ({ address, family: net.isIP(address) }))

/** What a refusal tells, besides how long it took. */
async function refusalOf(options: EgressOptions, url: string, change: Partial<Outgoing> = {}) {
  const result = await openEgress(options).post(request(url, change))
  if (result.ok) return `answered ${result.status}`
  const { ok: _, durationMs, ...told } = result
  assert.ok(Number.isInteger(durationMs))
  return told
}

const failing =
  (code?: string): Lookup =>
  () =>
    Promise.reject(Object.assign(new Error('no address'), code && { code }))

test('what is refused before anything is sent is told in a sentence each', async () => {
  const agent = 'https://agent.example/'
  const own = 'this says nothing about the agent.'
  const cases: [options: Partial<EgressOptions>, url: string, reason: string, message: string, unclear?: true][] = [
    [serve, 'nonsense', 'bad_url', 'The URL is not an http(s) address.'],
    [serve, 'ftp://agent.example/', 'bad_url', 'The URL is not an http(s) address.'],
    [serve, 'https://me@agent.example/', 'bad_url', 'The URL holds a user name or password; webhooks go without.'],
    [serve, 'https://:word@agent.example/', 'bad_url', 'The URL holds a user name or password; webhooks go without.'],
    [serve, 'http://agent.example/', 'https_required', 'The URL begins with http://; webhooks go to https:// only.'],
    [
      { ...dev, ports: [[8000, 9000]] },
      'http://agent.example/',
      'forbidden_port',
      'Port 80 is not called; webhooks go to ports 8000 to 9000 only.',
    ],
    [{ ...dev, ports: [[80, 80]] }, agent, 'forbidden_port', 'Port 443 is not called; webhooks go to ports 80 only.'],
    [{ ...dev, lookup: failing('ENODATA') }, agent, 'dns', 'The name agent.example has no address.'],
    [{ ...dev, lookup: async () => [] }, agent, 'dns', 'The name agent.example has no address.'],
    [
      { ...serve, lookup: failing('ENODATA') },
      agent,
      'dns',
      'The name agent.example has no public address; webhooks go to public addresses only.',
    ],
    [
      { lookup: failing('ESERVFAIL') },
      agent,
      'dns',
      'The name agent.example could not be looked up (ESERVFAIL).',
      true,
    ],
    [{ lookup: failing() }, agent, 'dns', 'The name agent.example could not be looked up (no code).', true],
    [
      { lookup: failing('EMFILE') },
      agent,
      'own_fault',
      `The marketplace itself could look up no name (EMFILE); ${own}`,
    ],
    [
      { ...dev, lookup: async () => to('10.0.0.7') },
      agent,
      'private_address',
      'An address of agent.example is private; webhooks go to public addresses and this machine only.',
    ],
    [
      dev,
      'http://10.0.0.7/',
      'private_address',
      'The address 10.0.0.7 is private; webhooks go to public addresses and this machine only.',
    ],
  ]
  for (const [options, url, reason, message, unclear] of cases) {
    const due = { reason, message, ...(unclear && { unclear }) }
    assert.equal(await refusalOf({ ...serve, ...options }, url), due)
  }
})

test('a connection that can not be made says whose fault that is, or that it is not clear', async () => {
  const { connect } = net
  const own = 'this says nothing about the agent.'
  const cases: [host: string, code: string, reason: string, message: string, unclear?: true][] = [
    ['agent.example', 'ECONNREFUSED', 'refused', 'Nothing listens at agent.example port 8080.'],
    ['agent.example', 'ETIMEDOUT', 'timeout', 'agent.example port 8080 took no connection in time.', true],
    ['localhost', 'ETIMEDOUT', 'timeout', 'localhost port 8080 took no connection in time.'],
    ['agent.example', 'ECONNRESET', 'reset', 'The connection to agent.example port 8080 was cut off.'],
    ['agent.example', 'EHOSTUNREACH', 'refused', 'There is no way to agent.example port 8080 (EHOSTUNREACH).', true],
    ['localhost', 'EHOSTUNREACH', 'refused', 'There is no way to localhost port 8080 (EHOSTUNREACH).'],
    ...['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'ENETDOWN', 'EPERM', 'EACCES'].map(
      code =>
        ['agent.example', code, 'own_fault', `The marketplace itself could open no connection (${code}); ${own}`] as [
          string,
          string,
          string,
          string,
        ],
    ),
  ]
  try {
    for (const [host, code, reason, message, unclear] of cases) {
      net.connect = (() => new net.Socket().destroy(Object.assign(new Error(code), { code }))) as never
      const options = { ...dev, lookup: async () => to('127.0.0.1') }
      const due = { reason, message, ...(unclear && { unclear }) }
      assert.equal(await refusalOf(options, `http://${host}:8080/`), due)
    }
  } finally {
    net.connect = connect
  }
})

test('of a name with many addresses some are tried, of both families in turn, from the first on', async () => {
  const { connect } = net
  const [fours, sixes] = [
    Array.from({ length: 20 }, (_, n) => `192.0.2.${n + 1}`),
    Array.from({ length: 20 }, (_, n) => `2001:db8::${n + 1}`),
  ]
  let tried: string[] = []
  const triedOf = async (addresses: string[]) => {
    tried = []
    const options = { ...dev, isAllowed: () => true, lookup: async () => to(...addresses) }
    const { message } = (await refusalOf(options, 'http://agent.example:8080/')) as { message: string }
    assert.is(message, `There is no way to agent.example port 8080 (${addresses[0]}).`, 'the first is told')
    return tried
  }
  try {
    net.connect = (({ host }: { host: string }) => {
      tried.push(host)
      return new net.Socket().destroy(Object.assign(new Error(host), { code: host }))
    }) as never
    const all = await triedOf([...fours!, ...sixes!])
    assert.ok(all.length < fours!.length)
    assert.equal(all, fours!.flatMap((four, at) => [four, sixes![at]!]).slice(0, all.length))
    assert.equal(await triedOf(['2001:db8::1', '192.0.2.1', '192.0.2.2', '192.0.2.3']), [
      '2001:db8::1',
      '192.0.2.1',
      '192.0.2.2',
      '192.0.2.3',
    ])
    assert.equal(await triedOf(['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1']), [
      '192.0.2.1',
      '2001:db8::1',
      '192.0.2.2',
      '192.0.2.3',
    ])
  } finally {
    net.connect = connect
  }
})

test('an exchange that does not come to its end is told by how far it came', async () => {
  const answering = (text: string, end = false) =>
    rawServer(socket => void socket.on('data', () => (end ? socket.end(text) : socket.write(text))))
  const [whole, begun] = ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', 'x']
  const closed = { reason: 'reset', message: 'The connection was closed before the answer was complete.' }
  const late = (what: string, time: string) => ({
    reason: 'timeout',
    message: `${what} within ${time}.`,
    unclear: true,
  })
  const cases: [server: ReturnType<typeof answering>, change: Partial<Outgoing>, due: object][] = [
    [answering(''), { timeoutMs: DEADLINE_MS }, late('No answer came', '0.2 seconds')],
    [answering('HTTP/1.1 103 Early Hints\r\n\r\n'), { timeoutMs: 1_000 }, late('No answer came', '1 second')],
    [answering(whole), { timeoutMs: DEADLINE_MS }, late('The answer did not end', '0.2 seconds')],
    [answering(whole + begun), { timeoutMs: 2_000 }, late('The answer did not end', '2 seconds')],
    [answering('', true), {}, closed],
    [answering(whole + begun, true), {}, closed],
    [
      answering('nonsense\r\n\r\n', true),
      {},
      { reason: 'bad_answer', message: 'The answer is not proper HTTP, or its headers are longer than 16 KB.' },
    ],
    [
      answering(''),
      { headers: { 'bad name': 'x' } },
      {
        reason: 'bad_url',
        message: 'The request could not be written: its path or one of its headers is not allowed.',
      },
    ],
  ]
  await Promise.all(
    cases.map(async ([server, change, due]) => {
      const { port } = await server
      assert.equal(await refusalOf(dev, `http://127.0.0.1:${port}/`, change), due)
    }),
  )
})

test('names: any forbidden answer among them refuses the name', async () => {
  const canary = await rawServer(() => {})
  const answers = [to('93.184.216.34', '10.0.0.1'), to('127.0.0.1', '93.184.216.34'), to('2606:4700::1', '::1')]
  answers.push(to('::ffff:127.0.0.1'), to('169.254.169.254'), to('0.0.0.0'), to('not an address'), to('127.0.0.1%lo'))
  for (const answer of answers) {
    const egress = openEgress({ ...serve, lookup: async () => answer })
    const result = await egress.post(request(`https://hooks.example.com:${canary.port}/`))
    assert.is(reasonOf(result), 'dns', JSON.stringify(answer))
    assert.match(result.ok ? '' : result.message, /^The name hooks\.example\.com has no public address; webhooks go to/)
    assert.not.match(result.ok ? '' : result.message, /\d+\.\d+\.\d+|::/, 'what a name leads to is not told')
  }
  assert.is(canary.connections(), 0)
})

test('names: 1,000 look-ups that change each time never reach a canary', async () => {
  const canary = await rawServer(() => {})
  let turn = 0
  const flips = [to('127.0.0.1'), to('10.0.0.1', '93.184.216.34'), to('::1'), to('93.184.216.34', '127.0.0.1')]
  const lookup: Lookup = async () => flips[turn++ % flips.length]!
  const egress = openEgress({ ...serve, lookup })
  const url = `https://rebind.example.com:${canary.port}/`
  const results = await Promise.all(Array.from({ length: 1000 }, () => egress.post(request(url))))
  assert.equal([...new Set(results.map(reasonOf))], ['dns'])
  assert.is(canary.connections(), 0)
})

test('names: looked up once a connection, and only the answers that were checked are used', async () => {
  const first = await rawServer(socket => void socket.on('data', () => socket.write(`${OK}Content-Length: 0\r\n\r\n`)))
  let lookups = 0
  const lookup: Lookup = async () => (lookups++ === 0 ? to('127.0.0.1') : to('10.0.0.1'))
  const egress = openEgress({ ...dev, lookup })
  const url = `http://flip.example.com:${first.port}/`
  for (let i = 0; i < 5; i++) {
    assert.is(reasonOf(await egress.post(request(url))), 'answered 200')
    await pause(2)
  }
  assert.is(lookups, 1)
  assert.is(first.connections(), 1)
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
    const egress = openEgress({ allowLoopback: false, requireHttps: false, lookup: async () => [shifty] })
    const result = await egress.post(request(`${scheme}://shifty.example.com:${canary.port}/`))
    assert.is(reasonOf(result), 'private_address')
  }
  assert.is(canary.connections(), 2)
  assert.is(canary.bytes(), 0)
  assert.ok(await canary.allClosed())
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
    const egress = openEgress({ ...serve, lookup })
    assert.is(reasonOf(await egress.post(impatient('https://nobody.example.com/'))), expected)
  }
})

/** Nothing of this process goes on meanwhile. */
const stall = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('names: of several addresses the first that takes the connection, and none is given up for being slow', async () => {
  const server = await httpServer((_, answer) => void answer.end('here'))
  const url = server.url.replace('127.0.0.1', 'both.example.com')
  const here = { address: '127.0.0.1', family: 4 }
  const elsewhere = { address: '::1', family: 6 }
  for (const addresses of [
    [here, elsewhere],
    [elsewhere, here],
    [elsewhere, elsewhere, here],
  ]) {
    const lookup = async () => {
      setImmediate(stall, 600)
      return addresses
    }
    assert.is(reasonOf(await openEgress({ ...dev, lookup }).post(request(url))), 'answered 200')
  }
  const egress = openEgress({ ...dev, lookup: async () => [elsewhere, elsewhere] })
  const result = await egress.post(request(url))
  assert.is(reasonOf(result), 'refused')
})

test('names: in public, one that leads inside and one that does not exist are told in the same words', async () => {
  const absent = Object.assign(new Error('none'), { code: 'ENOTFOUND' })
  const lookups: Lookup[] = [async () => to('10.0.0.1'), async () => to('169.254.1.1'), () => Promise.reject(absent)]
  const said = await Promise.all(
    lookups.map(async lookup => {
      const result = await openEgress({ ...serve, lookup }).post(request('https://inside.example.com/'))
      return result.ok ? '' : `${result.reason}: ${result.message}`
    }),
  )
  assert.is(new Set(said).size, 1, said.join('\n'))
})

test('ports: in public 443 and those from 1024 on, whatever else is asked for', async () => {
  const egress = openEgress({
    ...serve,
    ports: [
      [443, 443],
      [1024, 65_535],
    ],
    lookup: async () => to('10.0.0.1'),
  })
  for (const [port, expected] of [
    ['', 'dns'],
    [':443', 'dns'],
    [':1024', 'dns'],
    [':65535', 'dns'],
    [':1023', 'forbidden_port'],
    [':22', 'forbidden_port'],
    [':80', 'forbidden_port'],
  ] as const) {
    assert.is(reasonOf(await egress.post(request(`https://agent.example.com${port}/`))), expected, port)
  }
  const refused = await egress.post(request('https://agent.example.com:25/'))
  assert.is(refused.ok ? '' : refused.message, 'Port 25 is not called; webhooks go to ports 443, 1024 to 65535 only.')
})

test('own addresses: what leads back to this machine, and what the operator names, is refused like what is private', async () => {
  const isOwn = ownAddresses(['93.184.216.34', '2606:4700::/32', '198.41.0.0/24'])
  for (const address of ['93.184.216.34', '2606:4700::1', '198.41.0.77', '::ffff:93.184.216.34', '127.0.0.1']) {
    assert.ok(isOwn(address), address)
  }
  for (const address of ['93.184.216.35', '2606:4701::1', '198.41.1.1']) assert.not(isOwn(address), address)
  const egress = openEgress({ ...serve, isOwn })
  assert.is(reasonOf(await egress.post(request('https://93.184.216.34/'))), 'private_address')
  // The address that a deployment is called by is one of them, and its neighbours are not.
  for (const [baseUrl, here, neighbour] of [
    ['https://[2606:4700::1]:8443', '2606:4700::1', '2606:4700::'],
    ['https://93.184.216.34', '93.184.216.34', '93.184.216.35'],
  ] as const) {
    const rule = publicRule(undefined, baseUrl)
    assert.equal([here, neighbour].map(rule.isOwn!), [true, false], baseUrl)
  }
})

test('without a word of the operator webhooks go to 443 and above 1023, and not to the address of the marketplace', () => {
  const open = [
    [443, 443],
    [1024, 65_535],
  ]
  for (const [baseUrl, own, others] of [
    ['http://[2606:4700::7]:3000', '2606:4700::7', ['2606:4700::6', '2606:4700::8']],
    ['http://93.184.216.34', '93.184.216.34', ['93.184.216.35']],
    ['https://market.example', '127.0.0.1', ['93.184.216.34']],
    ['', '127.0.0.1', ['93.184.216.34']],
  ] as const) {
    const { isOwn, ports, ...more } = publicRule(undefined, baseUrl)
    assert.equal([ports, more], [open, {}])
    assert.ok(isOwn!(own), baseUrl)
    for (const other of others) assert.not(isOwn!(other), other)
  }
})

test('what the operator allows is called although it is private; what he denies and where clouds keep keys is not', async () => {
  const server = await httpServer((_, answer) => void answer.end('ok'))
  const port = Number(new URL(server.url).port)
  const open = (allowed: string[], denied: string[] = []) => {
    const rule = publicRule({ ports: [[port, port]], allowed, denied })
    return openEgress({ ...serve, requireHttps: false, ...rule })
  }
  const post = async (egress: ReturnType<typeof openEgress>, host: string) =>
    reasonOf(await egress.post(request(`http://${host}:${port}/`)))
  assert.is(await post(open([]), '127.0.0.1'), 'private_address')
  assert.is((await open(['127.0.0.0/8']).post(request(server.url))).ok, true)
  assert.is((await open(['127.0.0.1']).post(request(`http://[::ffff:127.0.0.1]:${port}/`))).ok, true)
  assert.is(await post(open(['127.0.0.0/8'], ['127.0.0.1']), '127.0.0.1'), 'private_address')
  assert.is(await post(open(['127.0.0.0/8']), '10.0.0.7'), 'private_address')
  for (const host of ['169.254.169.254', '0.0.0.0', '255.255.255.255', '[fe80::1]'])
    assert.is(await post(open(['0.0.0.0/0', '::/0']), host), 'private_address', host)
})

test('a name server that is not there is our own fault, and says nothing about the agent', async () => {
  const server = await openNameServer(() => [])
  server.close()
  const names = { servers: [server.address], hostsPath: '/nonexistent/hosts' }
  const result = await openEgress({ ...serve, names }).post(request('https://agent.example.com/'))
  assert.is(reasonOf(result), 'own_fault')
  assert.match(
    result.ok ? '' : result.message,
    /^The marketplace itself could .*; this says nothing about the agent\.$/,
  )
})

test('without a free descriptor nothing can be sent: our own fault, the process lives, and the next request goes', async () => {
  const server = await httpServer((_, answer) => void answer.end('ok'))
  const script = `
    import { closeSync, openSync } from 'node:fs'
    const { createEgress } = await import('${urlOf('src/world/egress/egress.ts')}')
    const egress = createEgress({ allowLoopback: true, requireHttps: false })
    const ask = async host => {
      const url = ${JSON.stringify(server.url)}.replace('127.0.0.1', host)
      const result = await egress.post({ url, body: '{}', headers: {}, timeoutMs: 5000, maxResponseBytes: 10 })
      console.log(result.ok ? result.status : result.reason)
    }
    for (const host of ['localhost', 'warm.example.com']) await ask(host) // all is loaded by then
    const open = []
    try { for (;;) open.push(openSync('/dev/null')) } catch (error) { console.log(error.code) }
    await ask('127.0.0.1')
    await ask('name.example.com')
    for (const one of open) closeSync(one)
    await ask('127.0.0.1')
    await egress.close()`
  const command = 'ulimit -n 200; exec "$0" "$@"'
  const child = spawn('sh', ['-c', command, process.execPath, ...loader, '--input-type=module', '-e', script])
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (out += chunk))
  await new Promise(resolve => child.once('close', resolve))
  assert.equal(out.trim().split('\n').slice(2), ['EMFILE', 'own_fault', 'own_fault', '200'])
})

const authority = createFrontAuthority()

test('TLS: trusted with our own authority, even one that is not made yet; refused without', async () => {
  const server = await tlsServer(await authority.credentials)
  const url = `https://localhost:${server.port}/`
  const pinned = openEgress({ ...dev, requireHttps: true, ca: authority.ca })
  for (let i = 0; i < 3; i++) {
    assert.is(reasonOf(await pinned.post(request(url))), 'answered 200')
    await pause(2)
  }
  assert.is(server.handshakes(), 1)
  assert.is(reasonOf(await pinned.post(request(`https://127.0.0.1:${server.port}/`))), 'answered 200')
  const slow = openEgress({ ...dev, ca: pause(50).then(() => authority.ca) })
  assert.is(reasonOf(await slow.post(request(url))), 'answered 200')
  const never = openEgress({ ...dev, ca: new Promise<string>(() => {}) })
  assert.is(reasonOf(await never.post(impatient(url))), 'timeout')
  const broken = openEgress({ ...dev, ca: Promise.reject(new Error('no authority')) })
  const bare = openEgress(dev)
  for (const egress of [bare, broken]) {
    const result = await egress.post(request(url))
    assert.is(reasonOf(result), 'tls')
    assert.match(result.ok ? '' : result.message, /not trusted here; NODE_EXTRA_CA_CERTS/)
  }
})

test('TLS: a certificate that was good, or will be, is not good now', async () => {
  const day = 86_400_000
  const at = (days: number) => new Date(Date.now() + days * day)
  const made = { keyType: 'ec', algorithm: 'sha256' } as const
  const root = await generate([{ name: 'commonName', value: 'An authority of a test' }], {
    ...{ ...made, notBeforeDate: at(-9), notAfterDate: at(9) },
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  })
  const saidOf = async (from: number, to: number) => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
      ...{ ...made, notBeforeDate: at(from), notAfterDate: at(to), ca: { key: root.private, cert: root.cert } },
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
    })
    const server = await tlsServer({ key, cert })
    const result = await openEgress({ ...dev, ca: root.cert }).post(request(`https://localhost:${server.port}/`))
    return result.ok ? result.status : result.message
  }
  assert.is(await saidOf(-1, 1), 200)
  assert.is(await saidOf(-2, -1), 'The certificate of localhost has expired.')
  assert.is(await saidOf(1, 2), 'The certificate of localhost is not valid yet.')
})

test('TLS: a certificate for another name, and a server that speaks plain text or nothing', async () => {
  const server = await tlsServer(await authority.credentials)
  const lookup: Lookup = async () => to('127.0.0.1')
  const egress = openEgress({ ...dev, ca: authority.ca, lookup })
  const wrong = await egress.post(request(`https://agent.example.com:${server.port}/`))
  assert.is(wrong.ok ? '' : wrong.message, 'The certificate is not made out to agent.example.com.')
  const plain = await httpServer((_incoming, answer) => void answer.end())
  assert.is(reasonOf(await egress.post(request(plain.url.replace('http:', 'https:')))), 'tls')
  const mute = await rawServer(() => {})
  assert.is(reasonOf(await egress.post(impatient(`https://localhost:${mute.port}/`))), 'timeout')
  assert.ok(await mute.allClosed(), 'a handshake nobody waits for is given up')
  const rude = await rawServer(socket => void socket.once('data', () => socket.resetAndDestroy()))
  const cut = await egress.post(request(`https://localhost:${rude.port}/`))
  assert.equal(
    [reasonOf(cut), cut.ok || cut.message],
    ['reset', 'localhost closed the connection before TLS was agreed.'],
  )
})

test('TLS: an authority of our own does not switch NODE_EXTRA_CA_CERTS off', async () => {
  const server = await tlsServer(await authority.credentials)
  const folder = mkdtempSync(join(tmpdir(), 'egress-'))
  const extra = join(folder, 'extra.pem')
  writeFileSync(extra, await authority.ca)
  const other = await createFrontAuthority().ca
  const script = `
    const { createEgress } = await import('${urlOf('src/world/egress/egress.ts')}')
    for (const ca of [undefined, ${JSON.stringify(other)}]) {
      const egress = createEgress({ allowLoopback: true, requireHttps: true, ca })
      const url = 'https://localhost:${server.port}/'
      const result = await egress.post({ url, body: '{}', headers: {}, timeoutMs: 30_000, maxResponseBytes: 10 })
      console.log(result.ok ? result.status : result.message)
      await egress.close()
    }`
  const run = async (env: NodeJS.ProcessEnv) => {
    const child = spawn(process.execPath, [...loader, '--input-type=module', '-e', script], {
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
})

/** Answers the first request of each connection; what it does about others, and about all once it is `away`, ends the connection. */
async function forgetfulServer(end: (socket: net.Socket) => void, credentials?: Parameters<typeof rawServer>[1]) {
  const seen: string[] = []
  const state = { isAway: false }
  const server = await rawServer(socket => {
    let served = 0
    socket.on('data', chunk => {
      const text = chunk.toString()
      if (!text.startsWith('POST')) return
      seen.push(/^x-own: (\w+)/im.exec(text)?.[1] ?? '')
      if (served++ > 0 || state.isAway) end(socket)
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  }, credentials)
  return { ...server, seen, state }
}

test('a connection that was kept and is closed on the next request: that goes out again, and none on a new one', async () => {
  const fin = (socket: net.Socket) => void socket.end()
  const reset = (socket: net.Socket) => void socket.resetAndDestroy()
  for (const [end, credentials] of [
    [fin, undefined],
    [reset, undefined],
    [fin, await authority.credentials],
  ] as const) {
    const server = await forgetfulServer(end, credentials)
    const egress = openEgress({ ...dev, ca: authority.ca })
    const url = `${credentials ? 'https' : 'http'}://localhost:${server.port}/`
    const post = async (own: string) => {
      await pause(5)
      return reasonOf(await egress.post(request(url, { headers: { 'X-Own': own } })))
    }
    const times = (own: string) => server.seen.filter(one => one === own).length
    const first = ['one', 'two', 'three', 'four', 'five', 'six']
    for (const own of first) assert.is(await post(own), 'answered 200')
    assert.ok(first.some(own => times(own) === 2))
    server.state.isAway = true
    // The first of them may find connections that were kept.
    for (const own of ['a', 'b', 'c']) assert.is(await post(own), 'reset')
    assert.is(times('c'), 1)
  }
})

test('close: what is under way ends, nothing starts afterwards, every socket closes', async () => {
  const server = await rawServer(() => {})
  const egress = openEgress(dev)
  const url = `http://127.0.0.1:${server.port}/`
  const underWay = [1, 2, 3].map(() => egress.post(request(url)))
  await pause(50)
  await egress.close()
  for (const result of [...(await Promise.all(underWay)), await egress.post(request(url))])
    assert.equal(
      [reasonOf(result), result.ok || result.message],
      ['reset', 'The marketplace is closing its connections.'],
    )
  assert.ok(await server.allClosed())
})

test('many at once: every request gets its own answer', async () => {
  const server = await httpServer(async (incoming, answer) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    answer.end(Buffer.concat(chunks))
  })
  const egress = openEgress(dev)
  const bodies = Array.from({ length: 2000 }, (_, i) => `body ${i}`)
  const results = await Promise.all(bodies.map(body => egress.post(request(server.url, { body, timeoutMs: 30_000 }))))
  assert.equal(
    results.map(result => (result.ok ? result.body : result.message)),
    bodies,
  )
})

test.run()
