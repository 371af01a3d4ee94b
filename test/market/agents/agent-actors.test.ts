// engines: embedded, postgres at length; process: shared
/** Every agent state × every trigger × those who may not pull it, and what publishing needs. Source: I-agent-states, A-15, A-30. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { OwnAgentRecord } from '../../../src/api/records.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

const states = ['draft', 'pending_review', 'verified', 'active', 'inactive'] as const
type State = (typeof states)[number]

const triggers = ['publish', 'approve', 'reject', 'deactivate', 'reactivate'] as const
type Trigger = (typeof triggers)[number]

type Person = 'builder' | 'admin'
const actors = ['builder', 'another builder', 'buyer', 'admin', 'nobody'] as const
type ActorName = (typeof actors)[number]

const rightful: Record<Trigger, Person> = {
  publish: 'builder',
  approve: 'admin',
  reject: 'admin',
  deactivate: 'builder',
  reactivate: 'builder',
}

const pathOf: Record<Trigger, string> = {
  publish: '/api/my/agents/:id/publish',
  approve: '/api/admin/agents/:id/approve',
  reject: '/api/admin/agents/:id/reject',
  deactivate: '/api/my/agents/:id/deactivate',
  reactivate: '/api/my/agents/:id/reactivate',
}

interface Fixture {
  marketplace: TestMarketplace
  users: Record<Exclude<ActorName, 'nobody'>, TestUser>
  agents: Map<State, ListedAgent>
}

async function openFixture(): Promise<Fixture> {
  const marketplace = await openTestMarketplace()
  const [builder, other, buyer] = await Promise.all(
    ['builder', 'another.builder', 'buyer'].map(name => marketplace.join(name)),
  )
  const users = { builder: builder!, 'another builder': other!, buyer: buyer!, admin: marketplace.admin }
  const agents = new Map<State, ListedAgent>()
  for (const state of states) agents.set(state, await bring(marketplace, builder!, state))
  return { marketplace, users, agents }
}

/** An agent in a state, with a fresh pass that is newer than whatever has to be older. */
async function bring(marketplace: TestMarketplace, builder: TestUser, state: State): Promise<ListedAgent> {
  const agent = await marketplace.list(builder)
  await marketplace.market.db.write(tx => tx.run('UPDATE agents SET status = $2 WHERE id = $1', [agent.id, state]))
  return agent
}

const pull = ({ marketplace, users }: Fixture, actor: ActorName, trigger: Trigger, id: string) => {
  const user = actor === 'nobody' ? marketplace.visitor : users[actor]
  const body = trigger === 'reject' ? { reason: 'Too thin.' } : undefined
  return user.ask<OwnAgentRecord>('POST', pathOf[trigger].replace(':id', id), body, 'key')
}

const refusals = suite<Fixture & { before: Record<string, string> }>('refusals')

refusals.before(async context => {
  Object.assign(context, await openFixture())
  context.before = await context.marketplace.contents()
})

refusals.after(({ marketplace }) => marketplace.close())

for (const state of states) {
  for (const trigger of triggers) {
    refusals(
      `${state}: ${trigger} is refused to all but the ${rightful[trigger]}, and changes nothing`,
      async context => {
        const { id } = context.agents.get(state)!
        for (const actor of actors.filter(actor => actor !== rightful[trigger])) {
          const answer = await pull(context, actor, trigger, id)
          assert.is(answer.status, actor === 'nobody' ? 401 : 403, `${actor}: ${answer.error}`)
          assert.equal(await context.marketplace.contents(), context.before, actor)
        }
      },
    )
  }
}

refusals('of an agent that is not there is 404 to those who could', async context => {
  for (const trigger of triggers) {
    assert.is((await pull(context, rightful[trigger], trigger, 'agt_none')).status, 404, trigger)
  }
})

refusals.run()

const passes = suite<Fixture>('passes')
passes.before(async context => void Object.assign(context, await openFixture()))
passes.after(({ marketplace }) => marketplace.close())

passes('publish needs a pass that is 24 hours old at most, and newer than the URL and the secret', async context => {
  const { marketplace, users } = context
  const agent = await bring(marketplace, users.builder, 'draft')
  const mine = `/api/my/agents/${agent.id}`
  const publish = async () => (await pull(context, 'builder', 'publish', agent.id)).status
  await users.builder.call('PUT', mine, { webhookUrl: 'https://localhost/elsewhere' }, 'key')
  assert.is(await publish(), 400)
  await users.builder.call('PUT', mine, { webhookUrl: agent.sink.url }, 'key')
  assert.is(await publish(), 400)
  await marketplace.freshen(agent)
  const { secret } = await users.builder.call<{ secret: string }>('POST', `${mine}/webhook-secret`, undefined, 'key')
  agent.sink.secret = secret
  assert.is(await publish(), 400)
  await marketplace.freshen(agent)
  await marketplace.pass(86_400_001)
  assert.is(await publish(), 400)
  await marketplace.freshen(agent)
  await marketplace.pass(86_400_000)
  assert.is(await publish(), 200)
})

passes('a listed agent is public for exactly 24 hours after a pass, and again after the next', async context => {
  const { marketplace, users } = context
  const agent = await marketplace.list(users.builder)
  const shown = async () => (await marketplace.visitor.ask('GET', `/api/agents/${agent.id}`)).status
  await marketplace.stopHeartbeat()
  await marketplace.pass(86_400_000)
  assert.is(await shown(), 200)
  await marketplace.pass(1)
  assert.is(await shown(), 404)
  await marketplace.freshen(agent)
  assert.is(await shown(), 200)
})

passes.run()
