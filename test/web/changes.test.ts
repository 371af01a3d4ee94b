// engines: embedded, postgres at length; process: shared
/** What changes of one's own, as a stream: to whom it is told, where it goes on, and when all is to be read anew. Source: A-311. */
import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import type http from 'node:http'
import net from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/api/limits.ts'
import { Changes } from '../../src/market/changes.ts'
import { engine } from '../support/databases.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestMarketplaceOptions,
  type TestUser,
} from '../support/marketplace.ts'
import { until } from '../support/patience.ts'

interface Place {
  marketplace: TestMarketplace
  buyer: TestUser
  agent: ListedAgent
  stranger: TestUser
}

async function open(options: TestMarketplaceOptions = {}): Promise<Place> {
  const marketplace = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', payments: 'sandbox', ...options })
  const buyer = await marketplace.join('buyer', 100_000)
  const stranger = await marketplace.join('stranger')
  const agent = await marketplace.list(await marketplace.join('builder'))
  return { marketplace, buyer, agent, stranger }
}

const test = suite<Place>('changes')

test.before(async context => void Object.assign(context, await open()))
test.after(({ marketplace }) => marketplace.close(0))

/** A stream that is read until it is ended. */
function listen({ url }: TestMarketplace, { key }: TestUser, lastId?: string) {
  const ending = new AbortController()
  const heard = { text: '', status: 0, ended: false, end: () => ending.abort() }
  const headers = { authorization: `Bearer ${key}`, ...(lastId && { 'last-event-id': lastId }) }
  const reading = async () => {
    const reply = await fetch(`${url}/api/stream`, { headers, signal: ending.signal })
    heard.status = reply.status
    const decoder = new TextDecoder()
    for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>)
      heard.text += decoder.decode(chunk, { stream: true })
    heard.ended = true
  }
  reading().catch(() => {})
  return heard
}

const isOpen = (heard: { text: string }) => until('it is open', () => heard.text.includes('retry:'))
const changesIn = (text: string) =>
  [...text.matchAll(/^data: (\{"type".*)\n/gm)].map(([, data]) => JSON.parse(data!) as Record<string, string | null>)
const toldOf = (text: string) => changesIn(text).map(({ type, what }) => `${type} ${what}`)
const lastIdIn = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].at(-1)![1]!

test('each account hears of its own, an administrator of all, a stranger of nothing', async context => {
  const { marketplace, buyer, agent, stranger } = context
  const [ofBuyer, ofBuilder, ofAdmin, ofStranger] = [buyer, agent.builder, marketplace.admin, stranger].map(user =>
    listen(marketplace, user),
  ) as [ReturnType<typeof listen>, ReturnType<typeof listen>, ReturnType<typeof listen>, ReturnType<typeof listen>]
  for (const heard of [ofBuyer, ofBuilder, ofAdmin, ofStranger]) await isOpen(heard)
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await marketplace.webhooksSent()
  await buyer.client.sendMessage({ id, content: 'How is it going?' })
  await agent.builder.client.agentAccept({ id })
  await buyer.client.disputeTask({ id, reason: 'Because a test says so.' })
  await agent.builder.client.updateAgent({ id: agent.id, tagline: 'Another one' })
  await until('the last is heard', () => toldOf(ofAdmin.text).some(told => told.startsWith('agent ')))
  await until('the builder has heard it too', () => toldOf(ofBuilder.text).some(told => told.startsWith('agent ')))
  assert.equal(
    new Set(toldOf(ofBuyer.text)),
    new Set(['task submit', 'wallet hold', 'message message', 'task accept', 'task dispute']),
  )
  for (const told of ['task submit', 'webhook delivered', 'notification dispute_opened'])
    assert.ok(toldOf(ofBuilder.text).includes(told), told)
  assert.not.ok(toldOf(ofBuilder.text).includes('wallet hold'))
  const all = new Set(toldOf(ofAdmin.text))
  for (const told of [...toldOf(ofBuyer.text), ...toldOf(ofBuilder.text)]) assert.ok(all.has(told), told)
  assert.equal(toldOf(ofStranger.text), [])
  const subject = { task: 'taskId', message: 'taskId', webhook: 'deliveryId', agent: 'agentId' } as const
  for (const change of changesIn(ofAdmin.text)) {
    assert.ok(change.what, JSON.stringify(change))
    const of = subject[change.type as keyof typeof subject]
    if (of) assert.ok(change[of], `${JSON.stringify(change)} has its ${of}`)
  }
  assert.is(changesIn(ofBuyer.text).find(({ type }) => type === 'task')?.taskId, id)
  // It goes on where it was, and knows of no other process.
  for (const heard of [ofBuyer, ofBuilder, ofAdmin, ofStranger]) heard.end()
  const at = lastIdIn(ofBuyer.text)
  const other = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id: other.id })
  const again = listen(marketplace, buyer, at)
  await until('what was missed is told', () => toldOf(again.text).includes('task submit'))
  assert.not.match(again.text, /resync/)
  const lost = listen(marketplace, buyer, 'another-7')
  await until('it is to be read anew', () => lost.text.includes('event: resync\ndata: {}'))
  assert.equal(toldOf(lost.text), [])
  again.end()
  lost.end()
})

