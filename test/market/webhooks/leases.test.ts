// engines: embedded, postgres; process: shared
/** Who may send a webhook: one at a time, by a lease or by memory, and nobody one that has been sent meanwhile. Source: A-37. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../../src/api/dispatch.ts'
import { durations } from '../../../src/api/limits.ts'
import type { LeasedDelivery } from '../../../src/market/webhook-outlet.ts'
import { leasesOf } from '../../../src/market/webhooks/dispatcher.ts'
import type { Leases } from '../../../src/market/webhooks/leases.ts'
import { endDelivery, retryAt, unclaimDeliveries } from '../../../src/store/tables/webhooks/outbox.ts'
import { answered } from '../../../src/world/virtual.ts'
import { engine } from '../../support/databases.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'
import { inTime, until } from '../../support/patience.ts'
import { firstQueued, queuedAgent } from '../../support/queued-agent.ts'

const TASKS = 3

interface State {
  marketplace: TestMarketplace
  /** Nothing of it is sent: the slots at its host are taken by another agent's webhooks until the end. */
  agent: ListedAgent
  leases: Leases
  end(): void
}

const test = suite<State>('leases')

test.before.each(async state => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  const buyer = await marketplace.join('buyer', 20_000)
  const [busy, agent] = [await marketplace.list(builder), await marketplace.list(builder)]
  const gate = new Promise<void>(resolve => {
    state.end = resolve
  })
  busy.sink.answer = () => gate.then(() => answered(200))
  const submit = async (to: ListedAgent) => {
    const { id } = await marketplace.draft(buyer, to)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
  }
  for (let i = 0; i < dispatch.perHost; i++) await submit(busy)
  await until('all that the host takes', () => busy.sink.received.length >= dispatch.perHost)
  for (let i = 0; i < TASKS; i++) await submit(agent)
  Object.assign(state, { marketplace, agent, leases: leasesOf(marketplace.market) })
})
test.after.each(async ({ marketplace, end }) => {
  end()
  await marketplace.close()
})

async function claim({ leases, agent }: State, count: number): Promise<LeasedDelivery[]> {
  const found = await leases.pass(look => look.claim(queuedAgent(agent), count))
  return found.filter(delivery => leases.acquire(delivery))
}

/** As a task's first event is claimed: by its own write, and by no look. */
async function claimAlone({ marketplace, leases }: State, delivery: LeasedDelivery): Promise<LeasedDelivery> {
  const { leasedUntil, attempts, sender, claimedUntil } = leases.claimNew()
  await marketplace.market.db.write(tx =>
    tx.run('UPDATE deliveries SET leased_until = $2, attempts = $3, sender = $4 WHERE id = $1', [
      delivery.id,
      leasedUntil,
      attempts,
      sender,
    ]),
  )
  const claimed = { ...delivery, attempts, attempt: 1, claimedUntil, sender }
  assert.ok(leases.acquire(claimed))
  return claimed
}

const due = ({ leases, agent }: State) => leases.pass(look => look.dueOf([agent.id]))
const ids = (deliveries: readonly LeasedDelivery[]) => deliveries.map(({ id }) => id)

/** What the dispatcher does when the answer is there. */
async function end({ marketplace, leases }: State, delivery: LeasedDelivery) {
  const ended = await marketplace.market.db.write(tx => endDelivery(tx, delivery, 'delivered', marketplace.world.now()))
  leases.release(delivery)
  return ended
}

test('what is in hand is not taken again, and is no longer due', async state => {
  const first = await claim(state, 2)
  assert.is(first.length, 2)
  const rest = await claim(state, 2)
  assert.is(rest.length, TASKS - 2)
  assert.is(new Set(ids([...first, ...rest])).size, TASKS)
  assert.equal(await due(state), [])
  assert.equal(await claim(state, 2), [])
  const page = await firstQueued(state.leases)
  assert.is(page.find(({ agentId }) => agentId === state.agent.id)?.due, 0)
})

