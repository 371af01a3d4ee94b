// engines: embedded, postgres at length; process: shared
/** What simulated buyers do while there is nothing to do, while agents go, and while the database is away. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { personas } from '../../../src/sim/buyers/personas.ts'
import { SimulatedBuyers } from '../../../src/sim/buyers/simulated-buyers.ts'
import type { ListedAgent } from '../../support/marketplace.ts'
import { openScene, type Scene, worker } from './scene.ts'

const MINUTE = 60_000

/** Lets both clocks go on, as long as they look at them so often. */
async function look({ marketplace }: Scene, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    marketplace.world.tick(250)
    await marketplace.market.settled()
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

test('they read the list when somebody is due, and seldom otherwise; a new agent is found within seconds', async () => {
  const scene = await openScene()
  await worker(scene, 'Alpha')
  const { market, admin } = scene.marketplace
  const { db } = market
  let reads = 0
  const counting = {
    read(work: Parameters<typeof db.read>[0]) {
      reads++
      return db.read(work)
    },
    write: db.write.bind(db),
    isFull: db.isFull,
  }
  const asked = personas.filter(({ name }) => name === 'ghost')
  const counted = { ...market, db: counting as never }
  const hearing = { webhookUrl: 'https://hearing.localhost/' }
  const buyers = await SimulatedBuyers.open({ market: counted, adminId: admin.id, personas: asked, seed: 1, hearing })
  buyers.begin()
  await scene.move(0)
  reads = 0
  await look(scene, 24)
  assert.ok(reads >= 1 && reads <= 6, `${reads} reads within six seconds`)
  await worker(scene, 'Beta')
  await look(scene, 12)
  assert.is((await scene.tasks()).length, 2)
  await buyers.close()
  await scene.close()
})

test('who comes hires; who goes does nothing more, and goes on with its task when it comes again', async () => {
  const scene = await openScene()
  await scene.marketplace.list(await scene.marketplace.join('builder'), { name: 'Sleeper' })
  const [easy, picky] = ['easy', 'picky'].map(name => personas.find(one => one.name === name)!)
  const buyers = await scene.live(['easy'])
  await look(scene, 12)
  assert.equal([buyers.has(easy!), buyers.has(picky!), (await scene.tasks()).length], [true, false, 1])
  await buyers.add([picky!])
  await look(scene, 12)
  const both = await scene.tasks()
  assert.equal(both.map(({ buyer }) => buyer).sort(), ['easy', 'picky'])
  assert.is(buyers.planned().length, 2)
  buyers.remove(easy!)
  assert.is(buyers.planned().length, 1)
  // It would lose patience after an hour.
  await scene.move(2 * 60 * MINUTE)
  const states = async () =>
    Object.fromEntries((await scene.tasks()).slice(0, 2).map(({ buyer, status }) => [buyer, status]))
  assert.equal(await states(), { easy: 'pending', picky: 'cancelled' })
  const before = (await scene.tasks()).filter(({ buyer }) => buyer === 'easy').length
  await look(scene, 12)
  assert.is((await scene.tasks()).filter(({ buyer }) => buyer === 'easy').length, before)
  await buyers.add([easy!])
  await scene.move(MINUTE)
  assert.is((await states()).easy, 'cancelled')
  await scene.close()
})

test('of agents that are gone they forget the most, first those that have no task of theirs', async () => {
  const scene = await openScene()
  const builder = await scene.marketplace.join('builder')
  const agents: ListedAgent[] = []
  for (let n = 0; n < 17; n++) agents.push(await scene.marketplace.list(builder, { name: `Sleeper ${n}` }))
  const buyers = await scene.live(['easy', 'picky', 'quarrelsome'])
  await scene.move(0)
  assert.is(buyers.planned().length, 51)
  const known = (await scene.tasks()).find(({ buyer, agentId }) => buyer === 'quarrelsome' && agentId === agents[0]!.id)
  await scene.marketplace.callback(agents[0]!, known!.id, { action: 'reject' })
  await scene.marketplace.market.settled()
  assert.is(buyers.planned().length, 50)
  for (const { id } of agents) await builder.client.deactivateAgent({ id })
  await look(scene, 12)
  assert.is(buyers.planned().length, 50)
  await scene.close()
})

test('a database that was away for a moment delays a step by a minute', async () => {
  const scene = await openScene()
  await worker(scene, 'Alpha')
  const buyers = await scene.live(['easy'])
  await scene.move(0)
  const { db } = scene.marketplace.market
  const [step] = buyers.planned()
  const { world } = scene.marketplace
  const write = db.write.bind(db)
  let isAway = false
  Object.assign(db, {
    async write(work: Parameters<typeof write>[0]) {
      if (isAway) throw new Error('the database is away')
      return write(work)
    },
  })
  world.advance(step!.at)
  isAway = true
  await look(scene, 2)
  isAway = false
  assert.ok(scene.log.some(entry => entry.type === 'warning' && entry.message.includes('the database is away')))
  assert.equal(
    (await scene.tasks()).map(({ status }) => status),
    ['delivered'],
  )
  await scene.move(MINUTE)
  assert.is((await scene.tasks())[0]!.status, 'completed')
  await scene.close()
})

test.run()
