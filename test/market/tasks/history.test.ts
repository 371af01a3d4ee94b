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
import { until } from '../../support/patience.ts'

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
      return `${one.event} ${one.attempt} ${one.outcome} ${one.status}${one.redeliveryOf ? ' again' : ''}`
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

/** All that is told of each, a line for each. Ids are numbered as they come up; what is null and what is measured is left out. */
function inFull(all: readonly Happening[], known: Readonly<Record<string, string>>): string[] {
  const names = new Map(Object.entries(known))
  const named = (id: string) => {
    if (!names.has(id)) names.set(id, `${/^[a-z]+(?=_)/.exec(id)?.[0] ?? 'asked'} ${names.size}`)
    return names.get(id)!
  }
  const said = (value: unknown): string =>
    typeof value === 'object' && value !== null
      ? Object.values(value)
          .filter(each => each !== null)
          .map(said)
          .join(' ')
      : String(value).replace(ID, named)
  const beginning = all.map(({ at }) => at)[0]!
  const realBeginning = all.find(({ realAt }) => realAt !== null)?.realAt ?? ''
  const secondsFrom = (from: string, time: string | null) =>
    time === null ? '-' : (Date.parse(time) - Date.parse(from)) / 1000
  return all.map(({ id, at, realAt, ...one }) => {
    const fields: Record<string, unknown> = { ...one }
    if (one.kind === 'clock') fields.now = secondsFrom(beginning, one.now)
    if (one.kind === 'request') delete fields.ms
    if ('diagnosis' in one) fields.diagnosis = one.diagnosis && [one.diagnosis.cause, one.diagnosis.evidence]
    // Retries come a little earlier or later, by chance.
    if ('nextAttemptAt' in one && one.nextAttemptAt !== null)
      fields.nextAttemptAt = one.nextAttemptAt > at ? 'later' : 0
    const lines = Object.entries(fields).filter(([, value]) => value !== null)
    const words = lines.map(([name, value]) => `${name} ${said(value)}`).sort()
    return `${secondsFrom(beginning, at)} ${secondsFrom(realBeginning, realAt)} ${said(id)}: ${words.join(', ')}`
  })
}

/** With what the row or the log numbers. */
const ID = /\b(?:[a-z]+_[0-9a-f]{32}|exchange_\d+|log_\d+|end_\d+|[0-9a-f]{12}-[0-9a-z]+)(?![0-9a-z])/g

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

history(
  'a deployment tells of webhooks by their rows, and of disputes that administrators open',
  async ({ deployment }) => {
    const { marketplace, buyer, builder, agent } = deployment
    const { admin } = marketplace
    const { id } = await marketplace.draft(buyer, agent)
    agent.sink.answer = () => ({ ...answered(307, 'there', { location: 'https://there.example/' }), durationMs: 300 })
    await marketplace.pass(1_000)
    await buyer.client.submitTask({ id })
    await marketplace.webhooksSent()
    agent.sink.answer = null
    // As another instance claims it.
    const claim = `UPDATE deliveries SET leased_until = $1, attempts = attempts + 1 WHERE task_id = $2`
    await marketplace.market.db.write(tx => tx.run(claim, [Number.MAX_SAFE_INTEGER, id]))
    await builder.client.agentAccept({ id })
    await admin.client.resolveTask({ id, outcome: 'release' })
    const known = { [buyer.id]: 'B', [builder.id]: 'A', [admin.id]: 'C', [agent.id]: 'agent', [id]: 'task' }
    const lines = inFull(await told(builder, id), known)
    assert.match(
      lines.pop()!,
      /^[\d.]+ - dlv 5_2: agentId agent, attempt 2, by marketplace, deliveryId dlv 5, event task\.submitted, kind webhook, message , outcome sending$/,
    )
    assert.equal(lines, [
      '0 - created: action create, by buyer B, kind request, status 201',
      '0.7 - dlv 5_1: agentId agent, attempt 1, by marketplace, deliveryId dlv 5, diagnosis redirect task dlv 5 1 307, event task.submitted, kind webhook, message The agent answered 307, and redirects are not followed, ms 300, outcome retry, status 307',
      '1 0 request_0: action submit, by buyer B, kind request, requestId asked 6, status 200, via key',
      '1 0 state_0: by buyer B, from draft, kind transition, requestId asked 6, to pending, trigger submit',
      '1 - trf 7: amount 1000, by marketplace, from available buyer, kind transfer, to held buyer, type hold',
      '1 0 callback_1: action accept, by agent A Test Writer, kind callback, requestId asked 8, status 200, via key',
      '1 0 state_1: by agent A Test Writer, from pending, kind transition, requestId asked 8, to in_progress, trigger accept',
      '1 0 request_2: action resolve_release, by admin C, kind request, requestId asked 9, status 200, via session',
      '1 - dispute: by admin C, kind dispute, reason Opened by an administrator to settle the task',
      '1 - decision: by admin C, kind decision, outcome release, refundAmount 0',
      '1 0 state_2: by admin C, from in_progress, kind transition, requestId asked 9, to completed, trigger resolve_release',
      '1 - trf 10: amount 1000, by marketplace, from held buyer, kind transfer, to available agent, type release',
    ])
  },
)

