// engines: embedded, postgres at length; process: shared
/** Ids carry the shard of an account, and what belongs to one task has one shard. Source: A-322. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededChance } from '../../src/world/chance.ts'
import { idMaker, shardOf } from '../../src/world/ids.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

test('an id gets the shard of the one beside it, and differs from others as much as before', () => {
  const id = idMaker(seededChance('ids'))
  const shards = new Set<number>()
  for (let i = 0; i < 5_000; i++) {
    const account = id('usr', 1_767_225_600_000)
    const shard = shardOf(account)!
    shards.add(shard)
    const own = Array.from({ length: 4 }, () => id('task', 1_767_225_600_000, account))
    assert.equal(own.map(shardOf), [shard, shard, shard, shard])
    assert.is(shardOf(id('msg', 1_767_225_600_001, own[0])), shard)
    assert.is(
      new Set(own.map(each => each.slice(-5))).size + new Set(own.map(each => each.slice(0, -8))).size > 5,
      true,
    )
  }
  assert.equal([Math.min(...shards), Math.max(...shards)], [0, 1023])
  assert.is(shards.size > 1_000, true)
})

test('ids are in the order of their making, whatever shards they have', () => {
  const id = idMaker(seededChance('order'))
  const accounts = [null, undefined, ...Array.from({ length: 50 }, () => id('usr', 5))]
  const made = Array.from({ length: 10_000 }, (_, i) => id('x', 6 + Math.floor(i / 100), accounts[i % accounts.length]))
  assert.equal([...new Set(made)].sort(), made)
})

test('an id from before has a shard too, which its own are given; what the marketplace has not made has none', () => {
  const id = idMaker(seededChance('old'))
  assert.is(shardOf('task_019ab12c5e6f7a3bb1c2d3e4ffc12345'), 1023)
  assert.is(shardOf('task_019ab12c5e6f7a3bb1c2d3e400312345'), 0)
  assert.is(shardOf(id('dlv', 5, 'task_019ab12c5e6f7a3bb1c2d3e480412345')), 513)
  for (const other of ['', 'usr_1', 'cat_writing', 'ann@example.com', '019ab12c5e6f7a3bb1c2d3e480412345'])
    assert.is(shardOf(other), null)
  assert.match(id('mail', 5, 'ann@example.com'), /^mail_[0-9a-f]{32}$/)
})

/** Tables whose rows have an id of ours, and the columns that name whose they are. */
const OF_TASKS = {
  tasks: 'id',
  deliverables: 'task_id',
  messages: 'task_id',
  reviews: 'task_id',
  deliveries: 'task_id',
}
const OF_ACCOUNTS = {
  ...{ agents: 'builder_id', samples: 'agent_id', api_keys: 'user_id', sessions: 'user_id' },
  ...{ budget_authorizations: 'owner_id', transfers: 'COALESCE(task_id, payer_id, payee_id)' },
}

test('all rows of a task are on the shard of who pays, the money of an approval too; an agent is where its builder is', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder, owner] = [
    await marketplace.join('buyer', 100_000),
    await marketplace.join('builder'),
    await marketplace.join('owner', 100_000),
  ]
  const agent = await marketplace.list(builder)
  const hiring = await marketplace.list(await marketplace.join('hirer'))
  await builder.client.addSample({ id: agent.id, title: 'A sample', output: 'What came out' })
  const budget = await owner.client.createBudget({
    ...{ agentId: hiring.id, maxPerTask: 5_000, maxDaily: 5_000, maxMonthly: 5_000 },
  })
  const drafts = [
    await marketplace.draft(buyer, agent),
    await marketplace.draft(hiring.builder, agent, { budgetAuthorizationId: budget.id }),
  ]
  for (const [i, { id }] of drafts.entries()) {
    const by = [buyer, hiring.builder][i]!.client
    await by.submitTask({ id })
    await builder.client.acceptTask({ id })
    await by.sendMessage({ id, content: 'A word' })
    await builder.client.deliverTask({ id, content: 'Done' })
    await by.approveTask({ id })
    await by.submitReview({ id, rating: 5 })
  }
  await marketplace.webhooksSent()
  const payers = await marketplace.market.db.read(q =>
    q.all<{ id: string; of: string }>('SELECT id, buyer_id AS of FROM tasks'),
  )
  assert.equal(new Set(payers.map(({ of }) => of)), new Set([buyer.id, owner.id]))
  for (const { id, of } of payers) assert.is(shardOf(id), shardOf(of))
  for (const [table, whose] of Object.entries({ ...OF_TASKS, ...OF_ACCOUNTS })) {
    const rows = await marketplace.market.db.read(q =>
      q.all<{ id: string; of: string }>(`SELECT id, ${whose} AS of FROM ${table}`),
    )
    assert.is(rows.length > 0, true, table)
    for (const { id, of } of rows) assert.is(shardOf(id), shardOf(of), `${table} ${id} of ${of}`)
  }
  await marketplace.close()
})

test.run()
