// engines: embedded; process: shared
/** The HTTPS front, with real TLS and real servers on loopback. */
import { X509Certificate } from 'node:crypto'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../../src/sim/agents/free-port.ts'
import { createFrontAuthority, type FrontAuthority, lookup, startFront } from '../../../src/sim/agents/https-front.ts'
import { seenThrough } from '../../../src/world/egress/front-answers.ts'
import { createWorld } from '../../../src/world/real.ts'

const authority = createFrontAuthority(Promise.resolve(['one', 'two']))

interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
}

async function ask(url: string, options: https.RequestOptions = {}, body: Buffer | string = ''): Promise<Answer> {
  const ca = options.ca ?? (await authority.ca)
  return new Promise((resolve, reject) => {
    const request = https.request(url, { agent: false, method: 'POST', ...options, ca }, reply => {
      const chunks: Buffer[] = []
      reply.on('data', chunk => chunks.push(chunk))
      reply.on('end', () => resolve({ status: reply.statusCode!, headers: reply.headers, body: Buffer.concat(chunks) }))
      reply.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

async function plainServer(handler: http.RequestListener) {
  const server = http.createServer(handler)
  // Once it is closed nobody else gets its port.
  const port = await freePort()
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const target = `http://127.0.0.1:${port}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { target, close }
}

const echo: http.RequestListener = (request, answer) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    answer.writeHead(207, [
      'X-Method',
      request.method!,
      'X-Path',
      request.url!,
      'X-Host',
      request.headers.host!,
      'X-Seen',
      request.headers['x-custom'] ?? '',
    ])
    answer.end(Buffer.concat(chunks))
  })
}

/** A front with one agent, and how to close it. */
async function frontOf(target: string, timeoutMs?: number, from: FrontAuthority = authority) {
  const front = await startFront({ authority: from, ...(timeoutMs && { timeoutMs }) })
  return { url: front.route('localhost', target), port: front.port, close: front.close }
}

test('front: method, headers and raw bytes pass both ways; path, query and Host are those of the target', async () => {
  const agent = await plainServer(echo)
  const front = await frontOf(`${agent.target}/hook/a%20b?x=1&y=%2F`)
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 31) & 255))
  const answer = await ask(`${front.url}?z=2`, { method: 'PUT', headers: { 'X-Custom': 'né' } }, bytes)
  assert.is(answer.status, 207)
  assert.is(answer.headers['x-method'], 'PUT')
  assert.is(answer.headers['x-path'], '/hook/a%20b?x=1&y=%2F')
  assert.is(answer.headers['x-seen'], 'né')
  assert.is(answer.headers['x-host'], new URL(agent.target).host)
  assert.ok(answer.body.equals(bytes))
  await front.close()
  agent.close()
})

test('front: a chunked body of a method that seldom has one passes too', async () => {
  const agent = await plainServer(echo)
  const front = await frontOf(agent.target)
  const headers = { 'Transfer-Encoding': 'chunked' }
  const answer = await ask(front.url, { method: 'DELETE', headers }, 'gone')
  assert.is(answer.headers['x-method'], 'DELETE')
  assert.is(answer.body.toString(), 'gone')
  await front.close()
  agent.close()
})

test('front: answers without a body pass (204, 304, HEAD)', async () => {
  let status = 204
  const agent = await plainServer((_request, answer) => {
    answer.statusCode = status
    answer.setHeader('Content-Length', answer.statusCode === 200 ? 5 : 0)
    answer.end()
  })
  const front = await frontOf(agent.target)
  assert.is((await ask(front.url)).status, 204)
  status = 304
  assert.is((await ask(front.url, { method: 'GET' })).status, 304)
  status = 200
  const head = await ask(front.url, { method: 'HEAD' })
  assert.is(head.headers['content-length'], '5')
  await front.close()
  agent.close()
})

test('front: the certificate is made out to localhost, the names under it, 127.0.0.1, ::1 and to nobody else', async () => {
  const agent = await plainServer(echo)
  const front = await frontOf(agent.target)
  const { subjectAltName } = new X509Certificate((await authority.credentials).cert)
  assert.is(
    subjectAltName,
    'DNS:localhost, DNS:one.localhost, DNS:two.localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
  )
  assert.is((await ask(`https://127.0.0.1:${front.port}/`, { headers: { host: 'localhost' } })).status, 207)
  const other = ask(front.url, { servername: 'example.com' }).catch(error => error.code)
  assert.is(await other, 'ERR_TLS_CERT_ALTNAME_INVALID')
  await front.close()
  agent.close()
})

test('front: each authority is its own; another one is not trusted', async () => {
  const agent = await plainServer(echo)
  const front = await frontOf(agent.target)
  const stranger = await createFrontAuthority().ca
  assert.is.not(stranger, await authority.ca)
  const code = await ask(front.url, { ca: stranger }).catch(error => error.code)
  assert.match(code, /UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET_ISSUER|ECONNRESET|CERT_SIGNATURE_FAILURE/)
  await front.close()
  agent.close()
})

test('front: the port is open before the certificate exists, and holds what connects', async () => {
  const agent = await plainServer(echo)
  let release = () => {}
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  const late: FrontAuthority = { ca: authority.ca, credentials: gate.then(() => authority.credentials) }
  const front = await frontOf(agent.target, undefined, late)
  const early = Promise.all([ask(front.url, {}, 'one'), ask(front.url, {}, 'two')])
  const gone = net.connect(Number(new URL(front.url).port), '127.0.0.1')
  await new Promise(resolve => gone.once('connect', resolve))
  gone.destroy()
  const waited = await Promise.race([early, new Promise(resolve => setTimeout(resolve, 150, 'held'))])
  assert.is(waited, 'held')
  release()
  assert.equal(
    (await early).map(answer => answer.body.toString()),
    ['one', 'two'],
  )
  await front.close()
  agent.close()
})

test('front: 502 with a sentence when the agent is not up', async () => {
  const target = `http://127.0.0.1:${await freePort()}`
  const front = await frontOf(target)
  const answer = await ask(front.url, {}, 'x')
  assert.is(answer.status, 502)
  assert.equal(JSON.parse(answer.body.toString()), {
    success: false,
    error: `Nothing listens at ${target}.`,
    answeredBy: 'marketplace dev, not the agent',
  })
  await front.close()
})

test('front: 502 when the agent hangs up, 504 when it stays silent', async () => {
  const rude = net.createServer(socket => socket.on('data', () => socket.destroy())).listen(0, '127.0.0.1')
  await new Promise(resolve => rude.once('listening', resolve))
  const target = `http://127.0.0.1:${(rude.address() as net.AddressInfo).port}`
  const front = await frontOf(target)
  assert.is((await ask(front.url)).status, 502)
  await front.close()
  rude.close()

  const mute = await plainServer(() => {})
  const patient = await frontOf(mute.target, 200)
  const answer = await ask(patient.url)
  assert.is(answer.status, 504)
  assert.match(answer.body.toString(), /gave no answer within 0\.2 seconds/)
  await patient.close()
  mute.close()
})

test('front: who sends through it hears that the agent gave no answer; no agent can claim that', async () => {
  const answers: http.RequestListener[] = [
    (_request, answer) => answer.writeHead(502, { 'X-Marketplace-Front': 'refused' }).end('{"error":"mine"}'),
    request => request.socket.destroy(),
  ]
  const agent = await plainServer((request, answer) => answers.shift()!(request, answer))
  const front = await frontOf(agent.target)
  const { egress } = createWorld({ requireHttps: true, allowLoopback: true, ca: await authority.ca })
  const { post, close } = seenThrough(egress)
  const send = () =>
    post({ url: front.url, body: '{}', headers: {}, timeoutMs: 30_000, maxResponseBytes: 9_999, keepsWire: true })
  const own = await send()
  assert.is(own.ok && own.status, 502, 'the answer of the agent')
  const cut = await send()
  assert.is(!cut.ok && cut.reason, 'reset')
  agent.close()
  const away = await send()
  assert.is(!away.ok && away.message, `Nothing listens at ${agent.target}.`)
  // What is kept of a webhook without an answer is shown as any other.
  const { status, headers, body, isCut, sentHeaders } = away.wire!
  assert.equal({ status, headers, body: body.length, isCut }, { status: null, headers: [], body: 0, isCut: false })
  assert.ok(
    sentHeaders.some(([name]) => /^host$/i.test(name)),
    String(sentHeaders),
  )
  await close()
  await front.close()
})

test('front: an answer that breaks off breaks off for the caller as well', async () => {
  const agent = await plainServer((_request, answer) => {
    answer.writeHead(200, { 'Content-Length': '100' })
    answer.write('some')
    setTimeout(() => answer.destroy(), 20)
  })
  const front = await frontOf(agent.target)
  const code = await ask(front.url).then(
    () => 'whole',
    error => error.code,
  )
  assert.is(code, 'ECONNRESET')
  await front.close()
  agent.close()
})

test('front: each name under localhost has its own agent, over restarts at the same address; others are 404', async () => {
  const [one, two] = [
    await plainServer((_, answer) => answer.end('1')),
    await plainServer((_, answer) => answer.end('2')),
  ]
  const byName = { lookup }
  let front = await startFront({ authority })
  const urls = [front.route('one', one.target), front.route('two', two.target.replace('127.0.0.1', 'here.localhost'))]
  const bodies = async () => Promise.all(urls.map(async url => (await ask(url, byName)).body.toString()))
  assert.equal(urls, [`https://one.localhost:${front.port}/webhook`, `https://two.localhost:${front.port}/webhook`])
  assert.equal(await bodies(), ['1', '2'])
  const nobody = await ask(urls[0]!, { ...byName, servername: 'one.localhost', headers: { host: 'three.localhost' } })
  assert.is(nobody.status, 404)
  assert.is(JSON.parse(nobody.body.toString()).error, 'No agent is called three here.')
  await front.close()
  front = await startFront({ authority, port: front.port })
  assert.equal([front.route('one', two.target), front.route('two', one.target)], urls)
  assert.equal(await bodies(), ['2', '1'])
  await front.close()
  one.close()
  two.close()
})

test('front: a target that is not plain http on this machine is refused', async () => {
  const front = await startFront({ authority })
  for (const target of [
    'https://localhost:1',
    'http://example.com',
    'http://10.0.0.1',
    'ftp://localhost',
    'nonsense',
  ]) {
    assert.throws(() => front.route('localhost', target), /must be http:\/\/ on this machine/)
  }
  await front.close()
})

test('front: a taken port rejects; close frees the port and every connection', async () => {
  const agent = await plainServer(echo)
  const port = await freePort()
  const front = await startFront({ authority, port })
  const second = await startFront({ authority, port }).catch(error => error.code)
  assert.is(second, 'EADDRINUSE')
  const idle = net.connect(port, '127.0.0.1').on('error', () => {})
  await new Promise(resolve => idle.once('connect', resolve))
  await front.close()
  if (!idle.closed) await new Promise(resolve => idle.once('close', resolve))
  const again = await startFront({ authority, port })
  assert.is(again.port, port)
  await again.close()
  agent.close()
})

test.run()
