// engines: embedded, postgres and narrow at length; process: shared
/** What the lists of an administrator say of their lengths, which are kept apart from the rows. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import { openTestMarketplace, type TestMarketplace } from '../support/marketplace.ts'

const lists = [
  ['/api/admin/users', 'users'],
  ['/api/admin/agents', 'agents WHERE deleted_at IS NULL'],
  ['/api/admin/tasks', 'tasks'],
  ['/api/admin/tasks?disputed=true', 'tasks WHERE disputed = 1'],
  ['/api/admin/tasks?disputed=false', 'tasks WHERE disputed = 0'],
  ...['deposit', 'withdrawal'].flatMap(kind => [
    [`/api/admin/${kind}s`, `transfers WHERE kind = '${kind}'`] as const,
    ...['pending', 'completed', 'rejected'].map(
      status =>
        [`/api/admin/${kind}s?status=${status}`, `transfers WHERE kind = '${kind}' AND status = '${status}'`] as const,
    ),
  ]),
] as const

/** Every list's total, once it is found to be the number of its rows, by the list's path. */
async function totals({ admin, market }: TestMarketplace): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [path, rows] of lists) {
    const { pagination } = await admin.call<{ pagination: { total: number } }>('GET', path, undefined, 'session')
    const counted = await market.db.read(q => q.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${rows}`))
    assert.is(pagination.total, counted!.count, path)
    found[path] = pagination.total
  }
  return found
}

test('the totals of an administrator are the numbers of rows, whatever becomes of them', async () => {
  const marketplace = await openTestMarketplace({ payments: 'manual' })
  const { admin } = marketplace
  const buyer = await marketplace.join('buyer')
  const agent = await marketplace.list(await marketplace.join('builder'))
  const deposits: string[] = []
  for (const amount of [20_000, 30_000, 40_000]) deposits.push((await buyer.client.deposit({ amount })).id)
  await admin.client.confirmDeposit({ id: deposits[0]! })
  await admin.client.confirmDeposit({ id: deposits[1]! })
  const disputed = await marketplace.draft(buyer, agent)
  const resolved = await marketplace.draft(buyer, agent)
  await marketplace.draft(buyer, agent)
  for (const { id } of [disputed, resolved]) {
    await buyer.client.submitTask({ id })
    await agent.builder.client.acceptTask({ id })
    await buyer.client.disputeTask({ id, reason: 'It is not what was asked for, nor like it' })
  }
  await admin.client.resolveTask({ id: resolved.id, outcome: 'refund' })
  const before = await totals(marketplace)
  assert.is(before['/api/admin/tasks'], 3)
  assert.is(before['/api/admin/tasks?disputed=true'], 1)
  assert.is(before['/api/admin/deposits?status=pending'], 1)
  await admin.client.rejectDeposit({ id: deposits[2]! })
  await marketplace.pass(durations.clearingMs)
  const idle = await marketplace.list(agent.builder, { name: 'One that leaves' })
  await totals(marketplace)
  await agent.builder.client.deleteAgent({ id: idle.id })
  const after = await totals(marketplace)
  assert.is(after['/api/admin/agents'], 1)
  assert.is(after['/api/admin/deposits?status=rejected'], 1)
  await marketplace.close()
})

test('a refund shows in the transactions of whoever paid', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 10_000)
  const { id } = await marketplace.draft(buyer, await marketplace.list(await marketplace.join('builder')))
  await buyer.client.submitTask({ id })
  await buyer.client.cancelTask({ id })
  const types = async (query: object) =>
    (await buyer.client.listTransactions(query)).items.map(({ type, taskId }) => [type, taskId])
  assert.equal(await types({}), [
    ['refund', id],
    ['hold', id],
    ['deposit', null],
  ])
  assert.equal(await types({ type: 'refund' }), [['refund', id]])
  await marketplace.close()
})

test.run()
