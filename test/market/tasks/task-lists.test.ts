// engines: embedded, postgres and narrow at length; process: shared
/** What the filters, the orders and the counts of task lists leave, for whom. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace } from '../../support/marketplace.ts'

type Titled = { readonly tasks: readonly { readonly title: string }[]; readonly pagination: { readonly total: number } }
const titlesIn = ({ tasks, pagination }: Titled) => {
  assert.is(pagination.total, tasks.length)
  return tasks.map(({ title }) => title)
}

/** Three tasks of one buyer with two agents: a draft, one in dispute, one delivered. */
async function threeTasks() {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 50_000)
  const builder = await marketplace.join('builder')
  const first = await marketplace.list(builder)
  const second = await marketplace.list(builder, { name: 'Another' })
  const draft = await marketplace.draft(buyer, first, { title: 'A draft of Ärger', agreedPrice: 900 })
  await marketplace.pass(1000)
  const disputed = await marketplace.draft(buyer, second, { title: 'In dispute 50%', agreedPrice: 300 })
  await marketplace.pass(1000)
  const delivered = await marketplace.draft(buyer, second, { title: 'Delivered work', agreedPrice: 600 })
  for (const { id } of [disputed, delivered]) {
    await buyer.client.submitTask({ id })
    await builder.client.acceptTask({ id })
  }
  await builder.client.deliverTask({ id: delivered.id, content: 'Done.' })
  await marketplace.pass(1000)
  await buyer.client.disputeTask({ id: disputed.id, reason: 'It is not what was asked for' })
  return { marketplace, buyer, builder, first, second, draft, disputed, delivered }
}

const [DRAFT, DISPUTED, DELIVERED] = ['A draft of Ärger', 'In dispute 50%', 'Delivered work']

test('a list of tasks has what each filter leaves, in the order that is asked for', async () => {
  const { marketplace, buyer, builder, second, disputed } = await threeTasks()
  const found = async (query: object) => titlesIn(await buyer.client.listTasks(query))
  assert.equal(await found({}), [DELIVERED, DISPUTED, DRAFT])
  assert.equal(await found({ q: 'WORK' }), [DELIVERED])
  assert.equal(await found({ q: 'Ärger' }), [DRAFT])
  assert.equal(await found({ q: '0%' }), [DISPUTED])
  assert.equal(await found({ q: '_' }), [])
  assert.equal(await found({ q: disputed.id }), [DISPUTED])
  assert.equal(await found({ agent: 'test-writer' }), [DRAFT])
  assert.equal(await found({ agent: second.id, role: 'buyer' }), [DELIVERED, DISPUTED])
  assert.equal(await found({ agent: 'nobody' }), [])
  assert.equal(await found({ disputed: 'true' }), [DISPUTED])
  assert.equal(await found({ disputed: 'false', role: 'buyer' }), [DELIVERED, DRAFT])
  assert.equal(await found({ status: 'draft' }), [DRAFT])
  assert.equal(await found({ status: 'draft,in_progress' }), [DISPUTED, DRAFT])
  assert.equal(await found({ status: 'pending,completed' }), [])
  assert.equal(await found({ role: 'builder', q: 'work' }), [])
  assert.equal(await found({ sort: 'oldest' }), [DRAFT, DISPUTED, DELIVERED])
  assert.equal(await found({ sort: 'updated' }), [DISPUTED, DELIVERED, DRAFT])
  assert.equal(await found({ sort: 'price' }), [DRAFT, DELIVERED, DISPUTED])
  const page = await buyer.client.listTasks({ sort: 'price', limit: 1, page: 2 })
  assert.equal([page.tasks[0]!.title, page.pagination.total, page.pagination.hasMore], [DELIVERED, 3, true])
  // Behind the last, and behind all that is shown.
  for (const behind of [3, 99, 501]) {
    const { tasks, pagination } = await buyer.client.listTasks({ q: 'e', limit: 20, page: behind })
    assert.equal([tasks, pagination.total, pagination.hasMore], [[], 3, false])
  }
  // What the builder sees has no drafts of others.
  assert.equal(titlesIn(await builder.client.listTasks({ sort: 'oldest' })), [DISPUTED, DELIVERED])
  const stranger = await marketplace.join('stranger')
  assert.equal(titlesIn(await stranger.client.listTasks({ q: 'i' })), [])
  assert.is((await buyer.ask('GET', '/api/tasks?status=draft,done')).status, 400)
  await marketplace.close()
})

test('tasks are counted by state, under the same filters', async () => {
  const { marketplace, buyer, builder } = await threeTasks()
  const none = { draft: 0, pending: 0, in_progress: 0, delivered: 0, completed: 0, cancelled: 0 }
  assert.equal(await buyer.client.countTasks(), { ...none, draft: 1, in_progress: 1, delivered: 1 })
  assert.equal(await builder.client.countTasks({ role: 'builder' }), { ...none, in_progress: 1, delivered: 1 })
  assert.equal(await buyer.client.countTasks({ role: 'builder' }), none)
  assert.equal(await buyer.client.countTasks({ agent: 'another', disputed: 'true' }), { ...none, in_progress: 1 })
  assert.equal(await buyer.client.countTasks({ q: 'dispute' }), { ...none, in_progress: 1 })
  await marketplace.close()
})

test('the parties of a task know each other by name, and by no address', async () => {
  const { marketplace, buyer, builder, delivered } = await threeTasks()
  const names = { buyer: { id: buyer.id, name: 'buyer' }, builder: { id: builder.id, name: 'builder' } }
  for (const { client } of [buyer, builder]) {
    const task = await client.getTask({ id: delivered.id })
    assert.equal({ buyer: task.buyer, builder: task.builder }, names)
    const [listed] = (await client.listTasks({ q: delivered.id })).tasks
    assert.equal(listed, task)
  }
  await marketplace.close()
})

test('administrators find the tasks of an account, of an agent and in states', async () => {
  const { marketplace, buyer, builder } = await threeTasks()
  const { admin } = marketplace
  const found = async (query: object) => {
    const { items, pagination } = await admin.client.adminListTasks(query)
    return titlesIn({ tasks: items, pagination })
  }
  assert.equal(await found({ userId: buyer.id }), [DELIVERED, DISPUTED, DRAFT])
  assert.equal(await found({ userId: builder.id, q: 'i' }), [DELIVERED, DISPUTED])
  assert.equal(await found({ userId: 'usr_none' }), [])
  assert.equal(await found({ agent: 'test-writer' }), [DRAFT])
  assert.equal(await found({ q: 'work' }), [DELIVERED])
  assert.equal(await found({ status: 'draft,delivered' }), [DELIVERED, DRAFT])
  assert.equal(await found({ disputed: 'true', status: 'in_progress' }), [DISPUTED])
  await marketplace.close()
})

test.run()
