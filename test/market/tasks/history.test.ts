// engines: embedded, postgres and narrow at length; process: shared
/** What is told of the life of a task: all of it, in order, to each party its own, and the same after a restart. Source: A-305. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { durations, limits } from '../../../src/api/limits.ts'
import type { TaskHappening as Happening, HappeningOf } from '../../../src/api/task-history.ts'
import { answered } from '../../../src/world/virtual.ts'
import { engine } from '../../support/databases.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

interface Context {
  dev: Place
  deployment: Place
}

interface Place {
  marketplace: TestMarketplace
  buyer: TestUser
  builder: TestUser
  agent: ListedAgent
  close(): Promise<unknown>
}

async function open(options: Parameters<typeof openTestMarketplace>[0] = {}): Promise<Place> {
  const marketplace = await openTestMarketplace(options)
  const [buyer, builder] = [await marketplace.join('buyer', 100_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  await marketplace.stopHeartbeat()
  return { marketplace, buyer, builder, agent, close: () => marketplace.close() }
}

const history = suite<Context>('history')

history.before(async context => {
  context.dev = await open()
  context.deployment = await open({ mode: 'serve', rateLimits: 'off', payments: 'sandbox' })
})

history.after(async ({ dev, deployment }) => {
  await dev.close()
  await deployment.close()
})

async function told(user: TestUser, id: string): Promise<Happening[]> {
  const { items, pagination } = await user.client.getTaskHistory({ id, limit: 100 })
  assert.is(pagination.total, items.length)
  const beginnings = items.map(({ at }) => at)
  assert.equal(beginnings, [...beginnings].sort(), 'in the order of their beginnings')
  assert.is(new Set(items.map(one => one.id)).size, items.length, 'ids tell them apart')
  return items as Happening[]
}

const kinds = <Kind extends Happening['kind']>(all: readonly Happening[], kind: Kind) =>
  all.filter((one): one is HappeningOf<Kind> => one.kind === kind)

/** A line for each. */
function inWords(one: Happening): string {
  switch (one.kind) {
    case 'request':
    case 'callback':
      return `${one.by.party} ${one.kind} ${one.action} ${one.via ?? '-'} ${one.status}`
    case 'webhook':
      return `${one.event} ${one.attempt} ${one.outcome} ${one.status}`
    case 'transition':
      return `${one.by.party}: ${one.from} → ${one.to}`
    case 'transfer':
      return `${one.type} ${one.amount}: ${one.from.account} of ${one.from.party} → ${one.to.account} of ${one.to.party}`
    case 'message':
      return `${one.senderRole}: ${one.text}`
    case 'deliverable':
      return `version ${one.version}: ${one.text}`
    case 'review':
      return `${one.rating} stars`
    case 'dispute':
      return `${one.by.party} disputes: ${one.reason}`
    case 'decision':
      return `${one.by.party} decides: ${one.outcome} ${one.refundAmount}`
    default:
      return `${one.by.party} ${one.kind}`
  }
}

/** Submitted in vain once, revised, disputed and split; each step some time after the one before. */
async function lifeIn({ marketplace, buyer, builder, agent }: Place): Promise<string> {
  const { admin, pass, webhooksSent } = marketplace
  const { id } = await marketplace.draft(buyer, agent)
  await pass(1_000)
  agent.sink.answer = () => answered(500, 'not yet')
  await buyer.client.submitTask({ id })
  await webhooksSent()
  agent.sink.answer = () => answered(200, 'ok')
  await pass(durations.hourMs)
  await webhooksSent()
  await pass(1_000)
  await builder.client.agentAccept({ id })
  await pass(1_000)
  await buyer.call('POST', `/api/tasks/${id}/messages`, { content: 'How is it going?' })
  await webhooksSent()
  await pass(1_000)
  await marketplace.callback(agent, id, { action: 'deliver', content: 'First.' })
  await pass(1_000)
  await buyer.client.requestRevision({ id, reason: 'Shorter, if that can be.' })
  await webhooksSent()
  await pass(1_000)
  await builder.call('POST', `/api/tasks/${id}/deliver`, { content: '1st' })
  await pass(1_000)
  await buyer.client.disputeTask({ id, reason: 'It is too short by now.' })
  await webhooksSent()
  await pass(1_000)
  await admin.call('POST', `/api/admin/tasks/${id}/resolve`, { outcome: 'split', refundAmount: 400 })
  return id
}

