// engines: embedded; process: shared
/** Whose request is served next: told by the order in which verbs begin and lists are made. Source: A-289. */
import { EventEmitter, once } from 'node:events'
import net from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { EventStream, Json } from '../../src/api/reply.ts'
import { paging } from '../../src/api/shapes.ts'
import { type Actor, createMarket } from '../../src/market/market.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import type { AnyVerb } from '../../src/web/serve.ts'
import { createServer } from '../../src/web/server.ts'
import { MOST_BEHIND } from '../../src/web/sockets/one-at-a-time.ts'
import { Turns } from '../../src/web/turns.ts'
import { createWorld } from '../../src/world/real.ts'
import { bareConfig } from '../support/bare-market.ts'
import { noFiles } from '../support/no-files.ts'
import { until } from '../support/patience.ts'

const common = { rate: 'general', summary: '', source: '', reply: z.unknown(), unit: 'read', auth: 'public' } as const

const endpoints: Record<string, Endpoint> = {
  quick: { ...common, method: 'GET', path: '/api/quick/:id' },
  slow: { ...common, method: 'GET', path: '/api/slow/:id' },
  finish: { ...common, method: 'POST', path: '/api/finish/:id' },
  list: { ...common, method: 'GET', path: '/api/list', query: z.object(paging), list: 'items' },
  stream: { ...common, method: 'GET', path: '/api/stream', auth: 'key', stream: true },
  tell: { ...common, method: 'POST', path: '/api/tell', auth: 'key' },
  own: { ...common, method: 'POST', path: '/api/own', auth: 'key', unit: 'own' },
}

/** What happened, in its order. */
let events: string[] = []

/** Takes longer than a stretch of work, so whatever else has arrived has to wait. */
function block() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6)
}

/** Of which so much is sure. */
const LEAST_MS = 5

/** Has one item once it is told of. */
const feed = {
  oldest: 1,
  last: 0,
  wake: () => {},
  next(after: number) {
    if (after === this.last) return undefined
    events.push('made')
    block()
    return { number: 1, text: '"news"' }
  },
  watch(wake: () => void) {
    this.wake = wake
    return () => {}
  },
}

const LONG = 40
const longItem = (i: number) => {
  const data = {
    toJSON() {
      events.push(`item ${i}`)
      return '\u0001'.repeat(25_000)
    },
  }
  return new Json(undefined, { data, length: 25_000 })
}

const verbs: Record<string, AnyVerb> = {
  quick: async (_, { params }) => void events.push(params.id),
  finish: async (_, { params }) => void events.push(params.id),
  slow: async (_, { params }) => {
    events.push(params.id)
    block()
  },
  stream: async ({ actor }) => new EventStream({ feed, after: 0, follows: true, owner: actor.credential }),
  tell: async () => {
    feed.last = 1
    feed.wake()
    events.push('told')
  },
  own: async ({ db }) => {
    await db.read(async () => block())
    await db.write(async () => block())
  },
  list: async () => ({ items: Array.from({ length: LONG }, (_, i) => longItem(i)), total: LONG }),
}

async function open() {
  events = []
  const db = await openSqlite({ file: null, onFatal: assert.unreachable })
  const market = createMarket({
    db,
    files: noFiles,
    world: createWorld({ requireHttps: false, allowLoopback: true }),
    config: { ...bareConfig, mode: 'dev', baseUrl: '' },
    log: () => {},
  })
  const actor = (id: string) =>
    ({
      user: { id, isBuilder: false, isAdmin: false, banned: false, suspended: false },
      via: 'key',
    }) as unknown as Actor
  const authenticate = { key: async (_: unknown, key: string) => actor(key), session: async () => null }
  const server = createServer({ endpoints, verbs, market, authenticate })
  const { port } = await server.listen()
  let connected = 0
  return {
    server,
    /** Each connection is read from: what is asked on several at once arrives at once. */
    accepted: () => until('all are accepted', () => server.figures().connections === connected),

    async connect(localAddress = '127.0.0.1') {
      const socket = net.connect({ host: '127.0.0.1', port, localAddress, noDelay: true })
      let text = ''
      socket.on('error', () => {}).on('data', chunk => (text += chunk))
      await once(socket, 'connect')
      connected++
      return {
        socket,
        ask: (...requests: string[]) => void socket.write(requests.join('')),
        statuses: () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status)),
        text: () => text,
      }
    },
    async close() {
      await server.close(0)
      await db.close()
    },
  }
}

