// engines: embedded, postgres at length; process: shared
/** What one account may write: its texts and the webhooks that hold them. What ends work passes. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultKeeping, durations } from '../../src/api/limits.ts'
import type { DeliveryRecord, TaskRecord } from '../../src/api/records.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace, type TestUser } from '../support/marketplace.ts'

const MIB = 1024 * 1024
const KIB = 1024

const usage = async (marketplace: TestMarketplace, { id }: TestUser): Promise<number> =>
  (
    await marketplace.market.db.read(q =>
      q.get<{ bytes: number }>('SELECT bytes FROM text_usage WHERE user_id = $1', [id]),
    )
  )?.bytes ?? 0

const setUsage = (marketplace: TestMarketplace, { id }: TestUser, bytes: number) =>
  marketplace.market.db.write(tx =>
    tx.run(
      `INSERT INTO text_usage (user_id, bytes) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET bytes = excluded.bytes`,
      [id, bytes],
    ),
  )

async function setUp() {
  const marketplace = await openTestMarketplace({ keeping: { textMiB: 1 } })
  const buyer = await marketplace.join('buyer', 500_000)
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  return { marketplace, buyer, builder, agent }
}

async function submitted(marketplace: TestMarketplace, buyer: TestUser, agent: ListedAgent): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent, { agreedPrice: 200 })
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  return id
}

const agentFields = {
  name: 'One more agent',
  tagline: 'Written to fill a quota',
  description: 'x'.repeat(5_000),
  pricingModel: 'fixed',
  basePrice: 200,
  categoryIds: ['cat_writing'],
}

const isRefused = ({ status, error }: { status: number; error?: string | undefined }, whose = 'yours') => {
  assert.is(status, 400)
  assert.match(
    error!,
    `What one account writes, and the webhooks that hold it, take at most 1 MiB, and ${whose} take 1 MiB`,
  )
}

test('a builder writes agents and samples within the quota of the account, and others have their own', async () => {
  assert.is(defaultKeeping.textMiB, 256)
  const { marketplace, builder } = await setUp()
  const create = (who: TestUser) => who.ask<{ id: string }>('POST', '/api/my/agents', agentFields, 'key')
  const before = await usage(marketplace, builder)
  const { status, data } = await create(builder)
  assert.is(status, 201)
  const each = (await usage(marketplace, builder)) - before
  assert.ok(each > 5_000 && each < 6_000, `${each} bytes of an agent`)
  const samples = `/api/my/agents/${data!.id}/samples`
  const sample = { title: 'Long', output: 'ä'.repeat(10_000) }
  const added = await builder.call<{ id: string }>('POST', samples, sample, 'key')
  const written = (await usage(marketplace, builder)) - before - each
  assert.ok(written > 20_000 && written < 21_000, `${written} bytes of a sample`)
  await setUsage(marketplace, builder, MIB - 100)
  isRefused(await create(builder))
  isRefused(await builder.ask('POST', samples, sample, 'key'))
  const update = (description: string) => builder.ask('PUT', `/api/my/agents/${data!.id}`, { description }, 'key')
  assert.is((await update('y'.repeat(5_000))).status, 200, 'what grows by nothing')
  assert.is((await update('y'.repeat(4_900))).status, 200)
  assert.is(await usage(marketplace, builder), MIB - 200)
  isRefused(await update('é'.repeat(5_000)))
  await builder.call('DELETE', `${samples}/${added.id}`, undefined, 'key')
  assert.is(await usage(marketplace, builder), MIB - 200 - written)
  assert.is((await create(builder)).status, 201)
  assert.is((await create(await marketplace.join('other'))).status, 201)
  await marketplace.close()
})

test('a builder has 200 agents at most, and a deleted one makes room', async () => {
  assert.is(defaultKeeping.agents, 200)
  const marketplace = await openTestMarketplace({ keeping: { agents: 2 } })
  const builder = await marketplace.join('builder')
  const create = () => builder.ask<{ id: string }>('POST', '/api/my/agents', agentFields, 'key')
  const { data } = await create()
  assert.equal(
    (await Promise.all([create(), create(), create()])).map(({ status }) => status).sort(),
    [201, 400, 400],
    'of those that come at once',
  )
  const refused = await create()
  assert.match(refused.error!, 'A builder has 2 agents at most; delete one first')
  await builder.call('DELETE', `/api/my/agents/${data!.id}`, undefined, 'key')
  assert.is((await create()).status, 201)
  await marketplace.close()
})

test('a buyer writes drafts and messages within the quota; what was drafted is submitted, what is open is ended', async () => {
  const { marketplace, buyer, builder, agent } = await setUp()
  const description = 'd'.repeat(10_000)
  const before = await usage(marketplace, buyer)
  const draft = await marketplace.draft(buyer, agent, { description, agreedPrice: 200 })
  const each = (await usage(marketplace, buyer)) - before
  assert.ok(each > 28 * KIB && each < 31 * KIB, `${each} bytes: a draft and the webhook of its submission`)
  await buyer.call('PUT', `/api/tasks/${draft.id}`, { description: 'd'.repeat(9_900) })
  assert.is(await usage(marketplace, buyer), before + each - 200)
  const [first, second, third] = [
    await submitted(marketplace, buyer, agent),
    await submitted(marketplace, buyer, agent),
    await submitted(marketplace, buyer, agent),
  ]
  for (const id of [first, second]) await marketplace.callback(agent, id, { action: 'accept' })
  const say = (id: string) => buyer.ask('POST', `/api/tasks/${id}/messages`, { content: 'Hello there' })
  const quiet = await usage(marketplace, buyer)
  assert.is((await say(first)).status, 201)
  const said = (await usage(marketplace, buyer)) - quiet
  assert.ok(said > 8 * KIB && said < 11 * KIB, `${said} bytes: a message and its webhook`)

  await setUsage(marketplace, buyer, MIB)
  isRefused(
    await buyer.ask('POST', '/api/tasks', { agentId: agent.id, title: 'One more', description, agreedPrice: 200 }),
  )
  isRefused(await buyer.ask('PUT', `/api/tasks/${draft.id}`, { description }))
  isRefused(await say(first))
  assert.is((await buyer.ask('POST', `/api/tasks/${draft.id}/submit`)).status, 200)
  assert.is((await buyer.ask('POST', `/api/tasks/${third}/cancel`)).status, 200)
  const deliver = (id: string) => marketplace.callback(agent, id, { action: 'deliver', content: 'Done' })
  for (const id of [first, second]) assert.is((await deliver(id)).status, 200)
  const revise = () => buyer.ask('POST', `/api/tasks/${first}/request-revision`, { reason: 'Once more, please' })
  assert.is((await revise()).status, 200)
  assert.ok((await usage(marketplace, buyer)) > MIB, 'counted though it is not refused')
  assert.is((await deliver(first)).status, 200)
  assert.is((await buyer.ask('POST', `/api/tasks/${first}/approve`)).status, 200)
  assert.is((await buyer.ask('POST', `/api/tasks/${second}/dispute`, { reason: 'Because of a test' })).status, 200)
  await setUsage(marketplace, buyer, MIB)
  isRefused(await buyer.ask('POST', `/api/tasks/${first}/review`, { rating: 5, comment: 'Good' }))
  assert.is(
    (await marketplace.callback(agent, draft.id, { action: 'message', content: 'Hello' })).status,
    201,
    'by another',
  )
  assert.ok((await usage(marketplace, builder)) < 20 * KIB)
  await marketplace.close()
})

test('a builder who has written all that may be takes no new task, and ends those that are open', async () => {
  const { marketplace, buyer, builder, agent } = await setUp()
  const [open, pending, other] = [
    await submitted(marketplace, buyer, agent),
    await submitted(marketplace, buyer, agent),
    await submitted(marketplace, buyer, agent),
  ]
  await marketplace.callback(agent, open, { action: 'accept' })
  await marketplace.webhooksSent()
  await setUsage(marketplace, builder, MIB)
  isRefused(await marketplace.callback(agent, pending, { action: 'accept' }))
  isRefused(await builder.ask('POST', `/api/tasks/${pending}/accept`))
  isRefused(await builder.ask('POST', `/api/agent/tasks/${pending}/accept`, undefined, 'key'))
  isRefused(await marketplace.callback(agent, open, { action: 'message', content: 'No more' }))
  const log = `/api/my/agents/${agent.id}/deliveries`
  const { items } = await builder.call<{ items: DeliveryRecord[] }>('GET', log, undefined, 'key')
  isRefused(await builder.ask('POST', `${log}/${items[0]!.id}/redeliver`, undefined, 'key'))
  assert.is((await buyer.call<TaskRecord>('GET', `/api/tasks/${pending}`)).status, 'pending')
  const said = { action: 'reject', reason: 'There is no room for it' }
  assert.is((await marketplace.callback(agent, pending, said)).status, 200)
  assert.is((await buyer.ask('POST', `/api/tasks/${other}/cancel`)).status, 200)
  const delivered = { action: 'deliver', content: 'x'.repeat(50_000) }
  assert.is((await marketplace.callback(agent, open, delivered)).status, 200)
  const after = await usage(marketplace, builder)
  assert.ok(after > MIB + 50_000 && after < MIB + 53_000, `${after}: counted though it is not refused`)
  const revise = await buyer.ask('POST', `/api/tasks/${open}/request-revision`, { reason: 'Once more, please' })
  assert.is(revise.status, 400)
  assert.match(revise.error!, 'theirs take 2 MiB')
  assert.is((await buyer.ask('POST', `/api/tasks/${open}/approve`)).status, 200)
  await marketplace.close()
})

test('a draft that is cancelled, and a webhook whose body is gone, count no more', async () => {
  const { marketplace, buyer, builder, agent } = await setUp()
  const { id } = await marketplace.draft(buyer, agent)
  const drafted = await usage(marketplace, buyer)
  await buyer.call('POST', `/api/tasks/${id}/cancel`)
  const cancelled = await usage(marketplace, buyer)
  assert.ok(cancelled < KIB && drafted > 9 * KIB, `${drafted} bytes, then ${cancelled}`)
  const task = await submitted(marketplace, buyer, agent)
  await buyer.call('POST', `/api/tasks/${task}/messages`, { content: 'Hello there' })
  await marketplace.webhooksSent()
  const log = `/api/my/agents/${agent.id}/deliveries`
  const { items } = await builder.call<{ items: DeliveryRecord[] }>('GET', log, undefined, 'key')
  const before = await usage(marketplace, builder)
  await builder.call('POST', `${log}/${items[0]!.id}/redeliver`, undefined, 'key')
  assert.ok((await usage(marketplace, builder)) > before + 8 * KIB)
  await marketplace.webhooksSent()
  await marketplace.pass(31 * durations.dayMs)
  assert.is(await usage(marketplace, builder), before)
  const left = await usage(marketplace, buyer)
  assert.ok(left > cancelled && left < cancelled + 3 * KIB, `${left}: a task and a message`)
  await marketplace.close()
})

test('what a hirer drafts with the money of somebody else is the text of the hirer', async () => {
  const { marketplace, buyer, builder, agent } = await setUp()
  const seller = await marketplace.join('seller')
  const theirs = await marketplace.list(seller)
  const { id } = await buyer.call<{ id: string }>('POST', '/api/budget-authorizations', {
    agentId: agent.id,
    maxPerTask: 1_000,
    maxDaily: 1_000,
    maxMonthly: 1_000,
  })
  const [owner, hirer] = [await usage(marketplace, buyer), await usage(marketplace, builder)]
  await marketplace.draft(builder, theirs, { budgetAuthorizationId: id })
  assert.is(await usage(marketplace, buyer), owner)
  assert.ok((await usage(marketplace, builder)) > hirer + 9 * KIB)
  await marketplace.close()
})

test.run()
