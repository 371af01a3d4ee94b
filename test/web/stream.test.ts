// engines: embedded; process: shared
/** The log as a stream of server-sent events: what comes, where it goes on, and what bounds it. Source: A-238. */
import http from 'node:http'
import net from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EventStream, type Feed } from '../../src/api/reply.ts'
import { createClient } from '../../src/client/typed-client.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { openMarketplace } from '../../src/open/open.ts'
import { EventStreams } from '../../src/web/stream.ts'
import { Turns } from '../../src/web/turns.ts'
import { openTestMarketplace, type TestMarketplaceOptions } from '../support/marketplace.ts'
import { inTime, PATIENCE_MS, until } from '../support/patience.ts'

async function open(options: TestMarketplaceOptions = {}) {
  const marketplace = await openTestMarketplace(options)
  const { admin, market, url } = marketplace
  const authorization = `Bearer ${admin.key}`
  const ask = (query = '', headers: Record<string, string> = {}) =>
    fetch(`${url}/api/dev/events${query}`, { headers: { authorization, ...headers } })
  const tell = (...words: string[]) => {
    for (const message of words) market.log({ type: 'info', message })
  }
  return { marketplace, ask, tell, authorization }
}

/** Reads raw text until it holds `wanted`. */
async function textUntil(reply: Response, wanted: string): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes(wanted)) break
  }
  return text
}

const messagesIn = (text: string) => [...text.matchAll(/"message":"([^"]*)"/g)].map(([, message]) => message)
const lastIdIn = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].at(-1)![1]!

