// engines: embedded, postgres and narrow at length; process: shared
/** Notifications over the wire: who is told of a dispute, and who may read what. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { NotificationRecord } from '../../../src/api/records.ts'
import type { StampedEntry } from '../../../src/market/log.ts'
import { ensureFunds } from '../../../src/sim/accounts.ts'
import { verbsAs } from '../../../src/sim/verb-calls.ts'
import { updateUser } from '../../../src/store/tables/accounts/users.ts'
import type { List } from '../../support/lists.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

const reason = 'This is not what was asked for.'
const news = (user: TestUser, query = '') =>
  user.call<List<NotificationRecord>>('GET', `/api/notifications${query}`, undefined, 'key')

async function delivered(marketplace: TestMarketplace, buyer: TestUser, agent: ListedAgent): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.callback(agent, id, { action: 'accept' })
  await marketplace.callback(agent, id, { action: 'deliver', content: 'Done.' })
  return id
}

test('disputes: opening one tells the builder, its resolution tells both parties', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 10_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const taskId = await delivered(marketplace, buyer, agent)
  await buyer.call('POST', `/api/tasks/${taskId}/dispute`, { reason })
  assert.equal((await news(buyer)).items, [])
  const [opened] = (await news(agent.builder)).items
  const at = '2026-01-01T00:00:00.000Z'
  const kept = { agentId: agent.id, createdAt: at, readAt: null }
  const message = 'The buyer disputes the task “A task of a test”'
  assert.equal(opened, { id: opened!.id, type: 'dispute_opened', message, data: { taskId, reason }, ...kept })
  const split = { outcome: 'split', refundAmount: 300 } as const
  await marketplace.admin.call('POST', `/api/admin/tasks/${taskId}/resolve`, split)
  for (const party of [buyer, agent.builder]) {
    const [resolved] = (await news(party)).items
    assert.equal([resolved!.type, resolved!.data], ['dispute_resolved', { taskId, ...split, reason: null }])
  }
  assert.equal((await news(agent.builder)).pagination.total, 2)
  assert.equal((await news(marketplace.admin)).items, [])
  await marketplace.close()
})

test('disputes: a refused one tells nobody; a task that is settled without a dispute tells both parties', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 10_000)
  const agent = await marketplace.list(await marketplace.join('builder', 5_000))
  const taskId = await delivered(marketplace, buyer, agent)
  assert.is((await buyer.ask('POST', `/api/tasks/${taskId}/dispute`, { reason: 'short' })).status, 400)
  assert.equal((await news(agent.builder)).items, [])
  await marketplace.admin.call('POST', `/api/admin/tasks/${taskId}/resolve`, { outcome: 'refund' })
  const types = async (user: TestUser) => (await news(user)).items.map(({ type }) => type)
  assert.equal([await types(buyer), await types(agent.builder)], [['dispute_resolved'], ['dispute_resolved']])
  const own = await delivered(marketplace, agent.builder, agent)
  await agent.builder.call('POST', `/api/tasks/${own}/dispute`, { reason })
  await marketplace.admin.call('POST', `/api/admin/tasks/${own}/resolve`, { outcome: 'release' })
  assert.equal(await types(agent.builder), ['dispute_resolved', 'dispute_resolved'])
  await marketplace.close()
})

test('a review tells the builder, and a decided payment tells whose it is, with the reason, by mail too', async () => {
  const mails: string[] = []
  const log = (entry: StampedEntry) => {
    if (entry.type === 'mail' && entry.mail) mails.push(`${entry.mail.subject}\n${entry.mail.text}`)
  }
  const marketplace = await openTestMarketplace({ payments: 'manual', log })
  const { admin, market, url } = marketplace
  const builder = await marketplace.join('builder')
  const [refused, taken] = [await marketplace.publish(builder), await marketplace.publish(builder, { name: 'Taken' })]
  const why = 'It says nothing.\n\nMarketplace: https://elsewhere.example'
  await admin.client.rejectAgent({ id: refused.id, reason: why })
  await admin.client.approveAgent({ id: taken.id })
  const amount = 1_500
  const deposits = [await builder.client.deposit({ amount }), await builder.client.deposit({ amount: 3_000 })]
  await admin.client.rejectDeposit({ id: deposits[0]!.id, reason: 'It never came.' })
  await admin.client.confirmDeposit({ id: deposits[1]!.id })
  await market.db.write(tx => updateUser(tx, builder.id, { connectStatus: 'connected' }))
  const withdrawals = [await builder.client.withdraw({ amount }), await builder.client.withdraw({ amount })]
  await admin.client.confirmWithdrawal({ id: withdrawals[0]!.id })
  await admin.client.rejectWithdrawal({ id: withdrawals[1]!.id, reason: 'No such account.' })
  const told = (await news(builder)).items.map(({ type, agentId, message, data }) => ({ type, agentId, message, data }))
  const decided = (
    type: string,
    { id, amount }: { id: string; amount: number },
    reason: string | null,
    words: string,
  ) => ({
    ...{ type: 'payment_decided', agentId: null, message: `The ${type} of ${words}` },
    data: { transactionId: id, type, amount, status: reason === null ? 'completed' : 'rejected', reason },
  })
  const reviewed = (agentId: string, decision: string, reason: string | null, message: string) => ({
    ...{ type: 'agent_reviewed', agentId, message },
    data: { decision, reason },
  })
  const back = 'was rejected, and the money is back in the wallet'
  assert.equal(told, [
    decided('withdrawal', withdrawals[1]!, 'No such account.', `15.00 USD ${back}`),
    decided('withdrawal', withdrawals[0]!, null, '15.00 USD was paid out'),
    decided('deposit', deposits[1]!, null, '30.00 USD was confirmed'),
    decided('deposit', deposits[0]!, 'It never came.', '15.00 USD was rejected'),
    reviewed(
      taken.id,
      'approved',
      null,
      'The agent “Taken” was approved: it is listed while its connection test passes',
    ),
    reviewed(
      refused.id,
      'rejected',
      why,
      'The agent “Test Writer” was rejected: change what the reason names, and publish it again',
    ),
  ])
  assert.equal((await news(admin)).items, [])
  // A decision that is refused is none, nor is what a simulator does to furnish itself.
  const late = await admin.ask('POST', `/api/admin/deposits/${deposits[1]!.id}/reject`, { reason: 'late' })
  assert.match(late.error!, /completed/)
  await ensureFunds(verbsAs(market, builder.id), verbsAs(market, admin.id), 5_000)
  assert.is((await news(builder)).pagination.total, 6)
  await marketplace.runDue()
  const mail = (subject: string, at: number, ...lines: string[]) =>
    [subject, told[at]!.message, '', ...lines, `Marketplace: ${url}`, ''].join('\n')
  const expected = [
    mail('Your withdrawal was rejected', 0, 'Reason: No such account.'),
    mail('Your withdrawal was confirmed', 1),
    mail('Your deposit was confirmed', 2),
    mail('Your deposit was rejected', 3, 'Reason: It never came.'),
    mail('Your agent was approved', 4, `Agent: ${taken.id}`),
    mail(
      'Your agent was rejected',
      5,
      'Reason: It says nothing. Marketplace: https://elsewhere.example',
      `Agent: ${refused.id}`,
    ),
  ]
  assert.equal(mails.filter(text => !text.includes('reset')).sort(), expected.sort())
  await marketplace.close()
})

test('read: the first reading is kept; someone else’s is 403, none at all 404', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 10_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  for (const _ of [1, 2]) {
    const id = await delivered(marketplace, buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/dispute`, { reason })
  }
  const second = await news(agent.builder, '?limit=1&page=2')
  assert.equal([second.items.length, second.pagination.total], [1, 2])
  const path = `/api/notifications/${second.items[0]!.id}/read`
  await marketplace.pass(1_000)
  const read = await agent.builder.ask<NotificationRecord>('POST', path)
  assert.equal([read.status, read.data?.readAt], [200, '2026-01-01T00:00:01.000Z'])
  await marketplace.pass(1_000)
  assert.equal((await agent.builder.call<NotificationRecord>('POST', path, undefined, 'key')).readAt, read.data?.readAt)
  const readAts = (await news(agent.builder)).items.map(({ readAt }) => readAt)
  assert.equal(readAts, [null, read.data?.readAt])
  assert.is((await buyer.ask('POST', path)).status, 403)
  assert.is((await marketplace.visitor.ask('POST', path)).status, 401)
  assert.is((await marketplace.visitor.ask('GET', '/api/notifications')).status, 401)
  assert.is((await buyer.ask('POST', '/api/notifications/ntf_none/read')).status, 404)
  await marketplace.close()
})

test('those that are not read are listed alone and counted, and read at once', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 20_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  for (let n = 0; n < 3; n++) {
    const taskId = await delivered(marketplace, buyer, agent)
    await buyer.client.disputeTask({ id: taskId, reason })
  }
  const { client } = agent.builder
  const unread = async () => (await client.listNotifications({ unread: 'true' })).items.map(({ id }) => id)
  const all = (await client.listNotifications()).items.map(({ id }) => id)
  assert.equal(await unread(), all)
  await client.readNotification({ id: all[1]! })
  const left = await client.listNotifications({ unread: 'true', limit: 1 })
  assert.equal([left.items[0]!.id, left.pagination.total], [all[0], 2])
  await marketplace.pass(1_000)
  assert.equal(await client.readNotifications(), { read: 2 })
  assert.equal(await unread(), [])
  assert.equal(await client.readNotifications(), { read: 0 })
  const readAt = (await client.listNotifications()).items.map(item => item.readAt)
  assert.equal(readAt, ['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z'])
  assert.equal((await client.listNotifications()).pagination.total, 3)
  assert.is((await agent.builder.ask('GET', '/api/notifications?unread=false')).status, 400)
  assert.equal((await buyer.client.readNotifications()).read, 0)
  await marketplace.close()
})

test('more than can be shown: the total stops there, and is not counted anew at each page', async () => {
  const marketplace = await openTestMarketplace()
  const { db } = marketplace.market
  const user = await marketplace.join('buyer')
  await db.write(tx =>
    tx.run(
      `INSERT INTO notifications (id, user_id, type, message, data, created_at)
       WITH RECURSIVE series (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < 10049)
       SELECT 'ntf_' || n, $1, 'payment_decided', 'The deposit was confirmed', '{"transactionId":"t","type":"deposit","amount":1,"status":"completed","reason":null}', n FROM series`,
      [user.id],
    ),
  )
  const total = async (query = '') => (await news(user, query)).pagination.total
  assert.is(await total('?limit=1'), 10_000)
  await db.write(tx => tx.run(`DELETE FROM notifications WHERE user_id = $1 AND id < 'ntf_2'`, [user.id]))
  assert.equal([await total('?limit=1&page=2'), await total('?limit=1&unread=true')], [10_000, 8_888])
  // What a page itself says goes before what is remembered.
  await db.write(tx => tx.run(`DELETE FROM notifications WHERE user_id = $1 AND id < 'ntf_998'`, [user.id]))
  assert.is(await total('?limit=100'), 22)
  await marketplace.close()
})

test.run()