history('what is of one moment stands behind what it came from', async ({ deployment }) => {
  const { marketplace, buyer, builder, agent } = deployment
  const { admin, callback } = marketplace
  const lived = async (live: (id: string) => Promise<unknown>) => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.client.submitTask({ id })
    await live(id)
    await marketplace.webhooksSent()
    return (await told(builder, id)).map(inWords)
  }
  assert.equal(
    await lived(async id => {
      await marketplace.webhooksSent()
      const [submitted] = kinds(await told(builder, id), 'webhook')
      await buyer.client.cancelTask({ id })
      await marketplace.webhooksSent()
      await builder.client.redeliver({ id: agent.id, deliveryId: submitted!.deliveryId })
    }),
    [
      'buyer request create - 201',
      'buyer request submit key 200',
      'buyer: draft → pending',
      'hold 1000: available of buyer → held of buyer',
      'task.submitted 1 delivered 200',
      'buyer request cancel key 200',
      'buyer: pending → cancelled',
      'refund 1000: held of buyer → available of buyer',
      'task.cancelled 1 delivered 200',
      'task.submitted 1 delivered 200 again',
    ],
  )
  assert.equal(await lived(id => callback(agent, id, { action: 'reject', reason: 'No time.' })), [
    'buyer request create - 201',
    'buyer request submit key 200',
    'buyer: draft → pending',
    'hold 1000: available of buyer → held of buyer',
    'task.submitted 1 delivered 200',
    'agent callback reject signature 200',
    'agent: No time.',
    'agent: pending → cancelled',
    'refund 1000: held of buyer → available of buyer',
  ])
  const whole = await lived(async id => {
    await buyer.call('POST', `/api/tasks/${id}/messages`, { content: 'How is it going?' })
    await builder.client.agentAccept({ id })
    await builder.client.agentDeliver({ id, content: 'Here.' })
    await buyer.client.requestRevision({ id, reason: 'Shorter, if that can be.' })
    await buyer.client.disputeTask({ id, reason: 'It is too late by now.' })
    await admin.client.resolveTask({ id, outcome: 'refund' })
  })
  assert.equal(whole, [
    'buyer request create - 201',
    'buyer request submit key 200',
    'buyer: draft → pending',
    'hold 1000: available of buyer → held of buyer',
    'task.submitted 1 delivered 200',
    'buyer request message session 201',
    'buyer: How is it going?',
    'task.message 1 delivered 200',
    'agent callback accept key 200',
    'agent: pending → in_progress',
    'agent callback deliver key 200',
    'version 1: Here.',
    'agent: in_progress → delivered',
    'buyer request request_revision key 200',
    'buyer: delivered → in_progress',
    'task.revision_requested 1 delivered 200',
    'buyer request dispute key 200',
    'buyer disputes: It is too late by now.',
    'task.disputed 1 delivered 200',
    'admin request resolve_refund session 200',
    'admin decides: refund 1000',
    'admin: in_progress → cancelled',
    'refund 1000: held of buyer → available of buyer',
  ])
  const approved = await lived(async id => {
    await builder.client.agentAccept({ id })
    await builder.client.agentDeliver({ id, content: 'Here.' })
    await buyer.client.approveTask({ id })
    await marketplace.pass(1)
    await buyer.client.disputeTask({ id, reason: 'It is too late by now.' })
    await admin.client.resolveTask({ id, outcome: 'release' })
    await buyer.client.submitReview({ id, rating: 5 })
  })
  assert.equal(approved, [
    'buyer request create - 201',
    'buyer request submit key 200',
    'buyer: draft → pending',
    'hold 1000: available of buyer → held of buyer',
    'task.submitted 1 delivered 200',
    'agent callback accept key 200',
    'agent: pending → in_progress',
    'agent callback deliver key 200',
    'version 1: Here.',
    'agent: in_progress → delivered',
    'buyer request approve key 200',
    'buyer: delivered → completed',
    'release 1000: held of buyer → clearing of agent',
    'task.approved 1 delivered 200',
    'buyer request dispute key 200',
    'buyer disputes: It is too late by now.',
    'task.disputed 1 delivered 200',
    'admin request resolve_release session 200',
    'admin decides: release 0',
    'cleared 1000: clearing of agent → available of agent',
    'buyer request review key 201',
    '5 stars',
  ])
})

