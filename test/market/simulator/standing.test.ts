// engines: embedded, postgres and narrow at length; process: shared
/** What a simulator tells everybody who is signed in, and whom it lets in by a click: this machine and its own pages alone. Source: A-310. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import type { MarketplaceError } from '../../../src/client/client.ts'
import { Surroundings } from '../../../src/market/simulator/standing.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

interface Context {
  marketplace: TestMarketplace
  buyer: TestUser
  agent: ListedAgent
  surroundings: Surroundings
}

const test = suite<Context>('a simulator of itself')

test.before(async context => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 100_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const surroundings = marketplace.market.memory.of(Surroundings)
  surroundings.people = { buyer: buyer.id, admin: marketplace.admin.id, builder: 'usr_nobody' }
  Object.assign(context, { marketplace, buyer, agent, surroundings })
})

test.after(({ marketplace }) => marketplace.close())

const signIn = (url: string, as: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/dev/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ as }),
  })

const cookieIn = (reply: Response) => reply.headers.get('set-cookie')!.split(';')[0]!

test('one click is a session, and the next one ends it', async ({ marketplace: { url, admin }, buyer }) => {
  const first = await signIn(url, 'buyer')
  assert.is(first.status, 200)
  assert.match(first.headers.get('set-cookie')!, /HttpOnly/)
  const cookie = cookieIn(first)
  const me = async (session: string) => (await fetch(`${url}/api/auth/me`, { headers: { cookie: session } })).json()
  assert.is(((await me(cookie)) as { data: { user: { id: string } } }).data.user.id, buyer.id)
  const second = cookieIn(await signIn(url, 'admin', { cookie }))
  assert.is(((await me(second)) as { data: { user: { id: string } } }).data.user.id, admin.id)
  assert.is(((await me(cookie)) as { success: boolean }).success, false)
})

test('who is banned or is not there is not let in', async ({ marketplace: { url, admin }, buyer }) => {
  assert.is((await signIn(url, 'builder')).status, 404)
  assert.is((await signIn(url, 'somebody')).status, 400)
  await admin.client.adminUpdateUser({ id: buyer.id, banned: true })
  assert.is((await signIn(url, 'buyer')).status, 403)
  await admin.client.adminUpdateUser({ id: buyer.id, banned: false })
})

const strangers: Record<string, Record<string, string>> = {
  'a page of another site': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  'a page of another port': { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' },
  'an old browser elsewhere': { origin: 'https://evil.example' },
  'somebody behind a proxy': { 'x-forwarded-for': '203.0.113.7' },
  'somebody behind a tunnel': { forwarded: 'for=203.0.113.7' },
}

for (const [who, headers] of Object.entries(strangers))
  test(`${who} is not let in`, async ({ marketplace: { url } }) => {
    const reply = await signIn(url, 'admin', headers)
    assert.is(reply.status, 403)
    assert.is(reply.headers.get('set-cookie'), null)
  })

test('a page of its own is', async ({ marketplace: { url } }) => {
  const own = { 'sec-fetch-site': 'same-origin', origin: url }
  assert.is((await signIn(url, 'admin', own)).status, 200)
})

test('whoever sees a task answers for its agent, and is told what came of it', async context => {
  const { marketplace, buyer, agent, surroundings } = context
  const { id } = await marketplace.draft(buyer, agent)
  const sent: unknown[] = []
  surroundings.callBack = async ({ agentId }, callback) => {
    sent.push(agentId, callback)
    return { status: 409, error: 'It is too late.' }
  }
  const callback = { action: 'reject', reason: 'I write no poems.' } as const
  assert.equal(await buyer.client.answerAsAgent({ id, ...callback }), { status: 409, error: 'It is too late.' })
  assert.equal(sent, [agent.id, callback])
  const stranger = await marketplace.join('stranger')
  const refused = await statusOf(stranger.client.answerAsAgent({ id, ...callback }))
  const wrong = await statusOf(buyer.client.answerAsAgent({ id, action: 'dance' } as never))
  surroundings.callBack = async () => null
  assert.equal([refused, wrong, await statusOf(buyer.client.answerAsAgent({ id, ...callback }))], [403, 400, 404])
  assert.is(sent.length, 2)
})

test('an administrator lets characters come and go, and nobody else', async ({ marketplace, buyer, surroundings }) => {
  const here = new Set<string>()
  surroundings.buyers = {
    all: () => ['easy', 'picky'].map(name => ({ name, does: 'hires', isHere: here.has(name) })),
    async set(name, isHere) {
      if (isHere) here.add(name)
      else here.delete(name)
    },
  }
  const { client } = marketplace.admin
  assert.is((await client.setBuyer({ id: 'picky', isHere: true })).isHere, true)
  const { items } = await client.listBuyers()
  assert.equal(
    items.map(({ isHere }) => isHere),
    [false, true],
  )
  assert.is((await client.setBuyer({ id: 'picky', isHere: false })).isHere, false)
  assert.is(await statusOf(client.setBuyer({ id: 'nobody', isHere: true })), 404)
  assert.is(await statusOf(buyer.client.setBuyer({ id: 'picky', isHere: true })), 403)
})

const statusOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 200,
    ({ status }: MarketplaceError) => status,
  )

test('everybody who is signed in sees what it is, what comes next, and that the books are right', async context => {
  const { marketplace, buyer, agent, surroundings } = context
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await agent.builder.client.agentAccept({ id })
  await agent.builder.client.agentDeliver({ id, content: 'Here it is.' })
  await buyer.client.approveTask({ id })
  const later = marketplace.world.now() + 30 * durations.dayMs
  await marketplace.market.db.write(tx => tx.run('UPDATE jobs SET next_at = $1', [later]))
  await marketplace.webhooksSent()
  surroundings.database = 'dev.db'
  const forwarded = { agentId: agent.id, slug: 'writer', forwardTo: 'http://localhost:1', isUp: true }
  surroundings.agents = () => [{ ...forwarded, command: 'node agent.mjs', pid: 7, startedAt: 0 }]
  marketplace.market.log({ type: 'warning', message: 'Something is odd.', agentId: agent.id })
  const status = await buyer.client.getDevStatus()
  assert.is(status.database.name, 'dev.db')
  assert.equal([status.ledger.ok, status.ledger.problems], [true, 0])
  const { next } = status.clock
  assert.equal(
    [next?.kind, next?.taskId, next?.title, next?.agent],
    ['clearing', id, 'A task of a test', 'test-writer'],
  )
  assert.equal(status.agents, [
    { ...forwarded, command: 'node agent.mjs', pid: 7, startedAt: '1970-01-01T00:00:00.000Z' },
  ])
  assert.equal([status.warnings[0]?.message, status.warnings[0]?.agentId], ['Something is odd.', agent.id])
})

test('what falls due is told with names, in order', async ({ marketplace, buyer, agent }) => {
  const { id } = await marketplace.draft(buyer, agent, { title: 'The next one' })
  agent.sink.answer = () => ({ ok: false, reason: 'reset', message: 'The connection was reset', durationMs: 0 })
  await buyer.client.submitTask({ id })
  await marketplace.webhooksSent()
  const { due, next } = await marketplace.admin.client.getClock({ limit: 5 })
  assert.equal(
    due.map(one => [one.kind, one.about, one.taskId, one.title, one.agent]),
    [
      ['webhook', 'task.submitted', id, 'The next one', 'test-writer'],
      ...due.slice(1).map(one => [one.kind, one.about, one.taskId, one.title, one.agent]),
    ],
  )
  assert.ok(due.length > 1 && due.length <= 5)
  const times = due.map(({ at }) => at)
  assert.equal(times, [...times].sort())
  assert.is(next?.at, due[0]!.at)
})

test.run()
