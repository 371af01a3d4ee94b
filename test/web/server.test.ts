// engines: embedded; process: shared
/** The HTTP server with a handful of stub endpoints, an empty database in memory and real sockets. It asks the database nothing. */
import http from 'node:http'
import net from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { refuse } from '../../src/api/failures.ts'
import { Created, Json } from '../../src/api/reply.ts'
import { integer, paging, text } from '../../src/api/shapes.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { type Actor, createMarket } from '../../src/market/market.ts'
import type { Config } from '../../src/settings/config.ts'
import { ConstraintError } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import type { Authenticate } from '../../src/web/credentials.ts'
import type { AnyVerb } from '../../src/web/serve.ts'
import { createServer } from '../../src/web/server.ts'
import { createWorld } from '../../src/world/real.ts'
import { bareConfig } from '../support/bare-market.ts'
import { held, hold } from '../support/held.ts'
import { noFiles } from '../support/no-files.ts'
import { PATIENCE_MS } from '../support/patience.ts'

const common = { rate: 'general', summary: '', source: '', reply: z.unknown(), auth: 'public', unit: 'read' } as const
const signedIn = { ...common, auth: 'key-or-session' } as const

const endpoints: Record<string, Endpoint> = {
  open: { ...common, method: 'GET', path: '/api/open' },
  thing: { ...common, method: 'GET', path: '/api/things/:id' },
  special: { ...common, method: 'GET', path: '/api/things/special' },
  list: {
    ...common,
    method: 'GET',
    path: '/api/things',
    query: z.object({ ...paging, q: z.string().optional() }),
    list: 'items',
  },
  make: {
    ...common,
    method: 'POST',
    path: '/api/things',
    auth: 'key-or-session',
    unit: 'write',
    body: z.object({ name: text([2, 10]), size: integer([1, 9]).optional(), tags: z.array(text([1, 3])).optional() }),
  },
  remove: { ...signedIn, method: 'DELETE', path: '/api/things/:id', unit: 'write' },
  keyed: { ...common, method: 'GET', path: '/api/keyed', auth: 'key' },
  sessioned: { ...common, method: 'GET', path: '/api/sessioned', auth: 'session', unit: 'own' },
  build: { ...signedIn, method: 'POST', path: '/api/build', role: 'builder', whenSuspended: 'refused' },
  rule: { ...signedIn, method: 'GET', path: '/api/rule', role: 'admin' },
  signed: { ...common, method: 'POST', path: '/api/signed', auth: 'signature', body: z.object({ a: z.string() }) },
  login: { ...common, method: 'POST', path: '/api/login', unit: 'write', sets: 'session', body: z.object({}) },
  logout: { ...common, method: 'POST', path: '/api/logout', unit: 'write', sets: 'session' },
  dev: { ...common, method: 'GET', path: '/api/dev/only', only: 'dev' },
  broken: { ...common, method: 'GET', path: '/api/broken' },
  raced: { ...common, method: 'GET', path: '/api/raced' },
  gone: { ...common, method: 'GET', path: '/api/gone' },
  held: { ...common, method: 'GET', path: '/api/held', unit: 'own' },
}

const verbs: Record<string, AnyVerb> = {
  open: async ({ actor }) => ({ user: actor?.user.id ?? null, via: actor?.via ?? null }),
  thing: async (_, { params }) => ({ id: params.id }),
  special: async () => new Json('{"id":"the special one"}'),
  list: async (_, { query }) => ({ items: [query.q ?? 'none'], total: 41 }),
  make: async ({ tx, actor }, { body }) => {
    const one = await tx.get('SELECT 1 AS one')
    return new Created({ ...body, one, by: actor.user.id })
  },
  remove: async (_, { params }) => ({ id: params.id }),
  keyed: async () => 'ok',
  sessioned: async ({ db, actor }) => db.read(async () => actor.user.id),
  build: async () => 'built',
  rule: async () => 'ruled',
  signed: async (_, { signed: { timestamp, signature, raw }, body }) => ({
    timestamp: timestamp ?? null,
    signature: signature ?? null,
    raw: raw.toString('latin1'),
    body: body ?? null,
  }),
  login: async () => ({ data: { in: true }, session: 'fresh' }),
  logout: async () => ({ data: { in: false }, session: null }),
  dev: async () => 'dev',
  broken: async () => {
    throw new Error('the secret is 42')
  },
  raced: async () => {
    throw new ConstraintError('unique', 'twice')
  },
  gone: async () => {
    throw refuse('not_found', 'agent')
  },
  held: () => {
    held.begun()
    return held.until
  },
}

