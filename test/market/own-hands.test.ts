/** On a file nobody else sends, and no row tells what is in hand: the order in which this process hears of things decides. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Hands, type HeldDelivery, handsOf } from '../../src/market/in-hand.ts'
import { answered } from '../../src/world/virtual.ts'
import { type House, type ListedAgent, openHouse } from '../support/marketplace.ts'

interface State {
  folder: string
  house: House
  agent: ListedAgent
  hands: Hands
  end(): void
}

const test = suite<State>('own hands')

test.before.each(async state => {
  const folder = await mkdtemp(join(tmpdir(), 'own-hands-'))
  const house = await openHouse({ file: join(folder, 'market.db') })
  const agent = await house.list(await house.join('builder'))
  const buyer = await house.join('buyer', 5_000)
  const gate = new Promise<void>(resolve => {
    state.end = resolve
  })
  agent.sink.answer = () => gate.then(() => answered(200))
  const { id } = await house.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  Object.assign(state, { folder, house, agent, hands: handsOf(house.market) })
})
test.after.each(async ({ folder, house, end }) => {
  end()
  await house.close()
  await rm(folder, { recursive: true })
})

async function found({ hands, agent }: State): Promise<HeldDelivery[]> {
  hands.begin()
  return hands.look(look => look.take(agent.id, 1))
}

test('a claim leaves the row as it was', async state => {
  const { house, hands } = state
  const rows = () => house.market.db.read(q => q.all('SELECT * FROM deliveries'))
  const before = await rows()
  const [delivery] = await found(state)
  hands.hold(delivery!)
  assert.equal(await rows(), before)
  assert.equal(hands.claimNew(), { heldUntil: Number.POSITIVE_INFINITY, leasedUntil: 0, attempts: 0 })
})

test('what was sent while a look was on its way is not held by what the look saw', async state => {
  const { hands } = state
  const [seen] = await found(state)
  const sent = { ...seen! }
  assert.ok(hands.hold(sent))
  assert.not.ok(hands.hold(seen!))
  hands.release(sent)
  assert.not.ok(hands.hold(seen!))
  hands.begin()
  assert.ok(hands.hold(seen!))
})

test('hours of another clock free nothing that is being sent', async state => {
  const { house, hands } = state
  const [delivery] = await found(state)
  hands.hold(delivery!)
  house.world.tick(24 * 3_600_000)
  assert.equal(await found(state), [])
})

test.run()