test('entries come as they are written; Last-Event-ID goes on without a gap and without a repeat', async () => {
  const { marketplace, ask, tell } = await open()
  tell('Before.')
  const first = await ask()
  assert.is(first.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  tell('One.', 'Two.')
  const read = await textUntil(first, 'Two.')
  assert.equal(messagesIn(read), ['One.', 'Two.'], 'what was written before is not told')
  tell('Three.', 'Four.')
  const second = await textUntil(await ask('', { 'last-event-id': lastIdIn(read) }), 'Four.')
  assert.equal(messagesIn(second), ['Three.', 'Four.'])
  const entry = JSON.parse(/^data: (.*Four.*)$/m.exec(second)![1]!)
  assert.is(entry.type, 'info')
  assert.is(new Date(entry.at).toISOString(), entry.at)
  const other = await (await ask('?follow=false', { 'last-event-id': 'another-9' })).text()
  assert.ok(messagesIn(other).includes('Before.'), 'the id of an earlier process means that all is new')
  await marketplace.close()
})

test('a stream that does not follow ends; taskId chooses; after=0 begins with the oldest', async () => {
  const { marketplace, ask, tell } = await open()
  const task = (taskId: string) => ({ type: 'task', taskId, trigger: 'submit', from: 'draft', to: 'pending' }) as const
  tell('Nothing about a task.')
  marketplace.market.log(task('task_1'))
  marketplace.market.log(task('task_2'))
  const text = await (await ask('?after=0&follow=false&taskId=task_2')).text()
  assert.equal(
    [...text.matchAll(/"taskId":"(\w+)"/g)].map(([, id]) => id),
    ['task_2'],
  )
  const client = createClient({ baseUrl: marketplace.url, apiKey: marketplace.admin.key })
  const seen: string[] = []
  for await (const { type, taskId } of await client.watchEvents({ after: 0, follow: 'false' })) {
    if (type === 'task') seen.push(String(taskId))
  }
  assert.equal(seen, ['task_1', 'task_2'])
  await marketplace.close()
})

test('a stream that lost entries says how many', async () => {
  const { marketplace, ask, tell } = await open()
  const many = Array.from({ length: 10_050 }, (_, i) => `Entry ${i}.`)
  tell(...many)
  const text = await (await ask('?after=0&follow=false')).text()
  const { missed } = JSON.parse(/^event: gap\ndata: (.*)$/m.exec(text)![1]!)
  assert.is(
    missed + messagesIn(text).length + (text.match(/"type":"(?!info)/g) ?? []).length,
    Number(lastIdIn(text).split('-')[1]),
  )
  assert.is([...text.matchAll(/^id: /gm)].length, 10_000)
  await marketplace.close()
})

/** Items 3 to 5 are kept of it. */
const kept: Feed = {
  oldest: 3,
  last: 5,
  next: after => (after < 5 ? { number: Math.max(after + 1, 3), text: `"item ${Math.max(after + 1, 3)}"` } : undefined),
  watch: () => () => {},
}

/** All that a stream of what is there sends to who goes on behind `lastId`, or begins after a number. */
async function wholeStream(hints: EventStream['hints'], after: number, lastId?: string): Promise<string> {
  const streams = new EventStreams({ heartbeatMs: PATIENCE_MS, process: 'this', release: () => {} })
  const server = http.createServer((req, res) => {
    const stream = (status: number, type: string, _: null, more: object) =>
      void res.writeHead(status, { 'content-type': type, ...more })
    streams.send(
      { req, res, flow: 'one', server: { turns: new Turns() }, stream },
      new EventStream({ feed: kept, after, follows: false, owner: 'one', ...(hints && { hints }) }),
    )
  })
  const port = await new Promise<number>(resolve =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port)),
  )
  const headers = { connection: 'close', ...(lastId !== undefined && { 'last-event-id': lastId }) }
  const text = await (await fetch(`http://127.0.0.1:${port}`, { headers })).text()
  server.close()
  return text
}

test('a stream tells what it goes on with, what it has lost, and what is to be read anew', async () => {
  const retry = 'retry: 1000\n\n'
  const item = (number: number) => `id: this-${number}\ndata: "item ${number}"\n\n`
  const [resync, all] = ['event: resync\ndata: {}\n\n', item(3) + item(4) + item(5)]
  const gap = (missed: number) => `event: gap\ndata: {"missed":${missed}}\n\n`
  const cases: readonly (readonly [expected: string, ...given: Parameters<typeof wholeStream>])[] = [
    [retry + gap(2) + all, undefined, 0],
    [retry + gap(1) + all, undefined, 1],
    [retry + all, undefined, 2],
    [retry + item(5), undefined, 4],
    [retry, undefined, 5],
    [retry + item(5), undefined, 0, 'this-4'],
    [retry + gap(2) + all, undefined, 4, 'other-4'],
    [retry + item(5), undefined, 4, 'this 4'],
    [retry + item(5), undefined, 4, `this-${'1'.repeat(16)}`],
    [retry + resync + all, 'whole', 0],
    [retry + item(5), 'whole', 0, 'this-4'],
    [retry + resync, 'whole', 4, 'other-4'],
    [retry + resync, 'partial', 4, 'other-4'],
  ]
  for (const [expected, ...given] of cases) assert.is(await wholeStream(...given), expected, JSON.stringify(given))
})

test('four streams for one key; one that ends makes room', async () => {
  const { marketplace, ask } = await open()
  const controllers = [0, 1, 2, 3].map(() => new AbortController())
  const { url, admin } = marketplace
  for (const { signal } of controllers) {
    const headers = { authorization: `Bearer ${admin.key}` }
    assert.is((await fetch(`${url}/api/dev/events`, { headers, signal })).status, 200)
  }
  const fifth = await ask()
  assert.is(fifth.status, 429)
  assert.match(((await fifth.json()) as { error: string }).error, '4 streams are open')
  assert.is((await admin.ask('GET', '/api/dev/clock')).status, 200, 'other requests are not concerned')
  controllers[0]!.abort()
  await until('there is room', async () => {
    const again = await ask('?follow=false')
    await again.text()
    return again.status === 200
  })
  await marketplace.close()
})

test('sixteen streams for one account, however many keys and addresses it has', async () => {
  const { marketplace } = await open()
  const { url, admin } = marketplace
  const left = new AbortController()
  const follow = (key: string, localAddress: string) =>
    new Promise<number>((resolve, reject) => {
      const options = { headers: { authorization: `Bearer ${key}` }, localAddress, signal: left.signal }
      http
        .get(`${url}/api/dev/events`, options, res => resolve(res.statusCode!))
        .on('error', error => (left.signal.aborted ? undefined : reject(error)))
    })
  for (let i = 0; i < 5; i++) {
    const { key } = await admin.client.createKey({ name: `key ${i}` })
    const statuses = []
    for (let n = 0; n < 4; n++) statuses.push(await follow(key, `127.0.0.${10 + i}`))
    assert.equal(statuses, Array(4).fill(i < 4 ? 200 : 429))
  }
  const other = await marketplace.join('other')
  const stream = { headers: { authorization: `Bearer ${other.key}` }, signal: left.signal }
  assert.is((await fetch(`${url}/api/stream`, stream)).status, 200, 'another account has its own')
  left.abort()
  await marketplace.close(0)
})

test('a server that closes ends its streams first, and does not wait for them', async () => {
  const { marketplace, ask } = await open()
  const stream = await ask()
  const graceMs = 2 * PATIENCE_MS
  const [text] = await inTime('its end', Promise.all([stream.text(), marketplace.close(graceMs)]))
  assert.match(text, /^retry: \d+\n\n/)
})

test('a silent stream has a heartbeat', async () => {
  const { marketplace, ask } = await open({ bounds: { heartbeatMs: 20 } })
  const text = await textUntil(await ask(), ': alive\n\n')
  assert.match(text, /^retry: 1000\n\n(?:: alive\n\n)+$/)
  await marketplace.close()
})

test('a reader that does not read is ended, and holds no memory meanwhile', async () => {
  const log: LogEntry[] = []
  const { marketplace, tell, authorization } = await open({
    bounds: { lookMs: 50 },
    log: entry => void log.push(entry),
  })
  const socket = net.connect(Number(new URL(marketplace.url).port), '127.0.0.1')
  const closed = new Promise(resolve => socket.on('close', resolve))
  socket.on('error', () => {}).pause()
  socket.write(`GET /api/dev/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`)
  const words = 'x'.repeat(490)
  await until('it is cut off', () => {
    tell(...Array.from({ length: 100 }, () => words))
    return log.some(entry => entry.type === 'cut_off' && entry.reason === 'slow_reader')
  })
  socket.destroy()
  await closed
  await marketplace.close(0)
})

test('HEAD has no body, and a deployment no stream', async () => {
  const { marketplace, authorization } = await open()
  const head = await fetch(`${marketplace.url}/api/dev/events`, { method: 'HEAD', headers: { authorization } })
  assert.is(await head.text(), '')
  await marketplace.close()
  const login = { email: 'admin@example.com', password: 'the admin of a test' }
  const deployment = await openMarketplace({ mode: 'serve', file: null, admin: login })
  for (const path of ['events', 'exchanges', 'exchanges/exchange_1'])
    assert.is((await fetch(`${deployment.url}/api/dev/${path}`)).status, 404)
  await deployment.close()
})

test.run()