const flags: Record<string, object> = { banned: { banned: true }, suspended: { suspended: true } }

function actorOf(name: string, via: Actor['via']): Actor | null {
  const isBuilder = name === 'builder' || name === 'suspended'
  const user = { id: name, isBuilder, isAdmin: name === 'admin', banned: false, suspended: false, ...flags[name] }
  return name === 'bad' ? null : ({ user, via, credential: name } as unknown as Actor)
}

const authenticate: Authenticate = {
  key: async (q, bearer) => {
    await q.get('SELECT 1 AS one')
    return actorOf(bearer.slice(4), 'key')
  },
  session: async (_, cookie) => actorOf(cookie, 'session'),
}

async function start(more: Partial<Config> = {}) {
  const log: LogEntry[] = []
  const db = await openSqlite({ file: null, onFatal: assert.unreachable })
  const config: Config = { ...bareConfig, mode: 'dev', baseUrl: '', ...more }
  const market = createMarket({
    db,
    files: noFiles,
    world: createWorld({ requireHttps: false, allowLoopback: true }),
    config,
    log: (line: LogEntry) => log.push(line),
  })
  const pages = { '/docs': () => ({ type: 'text/html', body: '<p>é' }) }
  const debugged: Readonly<Record<string, unknown>>[] = []
  const debug = (line: Readonly<Record<string, unknown>>) => void debugged.push(line)
  const server = createServer({ endpoints, verbs, market, authenticate, pages, debug })
  return { server, log, debugged, config, db, ...(await server.listen()) }
}

const marketplace = await start()
const { port } = marketplace

interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server sent
  json: any
}

interface Ask {
  method?: string
  headers?: Record<string, string | string[]>
  body?: string | Buffer
  port?: number
}

function ask(path: string, { method = 'GET', headers = {}, body, port: to = port }: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: to, path, method, headers, agent: false }, reply => {
      const chunks: Buffer[] = []
      reply.on('data', chunk => chunks.push(chunk))
      reply.on('error', reject)
      reply.on('end', () => {
        const answer = Buffer.concat(chunks).toString()
        const json = reply.headers['content-type']?.startsWith('application/json') && answer ? JSON.parse(answer) : null
        resolve({ status: reply.statusCode!, headers: reply.headers, text: answer, json })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

const key = (name: string) => ({ authorization: `Bearer svc_${name}` })
const cookie = (name: string) => ({ cookie: `other=1; session=${name}` })
const json = { 'content-type': 'application/json' }
const post = (path: string, body: unknown, headers: Ask['headers'] = key('ann')) =>
  ask(path, {
    method: 'POST',
    headers: { ...json, ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })

/** What the server says to these bytes until it closes the connection. */
function raw(bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`no end after ${answer}`)))
    socket.on('data', data => {
      answer += data
    })
    socket.on('error', reject).on('close', () => resolve(answer))
  })
}

test('a success is the envelope with the headers every answer has', async () => {
  const { status, headers, text, json } = await ask('/api/open')
  assert.is(status, 200)
  assert.equal(json, { success: true, data: { user: null, via: null } })
  assert.is(headers['content-type'], 'application/json; charset=utf-8')
  assert.is(headers['content-length'], String(text.length))
  assert.is(headers['x-service-version'], '9.9.9')
  assert.is(headers['cache-control'], 'no-store')
  assert.is(headers['x-content-type-options'], 'nosniff')
  assert.ok(headers['x-request-id'])
})