const request = (method: string, path: string, key?: string) =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${key ? `Authorization: Bearer svc_${key}\r\n` : ''}Content-Length: 0\r\n\r\n`
const gets = (count: number, path: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => request('GET', path(i)))

test('of what comes in one packet one is served, then others have their turn', async () => {
  const { connect, accepted, close } = await open()
  const [packer, other] = [await connect('127.0.0.2'), await connect('127.0.0.3')]
  await accepted()
  packer.ask(...gets(50, i => `/api/slow/packed${i}`))
  other.ask(request('GET', '/api/quick/other'))
  await until('all are answered', () => packer.statuses().length === 50 && other.statuses().length === 1)
  assert.equal(
    events.filter(event => event !== 'other'),
    Array.from({ length: 50 }, (_, i) => `packed${i}`),
    'in their order',
  )
  assert.ok(events.indexOf('other') <= 2, events.join())
  await close()
})

test('so many wait behind the one that is served; one more is refused, and the connection goes on', async () => {
  const { connect, close } = await open()
  const packer = await connect()
  packer.ask(...gets(MOST_BEHIND + 3, i => `/api/quick/${i}`))
  await until('all are answered', () => packer.statuses().length === MOST_BEHIND + 3)
  assert.is(events.length, MOST_BEHIND + 1)
  assert.equal(packer.statuses().slice(-3), [200, 429, 429])
  assert.match(packer.text(), new RegExp(`${MOST_BEHIND} requests of this connection wait`))
  assert.is(packer.text().split('retry-after: 5\r\n').length, 3, 'both are told when to come back')
  packer.ask(request('GET', '/api/quick/more'))
  await until('it is served', () => events.includes('more'))
  await close()
})

test('what a client asked for that has left is not served', async () => {
  const { connect, server, close } = await open()
  const packer = await connect()
  packer.ask(...gets(50, i => `/api/slow/${i}`))
  await until('the first is served', () => events.length > 0)
  packer.socket.destroy()
  await until('it is gone', () => server.figures().connections === 0)
  const { length } = events
  assert.ok(length < 50, `${length} were served`)
  const other = await connect()
  other.ask(request('GET', '/api/quick/other'))
  await until('it is served', () => events.includes('other'))
  assert.ok(events.length <= length + 2, events.join())
  await close()
})

test('ten connections of one account, each from an address of its own, are one flow', async () => {
  const { connect, close } = await open()
  const addresses = Array.from({ length: 10 }, (_, i) => `127.0.0.${10 + i}`)
  const many = await Promise.all(addresses.map(connect))
  const other = await connect('127.0.0.30')
  // From now on it is known whose these keys are.
  for (const [caller, key] of [
    [many[0]!, 'one'],
    [other, 'two'],
  ] as const) {
    caller.ask(request('GET', '/api/quick/first', key))
    await until('it is answered', () => caller.statuses().length === 1)
  }
  events = []
  for (let round = 0; round < 3; round++) for (const caller of many) caller.ask(request('GET', '/api/slow/one', 'one'))
  other.ask(request('GET', '/api/quick/two', 'two'))
  await until('all are served', () => events.length === 31)
  assert.ok(events.indexOf('two') <= 2, events.join())
  await close()
})

test('without an account an address is a flow', async () => {
  const { connect, accepted, close } = await open()
  const many = await Promise.all(Array.from({ length: 10 }, () => connect('127.0.0.40')))
  const other = await connect('127.0.0.41')
  await accepted()
  for (let round = 0; round < 3; round++) for (const caller of many) caller.ask(request('GET', '/api/slow/one'))
  other.ask(request('GET', '/api/quick/two'))
  await until('all are served', () => events.length === 31)
  assert.ok(events.indexOf('two') <= 2, events.join())
  await close()
})

test('what ends open work goes before what reads', async () => {
  const { connect, accepted, close } = await open()
  const callers = await Promise.all(Array.from({ length: 6 }, (_, i) => connect(`127.0.0.${50 + i}`)))
  await accepted()
  for (const [i, caller] of callers.slice(0, 5).entries()) caller.ask(request('GET', `/api/slow/read${i}`))
  callers[5]!.ask(request('POST', '/api/finish/work'))
  await until('all are served', () => events.length === 6)
  assert.ok(events.indexOf('work') <= 2, events.join())
  await close()
})

test('a long list is made in slices: others have their turn between, and it comes whole', async () => {
  const { connect, close } = await open()
  const [reader, other] = [await connect('127.0.0.60'), await connect('127.0.0.61')]
  reader.ask(request('GET', '/api/list'))
  await until('it is begun', () => events.length > 0)
  other.ask(request('GET', '/api/quick/other'))
  await until('both are answered', () => other.statuses().length === 1 && reader.text().endsWith('}}}'))
  const at = events.indexOf('other')
  assert.ok(at > 0 && at < LONG, `served at ${at} of ${LONG}`)
  const [head, body] = reader.text().split('\r\n\r\n') as [string, string]
  assert.is(Number(/content-length: (\d+)/.exec(head)![1]), Buffer.byteLength(body))
  const { data } = JSON.parse(body)
  assert.is(data.items.length, LONG)
  assert.is(data.items[LONG - 1], '\u0001'.repeat(25_000))
  assert.is(data.pagination.total, LONG)
  await close()
})

test('an estimate counts before a request begins, who waits comes by it, and all is forgotten once nobody waits', async () => {
  const turns = new Turns()
  const client = Object.assign(new EventEmitter(), { closed: false })
  const served: string[] = []
  const take = (flow: string, ms: number) => turns.take({ flow, isUrgent: false, ms }, client)
  assert.is(take('one', 50), undefined, 'nobody waits, and there is time')
  const waits = ['one', 'two'].map(flow => take(flow, 0)?.then(() => void served.push(flow)))
  assert.ok(
    waits.every(wait => wait instanceof Promise),
    'what has begun is thought to take all the time',
  )
  await Promise.all(waits)
  assert.equal(served, ['two', 'one'])
  await until('all is forgotten', () => turns.flows === 0)
})

/** Tells what each flow has had beyond estimates, in ms. */
function watchCharges() {
  const { charge } = Turns.prototype
  const had: Record<string, number> = {}
  Turns.prototype.charge = function (flow, ms) {
    had[flow] = (had[flow] ?? 0) + ms
    charge.call(this, flow, ms)
  }
  return { had, restore: () => Object.assign(Turns.prototype, { charge }) }
}

test('what a stream sends is made in a turn of its own, and who follows pays for it', async () => {
  const { connect, close } = await open()
  const { had, restore } = watchCharges()
  const [follower, other] = [await connect(), await connect()]
  follower.ask(request('GET', '/api/stream', 'one'))
  await until('it follows', () => feed.last === 0 && follower.text().includes('retry'))
  other.ask(request('POST', '/api/tell', 'two'))
  await until('it is told', () => follower.text().includes('news'))
  assert.equal(events, ['told', 'made'], 'whoever causes it goes on first')
  assert.ok(had.svc_one! >= LEAST_MS, `${had.svc_one} ms`)
  restore()
  follower.socket.destroy()
  await close()
})

test('a verb that opens its units itself pays for them', async () => {
  const { connect, close } = await open()
  const { had, restore } = watchCharges()
  const caller = await connect()
  caller.ask(request('POST', '/api/own', 'one'))
  await until('it is served', () => caller.statuses().length === 1)
  assert.ok(had.svc_one! >= 2 * LEAST_MS, `${had.svc_one} ms`)
  restore()
  await close()
})

test('nothing is made for a client that has left, nor for HEAD', async () => {
  const { connect, server, close } = await open()
  const reader = await connect()
  reader.ask(request('GET', '/api/list'))
  await until('it is begun', () => events.length > 0)
  reader.socket.destroy()
  await until('it is gone', () => server.figures().connections === 0 && server.figures().turnsWaiting === 0)
  assert.ok(events.length < LONG, `${events.length} items were made`)
  events = []
  const header = await connect()
  header.ask(request('HEAD', '/api/list'))
  await until('it is answered', () => header.text().endsWith('\r\n\r\n'))
  assert.equal(header.statuses(), [200])
  assert.equal(events, [])
  await close()
})

test.run()
