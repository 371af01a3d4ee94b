// engines: embedded, postgres at length; process: shared
/** What a step of a task needs besides its state: money, an agent, time, revisions, an account in good standing. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../../src/api/records.ts'
import { type Fixture, openFixture } from '../../support/task-fixture.ts'
import { type Situation, window48h } from '../../support/task-rules.ts'

const condition = suite<Fixture>('conditions')
condition.before.each(async context => void Object.assign(context, await openFixture()))
condition.after.each(async ({ marketplace }) => {
  await marketplace.checkLedger()
  await marketplace.close()
})

const refused = async (
  { marketplace }: Fixture,
  status: number,
  ask: () => Promise<{ status: number; error?: string }>,
) => {
  const before = await marketplace.contents()
  const answer = await ask()
  assert.is(answer.status, status, answer.error)
  assert.equal(await marketplace.contents(), before, 'a refused request changes nothing')
  return answer.error ?? ''
}

const one = async (fixture: Fixture, situation: Situation) => (await fixture.bring([situation]))[0]!.id

condition('submit: the whole price must be spendable, to the cent; money that clears is not', async fixture => {
  const { marketplace, agent, users } = fixture
  const spender = await marketplace.join('spender', 1_000)
  const tooMuch = await marketplace.draft(spender, agent, { agreedPrice: 1_001 })
  const submit = (id: string) => spender.ask('POST', `/api/tasks/${id}/submit`)
  assert.match(await refused(fixture, 400, () => submit(tooMuch.id)), /10\.00.*10\.01/)
  const all = await marketplace.draft(spender, agent)
  assert.is((await submit(all.id)).status, 200)
  assert.equal(await marketplace.balances(spender.id), { available: 0, held: 1_000, clearing: 0 })

  // The builder earns 1,000, and can spend it when it has cleared.
  await fixture.pull('builder', 'accept', all.id)
  await fixture.pull('builder', 'deliver', all.id)
  await spender.call('POST', `/api/tasks/${all.id}/approve`)
  const { builder } = users
  const own = await marketplace.draft(builder, await marketplace.list(users['another builder']))
  const spend = () => builder.ask('POST', `/api/tasks/${own.id}/submit`)
  assert.match(await refused(fixture, 400, spend), /0\.00 to spend and 10\.00.*clearing/)
  await marketplace.pass(window48h)
  await marketplace.freshen({ ...agent, id: own.agentId, builder: users['another builder'] })
  assert.is((await spend()).status, 200)
})

condition('create and submit: the agent must be public then; its own builder gets no other answer', async fixture => {
  const { marketplace, agent, users } = fixture
  const draft = await marketplace.draft(users.buyer, agent)
  agent.sink.status = 500 // or a heartbeat would show it again
  await marketplace.pass(86_400_001)
  await refused(fixture, 400, () => fixture.pull('buyer', 'submit', draft.id))
  for (const party of [users.buyer, users.builder]) {
    const body = { title: draft.title, description: draft.description, agreedPrice: 1_000, agentId: agent.id }
    await refused(fixture, 404, () => party.ask('POST', '/api/tasks', body))
  }
  agent.sink.status = 200
  await marketplace.freshen(agent)
  assert.is((await fixture.pull('buyer', 'submit', draft.id)).status, 200)
})

condition(
  'dispute: until 48 hours after the completion, not at them, whether the payment was cleared or not',
  async fixture => {
    const { marketplace } = fixture
    const [first, second] = await fixture.bring(['completed', 'completed'])
    await marketplace.pass(window48h - 1)
    assert.is((await fixture.pull('buyer', 'dispute', first!.id)).status, 200)
    marketplace.world.advance(marketplace.world.now() + 1)
    await refused(fixture, 400, () => fixture.pull('buyer', 'dispute', second!.id))
    await marketplace.pass(0)
    await refused(fixture, 400, () => fixture.pull('buyer', 'dispute', second!.id))
  },
)

condition('dispute: one a task, also when it was resolved; resolve: once', async fixture => {
  const id = await one(fixture, 'completed by a resolution')
  await refused(fixture, 400, () => fixture.pull('buyer', 'dispute', id))
  for (const outcome of ['resolve_refund', 'resolve_release', 'resolve_split'] as const) {
    await refused(fixture, 400, () => fixture.pull('admin', outcome, id))
  }
})

condition('resolve: money needs a session, an administrator with a key is refused', async fixture => {
  const id = await one(fixture, 'delivered, disputed')
  await refused(fixture, 403, () => fixture.pull('admin', 'resolve_release', id, 'key'))
})

condition('request-revision: as often as the agent allowed when the task was submitted', async fixture => {
  const { marketplace, users } = fixture
  const agent = await marketplace.list(users.builder, { maxRevisions: 1 })
  const { id } = await marketplace.draft(users.buyer, agent)
  await users.builder.call('PUT', `/api/my/agents/${agent.id}`, { maxRevisions: 2 })
  assert.is((await fixture.pull('buyer', 'submit', id)).data?.maxRevisions, 2)
  await users.builder.call('PUT', `/api/my/agents/${agent.id}`, { maxRevisions: 0 })
  await fixture.pull('builder', 'accept', id)
  for (const count of [1, 2]) {
    await fixture.pull('builder', 'deliver', id)
    assert.is((await fixture.pull('buyer', 'request_revision', id)).data?.revisionCount, count)
  }
  await fixture.pull('builder', 'deliver', id)
  await refused(fixture, 400, () => fixture.pull('buyer', 'request_revision', id))
})

condition('review: one a task, the second is a conflict', async fixture => {
  const id = await one(fixture, 'completed')
  assert.is((await fixture.pull('buyer', 'review', id)).status, 201)
  await refused(fixture, 409, () => fixture.pull('buyer', 'review', id))
})

condition('a suspended account starts nothing, and closes what is open', async fixture => {
  const { marketplace, users, agent } = fixture
  const tasks = await fixture.bring(['draft', 'draft', 'pending', 'in_progress', 'in_progress', 'delivered', 'pending'])
  const [draft, spare, pending, accepted, working, delivered, other] = tasks.map(({ id }) => id) as string[]
  for (const { id } of [users.buyer, users.builder]) {
    await marketplace.admin.call('PUT', `/api/admin/users/${id}`, { suspended: true })
  }
  const { buyer } = users
  await refused(fixture, 403, () => fixture.pull('buyer', 'submit', draft!))
  const body = { title: 'One more task', description: 'A task that must not be made.', agreedPrice: 1_000 }
  await refused(fixture, 403, () => buyer.ask('POST', '/api/tasks', { ...body, agentId: agent.id }))
  await refused(fixture, 403, () => buyer.ask('POST', '/api/wallet/deposit', { amount: 1_000 }))
  await refused(fixture, 403, () => buyer.ask('POST', '/api/wallet/withdraw', { amount: 1_000 }))
  await refused(fixture, 403, () => buyer.ask('POST', '/api/my/api-keys', { name: 'more' }))
  await refused(fixture, 403, () => users.builder.ask('POST', '/api/my/agents', {}))
  const allowed = [
    ['buyer', 'cancel', spare],
    ['buyer', 'message', pending],
    ['buyer', 'cancel', pending],
    ['buyer', 'dispute', accepted],
    ['builder', 'deliver', working],
    ['buyer', 'approve', delivered],
    ['builder', 'reject', other],
  ] as const
  for (const [actor, trigger, id] of allowed) {
    const { status, error } = await fixture.pull(actor, trigger, id!)
    assert.ok(status < 300, `${trigger}: ${status} ${error}`)
  }
})

condition(
  'a banned account is refused everywhere; its agent’s callback, after its signature was looked at',
  async fixture => {
    const { marketplace, users } = fixture
    const id = await one(fixture, 'pending')
    await marketplace.admin.call('PUT', `/api/admin/users/${users.builder.id}`, { banned: true })
    for (const route of ['key', 'agent', 'signed'] as const) {
      await refused(fixture, 403, () => fixture.pull('builder', 'accept', id, route))
    }
    await refused(fixture, 401, () => fixture.pull('another builder', 'accept', id, 'signed'))
    const { email, password } = users.builder
    await refused(fixture, 403, () => marketplace.visitor.ask('POST', '/api/auth/login', { email, password }))
    await marketplace.admin.call('PUT', `/api/admin/users/${users.buyer.id}`, { banned: true })
    await refused(fixture, 403, () => fixture.pull('buyer', 'cancel', id))
    await refused(fixture, 403, () => users.buyer.ask('GET', '/api/wallet'))
  },
)

condition('work for oneself is paid for and counts for nothing', async fixture => {
  const { marketplace, users, agent } = fixture
  const { builder } = users
  await builder.call('POST', '/api/wallet/deposit', { amount: 1_000 })
  const { id } = await marketplace.draft(builder, agent)
  const path = `/api/tasks/${id}`
  for (const verb of ['submit', 'accept']) await builder.call('POST', `${path}/${verb}`)
  await builder.call('POST', `${path}/deliver`, { content: 'For me.' })
  assert.is((await builder.call<TaskRecord>('POST', `${path}/approve`)).status, 'completed')
  await builder.call('POST', `${path}/review`, { rating: 5 })
  assert.equal(await marketplace.balances(builder.id), { available: 0, held: 0, clearing: 1_000 })
  const listed = await marketplace.visitor.call<{ completedTasks: number; rating: object }>(
    'GET',
    `/api/agents/${agent.id}`,
  )
  assert.equal([listed.completedTasks, listed.rating], [0, { average: null, count: 0 }])
})

condition('a refund after the completion takes the task and its review out of the agent’s figures', async fixture => {
  const { marketplace, agent } = fixture
  const tasks = (await fixture.bring(['completed', 'completed'])).map(({ id }) => id)
  for (const id of tasks) await fixture.pull('buyer', 'review', id)
  const figures = async () => {
    const { completedTasks, rating } = await marketplace.visitor.call<{ completedTasks: number; rating: object }>(
      'GET',
      `/api/agents/${agent.id}`,
    )
    return [completedTasks, rating]
  }
  assert.equal(await figures(), [2, { average: 4, count: 2 }])
  await fixture.pull('buyer', 'dispute', tasks[0]!)
  await fixture.pull('admin', 'resolve_refund', tasks[0]!)
  assert.equal(await figures(), [1, { average: 4, count: 1 }])
})

condition.run()