test('an unknown path is 404, a wrong method 405 with Allow, HEAD is GET without a body', async () => {
  assert.is((await ask('/api/nothing')).status, 404)
  assert.is((await ask('/')).json.success, false)
  const wrong = await ask('/api/things', { method: 'DELETE' })
  assert.is(wrong.status, 405)
  assert.is(wrong.headers.allow, 'GET, POST, HEAD')
  assert.is((await ask('/healthz', { method: 'PROPFIND' })).status, 405)
  const head = await ask('/api/open', { method: 'HEAD' })
  assert.is(head.status, 200)
  assert.is(head.text, '')
  assert.is(head.headers['content-length'], undefined)
})

test('a fixed path wins over a parameter, whatever the order of the records', async () => {
  assert.is((await ask('/api/things/special')).json.data.id, 'the special one')
  assert.is((await ask('/api/things/a%2Fb')).json.data.id, 'a/b')
})

test('a parameter that can be no id is 404', async () => {
  assert.is((await ask('/api/things/a%00b')).status, 404)
  const { status, json } = await ask(`/api/things/${'x'.repeat(201)}`)
  assert.is(status, 404)
  assert.is(json.error, 'No such thing')
})

test('strange targets get an envelope', async () => {
  for (const path of [
    '//api/open',
    '/api/things/%E0%A4%A',
    '/%',
    `http://localhost:${port}/api/open`,
    '*',
    '/__proto__',
  ]) {
    const { status, json } = await ask(path)
    assert.ok(status === 400 || status === 404, `${path}: ${status}`)
    assert.is(json.success, false)
  }
  assert.is((await ask('/api/list?q=%E0%A4%A', {})).status, 404)
  assert.is((await ask('/api/things?q=%E0%A4%A', {})).status, 200)
})

test('dev answers under loopback names alone', async () => {
  for (const host of ['localhost', `a.b.localhost:${port}`, '127.0.0.1:1', '[::1]:80', 'LOCALHOST']) {
    assert.is((await ask('/api/open', { headers: { host } })).status, 200, host)
  }
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'xlocalhost', '10.0.0.1']) {
    assert.is((await ask('/api/open', { headers: { host } })).status, 403, host)
    assert.is((await ask('/healthz', { headers: { host } })).status, 403, host)
  }
})

test('a list gets its pagination from the query', async () => {
  const { json } = await ask('/api/things?limit=20&page=3&q=a+b%21&unknown=1&unknown=2')
  const pagination = { page: 3, limit: 20, total: 41, totalPages: 3, hasMore: false }
  assert.equal(json.data, { items: ['a b!'], pagination })
  assert.is((await ask('/api/things')).json.data.pagination.hasMore, true)
})

test('a query that is wrong, repeated or holds NUL names its field', async () => {
  const { status, json } = await ask('/api/things?page=x&limit=1&limit=2&q=%00')
  assert.is(status, 400)
  assert.is(json.error, 'Validation failed')
  assert.equal(Object.keys(json.errors).sort(), ['limit', 'page', 'q'])
  assert.equal(json.errors.limit, ['must be given once'])
})

test('a public endpoint knows a good credential and ignores a bad one', async () => {
  assert.equal((await ask('/api/open', { headers: key('ann') })).json.data, { user: 'ann', via: 'key' })
  assert.equal((await ask('/api/open', { headers: cookie('bob') })).json.data, { user: 'bob', via: 'session' })
  assert.equal((await ask('/api/open', { headers: { authorization: 'BEARER   svc_ann' } })).json.data.user, 'ann')
  for (const authorization of ['Bearer svc_bad', 'Bearer', 'Bearer SVC_ann', 'Bearer svc_ann x', 'svc_ann', '']) {
    const answer = await ask('/api/open', { headers: { ...cookie('bob'), authorization } })
    assert.is(answer.json.data.user, null, authorization)
  }
  for (const authorization of ['Basic abc', 'Basic svc_ann', 'Digest x="y"']) {
    const answer = await ask('/api/open', { headers: { ...cookie('bob'), authorization } })
    assert.is(answer.json.data.user, 'bob', authorization)
  }
  const twice = `GET /api/keyed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${'Authorization: Bearer svc_ann\r\n'.repeat(2)}\r\n`
  assert.match(await raw(twice), /^HTTP\/1.1 401 /)
})