test('what is no longer kept is to be read anew', async ({ marketplace, buyer }) => {
  const changes = marketplace.market.memory.of(Changes)
  const first = listen(marketplace, buyer)
  await isOpen(first)
  changes.tell([buyer.id], 0, { type: 'task', what: 'first' })
  await until('it is heard', () => toldOf(first.text).includes('task first'))
  first.end()
  for (let i = 0; i <= limits.streams.changes; i++) changes.tell([buyer.id], 0, { type: 'task', what: `no. ${i}` })
  const second = listen(marketplace, buyer, lastIdIn(first.text))
  await until('the newest is told', () => toldOf(second.text).includes(`task no. ${limits.streams.changes}`))
  assert.ok(second.text.indexOf('event: resync') < second.text.indexOf('no. '))
  second.end()
})

test('an account has a share of streams', async ({ marketplace, buyer, stranger }) => {
  const all = Array.from({ length: limits.streams.atOnce }, () => listen(marketplace, stranger))
  for (const heard of all) await isOpen(heard)
  assert.is((await stranger.ask('GET', '/api/stream', undefined, 'key')).status, 429)
  assert.is((await stranger.ask('GET', '/api/stream?follow=false', undefined, 'session')).status, 429)
  const other = listen(marketplace, buyer)
  await isOpen(other)
  for (const heard of [...all, other]) heard.end()
})

/** The response that the next request of a stream gets, as the server has it. */
const nextResponse = () =>
  new Promise<http.ServerResponse>(resolve => {
    const take = (message: unknown) => {
      const { request, response } = message as { request: http.IncomingMessage; response: http.ServerResponse }
      if (request.url !== '/api/stream') return
      diagnostics.unsubscribe(STARTED, take)
      resolve(response)
    }
    diagnostics.subscribe(STARTED, take)
  })
const STARTED = 'http.server.request.start'

test('who leaves before a stream begins takes no place', async ({ marketplace, stranger }) => {
  const { db } = marketplace.market
  const port = Number(new URL(marketplace.url).port)
  const asked = `GET /api/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${stranger.key}\r\n\r\n`
  // As long as this unit goes on, whatever is asked of an embedded engine waits.
  let letGo = () => {}
  const unit = db.read(
    () =>
      new Promise<void>(resolve => {
        letGo = resolve
      }),
  )
  for (let others = 1; others <= limits.streams.atOnce; others++) {
    const next = nextResponse()
    const socket = net.connect(port, '127.0.0.1', () => socket.write(asked))
    const response = await next
    if (!db.shared) await until('it waits', () => db.waiting === others)
    socket.destroy()
    await once(response, 'close')
  }
  letGo()
  await unit
  const heard = listen(marketplace, stranger)
  await until('a response', () => heard.status > 0)
  heard.end()
  assert.is(heard.status, 200)
})

test('it ends after a while, so that who has signed out hears no more; other instances are not heard', async () => {
  const { marketplace, buyer } = await open({ bounds: { heartbeatMs: 10 } })
  const heard = listen(marketplace, buyer)
  await until('it has ended', () => heard.ended)
  const beats = heard.text.split(engine === 'postgres' ? 'event: resync' : 'event: alive\ndata: {}').length - 1
  assert.is(beats, limits.streams.comments - 1)
  await marketplace.close(0)
})

test.run()
