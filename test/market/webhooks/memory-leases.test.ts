// engines: embedded, postgres; process: shared
/** On a file nobody else sends, and no row tells what is in hand: the order in which this process hears of things decides. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../../src/api/dispatch.ts'
import type { LeasedDelivery } from '../../../src/market/webhook-outlet.ts'
import { leasesOf } from '../../../src/market/webhooks/dispatcher.ts'
import type { Leases } from '../../../src/market/webhooks/leases.ts'
import { answered } from '../../../src/world/virtual.ts'
import { engine } from '../../support/databases.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'
import { queuedAgent } from '../../support/queued-agent.ts'
import { ticking } from '../../support/ticking.ts'

interface State {
  folder: string
  marketplace: TestMarketplace
  agent: ListedAgent
  leases: Leases
  gate: Promise<void>
  end(): void
}

/** On a server, rows tell what is in hand: what follows from holding alone is tried there too. */
const isFile = engine === 'embedded'

const test = suite<State>('own leases')
const onFile = isFile ? test : () => {}

test.before.each(async state => {
  const folder = await mkdtemp(join(tmpdir(), 'own-leases-'))
  const marketplace = await openTestMarketplace(isFile ? { file: join(folder, 'market.db') } : {})
  const agent = await marketplace.list(await marketplace.join('builder'))
  const buyer = await marketplace.join('buyer', 5_000)
  const gate = new Promise<void>(resolve => {
    state.end = resolve
  })
  agent.sink.answer = () => gate.then(() => answered(200))
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  Object.assign(state, { folder, marketplace, agent, gate, leases: leasesOf(marketplace.market) })
})
test.after.each(async ({ folder, marketplace, end }) => {
  end()
  await marketplace.close()
  await rm(folder, { recursive: true })
})

async function found({ leases, agent }: State): Promise<LeasedDelivery[]> {
  leases.begin()
  return leases.pass(look => look.claim(queuedAgent(agent), 1))
}

onFile('a claim leaves the row as it was', async state => {
  const { marketplace, leases } = state
  const rows = () => marketplace.market.db.read(q => q.all('SELECT * FROM deliveries'))
  const before = await rows()
  const [delivery] = await found(state)
  leases.acquire(delivery!)
  assert.equal(await rows(), before)
  assert.equal(leases.claimNew(), { claimedUntil: Number.POSITIVE_INFINITY, leasedUntil: 0, attempts: 0, sender: null })
})

onFile('what was sent while a look was on its way is not held by what the look saw', async state => {
  const { leases } = state
  const [seen] = await found(state)
  const sent = { ...seen! }
  assert.ok(leases.acquire(sent))
  assert.not.ok(leases.acquire(seen!))
  leases.release(sent)
  assert.not.ok(leases.acquire(seen!))
  leases.begin()
  assert.ok(leases.acquire(seen!))
})

onFile('hours of another clock free nothing that is being sent', async state => {
  const { marketplace, leases } = state
  const [delivery] = await found(state)
  leases.acquire(delivery!)
  marketplace.world.tick(24 * 3_600_000)
  assert.equal(await found(state), [])
})

/** Drafts of as many buyers, and a way to submit them all at the same moment. */
async function drafts({ marketplace }: State, agents: readonly ListedAgent[]) {
  const buyers: TestUser[] = []
  // One after the other: a slow machine refuses so many passwords at once.
  for (const n of agents.keys()) buyers.push(await marketplace.join(`buyer${n}`, 2_000))
  const tasks = await Promise.all(agents.map((agent, n) => marketplace.draft(buyers[n]!, agent)))
  return () => Promise.all(tasks.map(({ id }, n) => buyers[n]!.call('POST', `/api/tasks/${id}/submit`)))
}

test('a burst for one agent keeps no other of its host waiting until all of it is sent', async state => {
  const { marketplace, gate, end } = state
  const builder = await marketplace.join('neighbours')
  const [loud, quiet] = [0, 1].map(() => marketplace.list(builder, {}, marketplace.sink('shared.localhost')))
  const order: string[] = []
  for (const agent of [await loud!, await quiet!]) {
    agent.sink.answer = async () => {
      order.push(agent.id)
      await gate
      return answered(200)
    }
  }
  const submit = await drafts(state, [...Array<ListedAgent>(40).fill(await loud!), await quiet!])
  marketplace.world.tick(1000)
  await marketplace.market.db.read(q => q.get('SELECT 1 AS one')) // behind the look of that tick
  await submit()
  end()
  await marketplace.webhooksSent()
  assert.is(order.length, 41)
  assert.ok(order.indexOf((await quiet!).id) < 20, `sent as number ${order.indexOf((await quiet!).id) + 1}`)
})

test('what waited beside a crowd is sent when that is gone, whatever is still in flight', async state => {
  const { marketplace, gate } = state
  const builder = await marketplace.join('hosts')
  // A builder's tests of connections run few at a time.
  const agents: ListedAgent[] = []
  for (let n = 0; n < 12; n++) agents.push(await marketplace.list(builder, {}, marketplace.sink(`h${n}.localhost`)))
  for (const { sink } of agents) sink.answer = () => gate.then(() => answered(200))
  const submit = await drafts(state, agents)
  let waiting = dispatch.crowd + 1
  Object.defineProperty(marketplace.market.db, 'waiting', { get: () => waiting })
  marketplace.world.tick(1000)
  await submit()
  waiting = 0
  const sent = () => agents.filter(({ sink }) => sink.received.length === 1).length
  await ticking(marketplace, 'all of them', () => sent() === agents.length)
  assert.is(sent(), agents.length)
})

test.run()