test('each kind of endpoint takes its kind of credential', async () => {
  const status = async (path: string, headers: Ask['headers'] = {}) => (await ask(path, { headers })).status
  assert.is(await status('/api/keyed', key('ann')), 200)
  assert.is(await status('/api/keyed', cookie('ann')), 401)
  assert.is(await status('/api/keyed', key('bad')), 401)
  assert.is(await status('/api/keyed'), 401)
  assert.is(await status('/api/sessioned', cookie('ann')), 200)
  assert.is(await status('/api/sessioned', { ...cookie('ann'), ...key('ann') }), 403)
  assert.is(await status('/api/sessioned', key('bad')), 401)
  assert.is(await status('/api/sessioned', cookie('bad')), 401)
  assert.is(await status('/api/sessioned'), 401)
})

test('roles, suspension and bans are refused with 403', async () => {
  assert.is((await post('/api/build', '', key('builder'))).status, 200)
  assert.match((await post('/api/build', '', key('ann'))).json.error, /builder role/)
  assert.match((await post('/api/build', '', key('suspended'))).json.error, /suspended/)
  assert.match((await post('/api/build', '', key('banned'))).json.error, /banned/)
  assert.is((await ask('/api/rule', { headers: key('admin') })).status, 200)
  assert.is((await ask('/api/rule', { headers: key('ann') })).status, 403)
  assert.is((await ask('/api/open', { headers: key('banned') })).status, 403)
  assert.is((await post('/api/login', {}, cookie('banned'))).status, 200)
})

test('a session that comes from another site changes nothing', async () => {
  const send = async (headers: Ask['headers']) =>
    (await ask('/api/things/1', { method: 'DELETE', headers: { ...cookie('ann'), ...headers } })).status
  assert.is(await send({}), 200)
  assert.is(await send({ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }), 200)
  assert.is(await send({ 'sec-fetch-site': 'same-site' }), 403)
  assert.is(await send({ 'sec-fetch-site': 'cross-site' }), 403)
  assert.is(await send({ origin: `http://127.0.0.1:${port}` }), 200)
  assert.is(await send({ origin: `http://localhost:${port}` }), 200)
  assert.is(await send({ origin: 'http://localhost:1' }), 403)
  assert.is(await send({ origin: 'null' }), 403)
  assert.is(await send({ origin: 'https://evil.example' }), 403)
  assert.is(await send({ origin: 'https://evil.example', ...key('ann') }), 200)
  assert.is((await ask('/api/open', { headers: { ...cookie('ann'), 'sec-fetch-site': 'cross-site' } })).status, 200)
})

test('a body becomes the input of its verb', async () => {
  const { status, json } = await post('/api/things', { name: 'box', size: 2, unknown: true })
  assert.is(status, 201)
  assert.equal(json.data, { name: 'box', size: 2, one: { one: 1 }, by: 'ann' })
  const strange = await post(
    '/api/things',
    '{"name":"box","__proto__":{"size":3},"\\u005f_proto__":{"x":1},"constructor":{}}',
  )
  assert.equal(strange.json.data, { name: 'box', one: { one: 1 }, by: 'ann' })
})