history('who hires for another sees what its own agent gets', async ({ deployment }) => {
  const { marketplace, buyer, builder, agent } = deployment
  const hirer = await marketplace.join('hirer')
  const hiring = await marketplace.list(hirer)
  const caps = { maxPerTask: 1_000, maxDaily: 1_000, maxMonthly: 1_000 }
  const { id: budgetAuthorizationId } = await buyer.client.createBudget({ agentId: hiring.id, ...caps })
  const { id } = await marketplace.draft(hirer, agent, { budgetAuthorizationId })
  await hirer.client.submitTask({ id })
  await builder.client.agentAccept({ id })
  await builder.client.agentDeliver({ id, content: 'Here.' })
  await hirer.client.approveTask({ id })
  await marketplace.webhooksSent()
  const [toSeller, toHirer] = [/^task\.(?:submitted|approved)| callback /, /^task\.delivered_to_buyer/]
  const whole = await told(marketplace.admin, id)
  assert.equal(whole.map(inWords).slice(-9), [
    'agent: pending → in_progress',
    'agent callback deliver key 200',
    'version 1: Here.',
    'agent: in_progress → delivered',
    'task.delivered_to_buyer 1 delivered 200',
    'buyer request approve key 200',
    'buyer: delivered → completed',
    'release 1000: held of buyer → clearing of agent',
    'task.approved 1 delivered 200',
  ])
  const unseen: readonly [TestUser, readonly RegExp[]][] = [
    [buyer, [toSeller, toHirer]],
    [hirer, [toSeller]],
    [builder, [toHirer]],
  ]
  for (const [user, parts] of unseen) {
    const all = await told(user, id)
    const seen = whole.filter(one => !parts.some(part => part.test(inWords(one))))
    assert.equal(all.map(inWords), seen.map(inWords))
    assert.equal([all[0]!.by.userId, all[0]!.by.name], [hirer.id, user === hirer ? 'hirer' : null])
  }
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

history('a payment clears, and is told of, also of who has hired their own agent', async ({ deployment }) => {
  const { marketplace, buyer, builder, agent } = deployment
  await builder.client.deposit({ amount: 1_000 })
  const approved = await Promise.all(
    [buyer, builder].map(async buyer => {
      const { id } = await marketplace.draft(buyer, agent)
      await buyer.client.submitTask({ id })
      await builder.client.agentAccept({ id })
      await builder.client.agentDeliver({ id, content: 'Here it is.' })
      await buyer.client.approveTask({ id })
      await buyer.client.submitReview({ id, rating: 4 })
      return { buyer, id }
    }),
  )
  await marketplace.pass(durations.clearingMs)
  for (const { buyer, id } of approved) {
    const all = await told(buyer, id)
    assert.equal(kinds(all, 'transfer').map(inWords), [
      'hold 1000: available of buyer → held of buyer',
      'release 1000: held of buyer → clearing of agent',
      'cleared 1000: clearing of agent → available of agent',
    ])
    assert.equal(kinds(all, 'review').map(inWords), ['4 stars'])
  }
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

history('a simulator tells everybody each with all that is known of it', async ({ dev }) => {
  const { marketplace, buyer, builder, agent } = dev
  const { world, pass, webhooksSent, callback, admin } = marketplace
  const { recording, log } = marketplace.market
  const ended = (how: string) =>
    recording!.noteDeath(agent.id, {
      ...{ kind: 'death', from: world.realNow(), at: world.now(), how, lastWords: [] },
    })
  const { slug } = await builder.client.getMyAgent({ id: agent.id })
  ended('before the task was there')
  log({ type: 'info', message: `${slug} starts anew: before the task was there` })
  world.tick(1_000)
  const { id } = await marketplace.draft(buyer, agent)
  const refused = async (user: TestUser, method: 'PUT' | 'POST', what: string, body: object = {}) =>
    assert.is((await user.ask(method, `/api/tasks/${id}${what}`, body)).status, 400)
  await refused(buyer, 'PUT', '', { title: '' })
  await refused(buyer, 'POST', '/request-revision', { reason: 'No.' })
  world.tick(1_000)
  await admin.client.armFault({ name: 'webhook-lost', on: 'task.submitted', agentId: agent.id })
  await buyer.client.submitTask({ id })
  await webhooksSent()
  const lost = await told(builder, id)
  ended('with exit code 1')
  world.tick(1_000)
  log({ type: 'info', message: `${slug} starts anew: it has ended` })
  log({ type: 'info', message: `${slug} does something else` })
  await pass(durations.hourMs)
  await webhooksSent()
  world.tick(1_000)
  await callback({ secret: 'whsec_another' }, id, { action: 'accept' })
  await builder.client.agentAccept({ id })
  world.tick(1_000)
  await callback(agent, id, { action: 'message', content: `${'x'.repeat(limits.history.characters)}y` })
  await refused(buyer, 'POST', '/messages')
  await refused(builder, 'POST', '/accept')
  world.tick(1_000)
  await callback(agent, id, { action: 'deliver', content: 'Done.' })
  await callback(agent, id, { action: 'deliver', content: 'Done again.' })
  world.tick(1_000)
  log({
    ...{ type: 'persona', persona: 'Ada', step: 'approves' },
    taskId: id,
    agentId: agent.id,
    message: 'Fine by me.',
  })
  agent.sink.answer = () => ({ ...answered(401, 'who are you?'), durationMs: 300 })
  await buyer.client.approveTask({ id })
  await buyer.client.submitReview({ id, rating: 4, comment: 'As wished.' })
  await webhooksSent()
  agent.sink.answer = () => answered(200, 'ok')
  await pass(durations.hourMs)
  await webhooksSent()
  world.tick(1_000)
  let release = () => {}
  const held = new Promise<void>(resolve => (release = resolve))
  agent.sink.answer = () => held.then(() => answered(204))
  await buyer.client.disputeTask({ id, reason: 'Now I see it.' })
  const sending = async () => kinds(await told(buyer, id), 'webhook').at(-1)!
  await until('a webhook that is under way', async () => (await sending()).outcome === 'sending')
  world.tick(1_000)
  const underWay = await sending()
  release()
  await webhooksSent()
  await admin.client.resolveTask({ id, outcome: 'refund', reason: 'So do I.' })
  await admin.client.moveClock({ advanceMs: 60_000 })
  const all = await told(buyer, id)
  const known = { [buyer.id]: 'B', [builder.id]: 'A', [admin.id]: 'C', [agent.id]: 'agent', [id]: 'task' }
  assert.equal(inFull([...lost.slice(-2, -1), underWay], known), [
    '0 - dlv 5_1: agentId agent, attempt 1, by marketplace, deliveryId dlv 5, diagnosis armed_fault task dlv 5 1, event task.submitted, kind webhook, message The connection was reset., ms 0, nextAttemptAt later, outcome retry, reason armed_fault',
    '7206 0 dlv 6_1: agentId agent, attempt 1, by marketplace, deliveryId dlv 6, event task.disputed, kind webhook, message , outcome sending',
  ])
  assert.equal(inFull(all, known), [
    '0 - created: action create, by buyer B buyer, kind request, status 201',
    '0 0 log 6: action update, by buyer B buyer, error Validation failed, kind request, requestId asked 5, status 400',
    "0 0 log 8: action request_revision, by buyer B buyer, error A task that is draft can't be sent back for a revision, kind request, requestId asked 7, status 400",
    '1 1 request_0: action submit, by buyer B buyer, kind request, requestId asked 9, status 200, via key',
    '1 1 state_0: by buyer B buyer, from draft, kind transition, requestId asked 9, to pending, trigger submit',
    '1 - trf 10: amount 1000, by marketplace, from available buyer, kind transfer, to held buyer, type hold',
    '1 - dlv 11_1: agentId agent, attempt 1, by marketplace, deliveryId dlv 11, diagnosis armed_fault task dlv 11 1, event task.submitted, kind webhook, message The connection was reset., ms 0, outcome retry, reason armed_fault',
    '1 1 log 12: by marketplace, fault webhook-lost, kind fault, on task.submitted',
    '1 1 end 13: agentId agent, by agent A Test Writer, kind restart, message ended with exit code 1',
    '2 2 log 14: agentId agent, by agent A Test Writer, kind restart, message test-writer starts anew: it has ended',
    '3602 2 dlv 11_2: agentId agent, attempt 2, by marketplace, deliveryId dlv 11, event task.submitted, exchangeId exchange 15, kind webhook, message The agent answered 200, ms 0, outcome delivered, status 200',
    '3603 3 exchange 17: action accept, by agent A Test Writer, error the signature does not match the body and the secret, exchangeId exchange 17, kind callback, ms 0, requestId asked 16, status 401, via signature',
    '3603 3 callback_1: action accept, by agent A Test Writer, exchangeId exchange 19, kind callback, ms 0, requestId asked 18, status 200, via key',
    '3603 3 state_1: by agent A Test Writer, from pending, kind transition, requestId asked 18, to in_progress, trigger accept',
    '3604 4 callback_2: action message, by agent A Test Writer, exchangeId exchange 21, kind callback, ms 0, requestId asked 20, status 201, via signature',
    `3604 - msg 22: by agent A Test Writer, cut true, kind message, messageId msg 22, senderRole agent, text ${'x'.repeat(limits.history.characters)}`,
    '3604 4 log 24: action message, by buyer B buyer, error Validation failed, kind request, requestId asked 23, status 400',
    "3604 4 log 26: action accept, by agent A Test Writer, error A task that is in_progress can't be accepted, kind request, requestId asked 25, status 400",
    '3605 5 callback_3: action deliver, by agent A Test Writer, exchangeId exchange 28, kind callback, ms 0, requestId asked 27, status 200, via signature',
    '3605 - dlb 29: by agent A Test Writer, characters 5, cut false, deliverableId dlb 29, files 0, kind deliverable, text Done., version 1',
    '3605 5 state_3: by agent A Test Writer, from in_progress, kind transition, requestId asked 27, to delivered, trigger deliver',
    "3605 5 exchange 31: action deliver, by agent A Test Writer, diagnosis doubled_callback task exchange 31 400, error A task that is delivered can't be delivered, exchangeId exchange 31, kind callback, ms 0, requestId asked 30, status 400, via signature",
    '3606 6 request_4: action approve, by buyer B buyer, kind request, requestId asked 32, status 200, via key',
    '3606 6 state_4: by buyer B buyer, from delivered, kind transition, requestId asked 32, to completed, trigger approve',
    '3606 - trf 33: amount 1000, by marketplace, from held buyer, kind transfer, to clearing agent, type release',
    '3606 6 dlv 34_1: agentId agent, attempt 1, by marketplace, deliveryId dlv 34, diagnosis refused_by_agent task dlv 34 1 401, event task.approved, exchangeId exchange 35, kind webhook, message The agent answered 401, ms 300, outcome retry, status 401',
    '3606 6 request_5: action review, by buyer B buyer, kind request, requestId asked 36, status 201, via key',
    '3606 - rev 37: by buyer B buyer, comment As wished., kind review, rating 4',
    '3606 6 log 38: by buyer B Ada, kind persona, message Fine by me., persona Ada, step approves',
    '7206 6 dlv 34_2: agentId agent, attempt 2, by marketplace, deliveryId dlv 34, event task.approved, exchangeId exchange 39, kind webhook, message The agent answered 200, ms 0, outcome delivered, status 200',
    '7207 7 request_6: action dispute, by buyer B buyer, kind request, requestId asked 40, status 200, via key',
    '7207 - dispute: by buyer B buyer, kind dispute, reason Now I see it.',
    '7207 7 dlv 41_1: agentId agent, attempt 1, by marketplace, deliveryId dlv 41, event task.disputed, exchangeId exchange 42, kind webhook, message The agent answered 204, ms 0, outcome delivered, status 204',
    '7208 8 request_7: action resolve_refund, by admin C Administrator, kind request, requestId asked 43, status 200, via session',
    '7208 - decision: by admin C Administrator, kind decision, outcome refund, reason So do I., refundAmount 1000',
    '7208 8 state_7: by admin C Administrator, from completed, kind transition, requestId asked 43, to cancelled, trigger resolve_refund',
    '7208 - trf 44: amount 1000, by marketplace, from clearing agent, kind transfer, to available buyer, type refund',
    '7268 8 log 45: by marketplace, byMs 60000, kind clock, now 7268',
  ])
  for (const user of [builder, admin]) assert.equal(await told(user, id), all)
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