test('a claimed delivery knows where it goes, and with which secret it is signed', async ({
  leases,
  agent,
  marketplace,
}) => {
  const to = queuedAgent(agent)
  const [claimed] = await leases.pass(look => look.claim(to, 1))
  const { agentId, builderId, webhookUrl, secret, claimedUntil } = claimed!
  assert.ok(
    claimedUntil > marketplace.world.realNow() + durations.webhookTimeoutMs,
    'and that there is time to send it',
  )
  assert.equal({ agentId, builderId, webhookUrl, secret, due: 1 }, to)
})

test('two looks of one moment do not claim the same', async state => {
  const { leases, agent } = state
  const looks = await Promise.all([1, 2].map(() => leases.pass(look => look.claim(queuedAgent(agent), 2))))
  const taken = ids(looks.flat().filter(delivery => leases.acquire(delivery)))
  assert.is(new Set(taken).size, taken.length)
})

test('what is given back is taken again, for the same attempt', async state => {
  const first = await claim(state, 1)
  await state.leases.giveBack(first)
  assert.is((await due(state)).length, 1)
  const again = await claim(state, 1)
  assert.equal(ids(again), ids(first))
  assert.equal([first[0]!.attempt, again[0]!.attempt], [1, 1])
})

test('what a look found is not taken by it if it was taken and sent meanwhile', async state => {
  const { leases, agent } = state
  const [first] = await leases.pass(look => look.claim(queuedAgent(agent), 1))
  await leases.giveBack([first!])
  const page = await firstQueued(leases)
  assert.is(page.find(({ agentId }) => agentId === agent.id)?.due, 1)
  const sent = await claimAlone(state, first!)
  await end(state, sent)
  const taken = await leases.pass(look => look.claim(queuedAgent(agent), 1))
  assert.is(taken.length, 1)
  assert.is.not(taken[0]!.id, sent.id)
})

test('what was given up is taken again, and whoever notes the old attempt later is told so', async state => {
  const { marketplace, leases } = state
  const late = await claim(state, TASKS)
  assert.equal(await claim(state, TASKS), [])
  marketplace.world.tick(dispatch.leaseMs + 1)
  for (const delivery of late) leases.release(delivery)
  leases.begin()
  const again = await claim(state, TASKS)
  assert.equal(ids(again).sort(), ids(late).sort())
  assert.ok(await end(state, again[0]!))
  assert.is(await end(state, late.find(({ id }) => id === again[0]!.id)!), null)
})

// On a file nobody else can hold a delivery, and a claim writes nothing.
if (engine === 'postgres') {
  test('a claim takes what no other claim has in hand at this moment, and does not wait for that to end', async state => {
    const { leases, agent } = state
    let end = () => {}
    const gate = new Promise<void>(resolve => {
      end = resolve
    })
    let taken = (_ids: string[]) => {}
    const first = new Promise<string[]>(resolve => {
      taken = resolve
    })
    const holding = leases.pass(async look => {
      taken(ids(await look.claim(queuedAgent(agent), 1)))
      await gate
    })
    const [firstId] = await first
    const second = leases.pass(look => look.claim(queuedAgent(agent), 1)).then(ids)
    const [secondId] = await inTime('a claim that does not wait', second).finally(end)
    await Promise.all([holding, second])
    assert.ok(secondId?.startsWith('dlv_'), String(secondId))
    assert.is.not(secondId, firstId)
  })

  test('whoever’s lease is over ends nothing, and plans no retry, while another has it in hand', async state => {
    const { marketplace } = state
    const [late] = await claim(state, 1)
    marketplace.world.tick(dispatch.leaseMs + 1)
    const again = (await claim(state, TASKS)).find(({ id }) => id === late!.id)!
    const { db, world } = marketplace.market
    const row = () => db.read(q => q.get('SELECT state, attempts FROM deliveries WHERE id = $1', [late!.id]))
    assert.equal([late!.attempts, again.attempts], [1, 2])
    assert.is(await end(state, late!), null)
    assert.is(await db.write(tx => retryAt(tx, late!, world.now())), null)
    await db.write(tx => unclaimDeliveries(tx, [late!]))
    assert.equal(await row(), { state: 'pending', attempts: 2 })
    assert.ok(await end(state, again))
    assert.equal(await row(), { state: 'delivered', attempts: 2 })
  })
}

test.run()