test('a body that breaks its shape names every field', async () => {
  const { status, json } = await post('/api/things', { name: 'b', size: '2', tags: ['ok', 'long'] })
  assert.is(status, 400)
  assert.equal(Object.keys(json.errors), ['name', 'size', 'tags'])
  assert.equal(json.errors.size, ['must be an integer'])
  assert.match(json.errors.tags[0], /^\[1\] must have/)
  assert.equal((await ask('/api/things', { method: 'POST', headers: key('ann') })).json.errors, {
    name: ['is required'],
  })
})

test('a body that is no JSON object is 400', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const bodies = ['{', 'null', '[]', '"x"', ' ', `{"name":${deep}}`, Buffer.from('{"name":"\xff\xfe"}', 'latin1')]
  for (const body of bodies) assert.is((await post('/api/things', body)).status, 400, String(body).slice(0, 20))
  assert.match((await post('/api/things', { name: '[[[[{{{{' })).json.data.name, '[[[[')
  const typed = (type: string) => post('/api/things', '{"name":"box"}', { ...key('ann'), 'content-type': type })
  assert.match((await typed('text/plain')).json.error, /application\/json/)
  assert.is((await typed('application/jsonx')).status, 400)
  assert.is((await typed('Application/JSON; charset=utf-8')).status, 201)
})

test('authentication is judged before the body', async () => {
  assert.is((await post('/api/things', '{', {})).status, 401)
  assert.is((await post('/api/things', '{', key('bad'))).status, 401)
  assert.is((await post('/api/things', '{', key('banned'))).status, 403)
})

test('a body over the limit is refused and the client still gets the answer', async () => {
  const large = Buffer.alloc(8 * 1024 * 1024, 0x20)
  const known = await post('/api/things', large)
  assert.is(known.status, 400)
  assert.match(known.json.error, /larger than 1048576 bytes/)
  assert.is(known.headers.connection, 'close')
  const chunked = await post('/api/things', large, { ...key('ann'), 'transfer-encoding': 'chunked' })
  assert.is(chunked.status, 400)
  assert.is((await post('/api/signed', large)).status, 400)
  assert.is((await post('/api/things', large, {})).status, 401)
})

test('a signed request reaches its verb as raw bytes', async () => {
  const headers = {
    'x-service-timestamp': '12',
    'x-service-signature': 'ab',
    cookie: 'session=x',
    'sec-fetch-site': 'cross-site',
  }
  const { json } = await post('/api/signed', '{ no json', headers)
  assert.equal(json.data, { timestamp: '12', signature: 'ab', raw: '{ no json', body: null })
  const twice = await post('/api/signed', '', { 'x-service-timestamp': ['1', '1'] })
  assert.is(twice.json.data.timestamp, null)
})

test('a session is set and ended by the cookie', async () => {
  const { headers } = await post('/api/login', {}, {})
  assert.equal(headers['set-cookie'], ['session=fresh; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax'])
  const out = await post('/api/logout', '', {})
  assert.equal(out.headers['set-cookie'], ['session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'])
  assert.equal(out.json.data, { in: false })
})

test('behind https the cookie has its own name, and what is for dev is not there', async () => {
  const secure = await start({ mode: 'serve', baseUrl: 'https://market.example' })
  const { headers } = await ask('/api/login', { method: 'POST', port: secure.port })
  assert.match(headers['set-cookie']![0]!, /^__Host-session=fresh; .*Secure/)
  const host = 'market.example'
  const open = await ask('/api/open', { port: secure.port, headers: { host, cookie: 'session=a; __Host-session=b' } })
  assert.is(open.json.data.user, 'b')
  assert.is((await ask('/api/dev/only', { port: secure.port })).status, 404)
  assert.is((await ask('/api/dev/only')).status, 200)
  const remove = (origin: string) =>
    ask('/api/things/1', { method: 'DELETE', port: secure.port, headers: { cookie: '__Host-session=b', origin } })
  assert.is((await remove('https://market.example')).status, 200)
  assert.is((await remove(`http://localhost:${secure.port}`)).status, 403)
  await secure.server.close(100)
  await secure.db.close()
})