const whole = [
  'buyer request create - 201',
  'buyer request submit key 200',
  'buyer: draft → pending',
  'hold 1000: available of buyer → held of buyer',
  'task.submitted 1 retry 500',
  'task.submitted 2 delivered 200',
  'agent callback accept key 200',
  'agent: pending → in_progress',
  'buyer request message session 201',
  'buyer: How is it going?',
  'task.message 1 delivered 200',
  'agent callback deliver signature 200',
  'version 1: First.',
  'agent: in_progress → delivered',
  'buyer request request_revision key 200',
  'buyer: delivered → in_progress',
  'task.revision_requested 1 delivered 200',
  'agent request deliver session 200',
  'version 2: 1st',
  'agent: in_progress → delivered',
  'buyer request dispute key 200',
  'buyer disputes: It is too short by now.',
  'task.disputed 1 delivered 200',
  'admin request resolve_split session 200',
  'admin decides: split 400',
  'admin: delivered → completed',
  'refund 400: held of buyer → available of buyer',
  'release 600: held of buyer → available of agent',
]

const isTransport = (line: string) => / callback |^task\./.test(line)

history('a life is told whole: who asked, what was sent, what changed, and each cent', async ({ deployment }) => {
  const { marketplace, buyer, builder } = deployment
  const id = await lifeIn(deployment)
  const ofBuilder = (await told(builder, id)).map(inWords)
  // The parts of a split are of one moment.
  assert.equal([...ofBuilder.slice(0, -2), ...ofBuilder.slice(-2).sort()], whole)
  assert.equal((await told(marketplace.admin, id)).map(inWords), ofBuilder)
  const ofBuyer = (await told(buyer, id)).map(inWords)
  assert.equal(
    ofBuyer,
    ofBuilder.filter(line => !isTransport(line)),
    'a buyer sees no webhooks and no callbacks',
  )
})

history('names are told to those who know them', async ({ deployment }) => {
  const { marketplace, buyer, builder, agent } = deployment
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  const namesFor = async (user: TestUser) => (await told(user, id)).map(({ by }) => [by.userId, by.name])
  assert.equal((await namesFor(buyer))[0], [buyer.id, 'buyer'])
  assert.equal((await namesFor(marketplace.admin))[0], [buyer.id, 'buyer'])
  assert.equal((await namesFor(builder))[0], [buyer.id, null])
  const stranger = await marketplace.join('stranger')
  assert.is((await stranger.ask('GET', `/api/tasks/${id}/history`)).status, 403)
})

history('what is refused leaves no step', async ({ deployment }) => {
  const { marketplace, buyer, builder, agent } = deployment
  const { id } = await marketplace.draft(buyer, agent)
  assert.is((await buyer.ask('POST', `/api/tasks/${id}/approve`)).status, 400)
  assert.is((await builder.ask('POST', `/api/tasks/${id}/submit`)).status, 403)
  assert.equal((await told(buyer, id)).map(inWords), ['buyer request create - 201'])
})

history('it comes in pages, and of many messages has the last', async ({ deployment }) => {
  const { marketplace, buyer, agent } = deployment
  const { ofEach, characters } = limits.history
  const { id } = await marketplace.draft(buyer, agent)
  const row = `INSERT INTO messages (id, task_id, sender_id, sender_role, content, created_at) `
  const numbers = 'WITH RECURSIVE series (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < $4)'
  const padded = `$1 || substr(CAST(100000 + n AS TEXT), 2)`
  await marketplace.market.db.write(tx =>
    tx.run(
      `${row} ${numbers} SELECT ${padded}, $1, $2, 'buyer', 'No. ' || CAST(n AS TEXT) || ' ' || $3, ${marketplace.world.now()} + n FROM series`,
      [id, buyer.id, '𝄞'.repeat(characters), ofEach],
    ),
  )
  const first = await buyer.client.getTaskHistory({ id, limit: 3 })
  assert.is(first.pagination.total, ofEach + 1, 'and the creation of the task')
  const messages = kinds(first.items as Happening[], 'message')
  assert.match(messages[0]!.text!, /^No\. 1 𝄞/, 'the oldest of them is left out')
  assert.ok(messages[0]!.cut)
  assert.is([...messages[0]!.text!].length, characters)
  const last = await buyer.client.getTaskHistory({ id, limit: 100, page: Math.ceil((ofEach + 1) / 100) })
  assert.match(kinds(last.items as Happening[], 'message').at(-1)!.text!, new RegExp(`^No\\. ${ofEach} `))
})