test('what a verb throws becomes its refusal, and our own faults tell nothing', async () => {
  assert.equal((await ask('/api/gone')).json, { success: false, error: 'No such agent' })
  assert.is((await ask('/api/raced')).status, 409)
  const { status, text, headers } = await ask('/api/broken')
  assert.is(status, 500)
  assert.not.match(text, /42/)
  const line = marketplace.log.find(({ type }) => type === 'error') as Extract<LogEntry, { type: 'error' }>
  assert.is(line.message, 'the secret is 42')
  assert.is(line.requestId, headers['x-request-id'])
})

test('each request is one line in the log, without its query', async () => {
  const { headers } = await ask('/api/things/special?secret=1', { headers: key('ann') })
  const { ms, ...line } = marketplace.log.at(-1) as Extract<LogEntry, { type: 'request' }>
  assert.type(ms, 'number')
  assert.equal(line, {
    ...{ type: 'request', method: 'GET', path: '/api/things/special', route: '/api/things/special', status: 200 },
    ...{ requestId: headers['x-request-id'], userId: 'ann', address: '127.0.0.1' },
  })
  await post('/api/things', {}, key('suspended'))
  const { ms: _ms, requestId, ...refused } = marketplace.log.at(-1) as Extract<LogEntry, { type: 'request' }>
  assert.type(requestId, 'string')
  assert.equal(refused, {
    ...{ type: 'request', method: 'POST', path: '/api/things', route: '/api/things', status: 400 },
    ...{ userId: 'suspended', address: '127.0.0.1', refusal: 'validation_failed' },
  })
})

test('a debug line tells what a request brings by its kind, never what is in it', async () => {
  const last = () => {
    const { ms, requestId, clientPort, ...line } = marketplace.debugged.at(-1)!
    assert.equal([typeof ms, typeof requestId, typeof clientPort], ['number', 'string', 'number'])
    return line
  }
  const plain = { contentType: undefined, bodyBytes: 0, userAgent: undefined, http: '1.1' }
  await ask('/api/open?secret=1', { headers: { ...cookie('ann'), 'user-agent': 'a reader' } })
  const open = { method: 'GET', route: '/api/open', status: 200 }
  assert.equal(last(), { ...open, ...plain, credential: 'cookie', userAgent: 'a reader' })
  await ask('/api/open')
  assert.equal(last(), { ...open, ...plain, credential: 'none' })
  await post('/api/things', { name: 'x', size: 'large' }, { ...key('ann'), 'x-service-signature': 'abc' })
  const made = { method: 'POST', route: '/api/things', status: 400, ...plain, contentType: 'application/json' }
  const refused = { refusal: 'validation_failed', fields: ['name', 'size'] }
  assert.equal(last(), { ...made, bodyBytes: 27, credential: 'signature', ...refused })
  await ask('/nothing', { headers: key('ann') })
  const stray = { method: 'GET', route: null, status: 404, ...plain, credential: 'authorization' }
  assert.equal(last(), { ...stray, refusal: 'no_such_path', fields: [] })
})

test('pages and health are outside the envelope', async () => {
  const health = await ask('/healthz')
  assert.is(health.text, 'ok')
  assert.is(health.headers['x-service-instance'], 'this one')
  assert.is((await ask('/readyz')).status, 200)
  const docs = await ask('/docs')
  assert.is(docs.text, '<p>é')
  assert.is(docs.headers['content-type'], 'text/html')
})

test('readyz says 503 when the embedded engine has stopped', async () => {
  const other = await start()
  assert.is((await ask('/readyz', { port: other.port })).status, 200)
  await other.db.close()
  const { status, text } = await ask('/readyz', { port: other.port })
  assert.is(status, 503)
  assert.is(text, 'the database takes no work')
  assert.is((await ask('/healthz', { port: other.port })).status, 200)
  await other.server.close(0)
})

test('what is no HTTP gets the envelope and the end of the connection', async () => {
  const host = 'Host: localhost\r\nConnection: close\r\n'
  const inputs: readonly (string | Buffer)[] = [
    'hello\r\n\r\n',
    '\0\0\0\0\r\n\r\n',
    `GET /api/things/a\0b HTTP/1.1\r\n${host}\r\n`,
    `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    'GET /api/open HTTP/1.1\r\nConnection: close\r\n\r\n',
    `POST /api/things HTTP/1.1\r\n${host}Authorization: Bearer svc_ann\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `POST /api/things HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    `POST /api/things HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
  ]
  const errors = new Map<string | Buffer, string>([
    [inputs[3]!, 'The headers are too large'],
    [inputs[4]!, 'The Host header is missing'],
  ])
  for (const input of inputs) {
    const answer = await raw(input)
    assert.match(answer, /^HTTP\/1.1 400 Bad Request\r\n/, JSON.stringify(String(input).slice(0, 60)))
    assert.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)), {
      success: false,
      error: errors.get(input) ?? 'This is no HTTP request',
    })
  }
  assert.match(await raw(`OPTIONS * HTTP/1.1\r\n${host}\r\n`), /^HTTP\/1.1 404/)
  assert.match(await raw(`GET /api/open HTTP/1.1\r\n${host}Expect: wonders\r\n\r\n`), /^HTTP\/1.1 200/)
})

test('a client that leaves in the middle of its body harms nothing', async () => {
  const head =
    'POST /api/things HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer svc_ann\r\nContent-Length: 100\r\n\r\n{'
  await new Promise<void>(resolve => {
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 50)),
    )
    socket.on('close', () => resolve())
  })
  assert.is((await ask('/api/open')).status, 200)
})

test('a port in use is refused with what to do', async () => {
  await start({ port }).then(
    () => assert.unreachable(),
    error => assert.is(error.message, `Port ${port} is in use; choose another with --port (0 takes a free one)`),
  )
})

test('closing lets answers finish, ends silent connections, and waits no longer than its grace', async () => {
  const other = await start()
  const silent = net.connect(other.port, '127.0.0.1')
  const silentEnd = new Promise(resolve => silent.on('close', resolve))
  const first = hold()
  const slow = ask('/api/held', { port: other.port })
  await first.begun
  const closed = other.server.close(PATIENCE_MS)
  first.release('slow')
  assert.is((await slow).json.data, 'slow')
  await closed
  await silentEnd
  const cut = await start()
  const { begun } = hold()
  const lost = ask('/api/held', { port: cut.port }).then(
    () => 'answered',
    () => 'cut',
  )
  await begun
  await cut.server.close(20)
  assert.is(await lost, 'cut')
})

test('while it drains it takes no new connection, and tells those it has that it is not ready', async () => {
  const other = await start()
  const kept = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const onKept = (path: string) =>
    new Promise<{ status: number; connection: string | undefined; text: string }>((resolve, reject) => {
      const request = http.get({ host: '127.0.0.1', port: other.port, path, agent: kept }, reply => {
        let text = ''
        reply.on('data', chunk => (text += chunk))
        reply.on('end', () => resolve({ status: reply.statusCode!, connection: reply.headers.connection, text }))
      })
      request.on('error', reject)
    })
  assert.is((await onKept('/readyz')).status, 200)
  const { begun, release } = hold()
  const last = ask('/api/held', { port: other.port })
  await begun
  const closed = other.server.close(PATIENCE_MS)
  assert.equal(await onKept('/readyz'), { status: 503, connection: 'close', text: 'closing' })
  const late = await ask('/api/open', { port: other.port }).then(
    () => 'answered',
    (error: NodeJS.ErrnoException) => error.code,
  )
  assert.is(late, 'ECONNREFUSED')
  release('answered')
  assert.is((await last).json.data, 'answered')
  await closed
  kept.destroy()
})

test.after(() => marketplace.server.close(100))
test.run()