history('a payment clears, and is told of', async ({ deployment }) => {
  const { marketplace, buyer, builder, agent } = deployment
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await builder.client.agentAccept({ id })
  await builder.client.agentDeliver({ id, content: 'Here it is.' })
  await buyer.client.approveTask({ id })
  await buyer.client.submitReview({ id, rating: 4 })
  await marketplace.pass(durations.clearingMs)
  const all = await told(buyer, id)
  assert.equal(kinds(all, 'transfer').map(inWords), [
    'hold 1000: available of buyer → held of buyer',
    'release 1000: held of buyer → clearing of agent',
    'cleared 1000: clearing of agent → available of agent',
  ])
  assert.equal(kinds(all, 'review').map(inWords), ['4 stars'])
  await marketplace.checkLedger()
})

history('a simulator joins it with what was sent byte for byte, and tells what was refused', async ({ dev }) => {
  const { marketplace, buyer, builder, agent } = dev
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await marketplace.webhooksSent()
  await marketplace.callback({ secret: 'whsec_another' }, id, { action: 'accept' })
  await builder.client.agentAccept({ id })
  await marketplace.callback(agent, id, { action: 'accept' })
  assert.is((await buyer.ask('POST', `/api/tasks/${id}/approve`)).status, 400)
  await marketplace.admin.client.moveClock({ advanceMs: 60_000 })
  const all = await told(buyer, id)
  const exchangeOf = (exchangeId: string | null) => marketplace.admin.client.getExchange({ id: exchangeId ?? '' })
  const [webhook] = kinds(all, 'webhook')
  const sent = await exchangeOf(webhook!.exchangeId)
  assert.equal([sent.deliveryId, sent.at, sent.realAt], [webhook!.deliveryId, webhook!.at, webhook!.realAt])
  const callbacks = kinds(all, 'callback')
  assert.equal(
    callbacks.map(({ action, status, via }) => [action, status, via]),
    [
      ['accept', 401, 'signature'],
      ['accept', 200, 'key'],
      ['accept', 400, 'signature'],
    ],
  )
  assert.match(callbacks[0]!.error!, /does not match/)
  for (const { exchangeId, status, requestId } of callbacks) {
    const exchange = await exchangeOf(exchangeId)
    assert.is(exchange.status, status)
    assert.is(exchange.responseHeaders.find(({ name }) => name === 'x-request-id')?.value, requestId)
  }
  const refused = kinds(all, 'request').find(({ status }) => status === 400)!
  assert.equal([refused.action, refused.by.party], ['approve', 'buyer'])
  assert.is(kinds(all, 'clock').at(-1)?.byMs, 60_000)
})

if (engine === 'embedded')
  history('it is the same after a restart, but for what only memory had', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'history-'))
    try {
      const file = join(folder, 'market.db')
      const before = await open({ file })
      const id = await lifeIn(before)
      const first = await told(before.builder, id)
      await before.close()
      const after = await openTestMarketplace({ file, admin: undefined })
      const again = new Map((await told(after.admin, id)).map(one => [one.id, one]))
      const stays = first.filter(({ kind }) => !['clock', 'persona', 'fault', 'restart'].includes(kind))
      for (const one of stays) assert.is(again.get(one.id) && inWords(again.get(one.id)!), inWords(one))
      assert.is(again.size, stays.length)
      await after.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

history.run()
