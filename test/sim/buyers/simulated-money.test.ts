// engines: embedded, postgres at length; process: shared
/** What simulated buyers pay with, and what a hire that fails costs. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import { emailOf } from '../../../src/sim/accounts.ts'
import { openScene, storyOf, worker } from './scene.ts'

const MINUTE = 60_000

test('money is topped up within the limits of a day, and what it does not reach for waits for the next', async () => {
  const scene = await openScene()
  const agent = await worker(scene, 'Dear', { basePrice: 700_000 })
  const buyers = await scene.live(['easy'])
  await scene.move(0)
  for (let n = 0; n < 5; n++) await scene.move(10 * MINUTE)
  assert.is((await scene.tasks()).length, 1, 'a new account may deposit 10,000.00 a day')
  const warned = () => scene.log.filter(({ type }) => type === 'warning').length
  assert.equal(
    scene.log.flatMap(entry => (entry.type === 'warning' ? [entry.message] : [])),
    ["easy can't pay 7000.00: its deposits of today are used up"],
  )
  await scene.move(durations.dayMs)
  await scene.marketplace.freshen(agent)
  await scene.move(MINUTE)
  assert.is((await scene.tasks()).length, 2)
  assert.is(warned(), 1)
  assert.equal([...buyers.names.values()], ['easy'])
  const sql = `SELECT SUM(amount) AS sum FROM transfers JOIN users ON users.id = payee_id WHERE kind = 'deposit' AND email = $1`
  const paid = await scene.marketplace.market.db.read(q => q.get<{ sum: number }>(sql, [emailOf('easy')]))
  assert.is(Number(paid!.sum), 1_400_000)
  await scene.close()
})

test('an agent that is gone between draft and submit costs nothing: the draft is cancelled', async () => {
  const scene = await openScene()
  const { market, admin } = scene.marketplace
  await worker(scene, 'Alpha')
  const buyers = await scene.live(['easy'])
  const [id] = [...buyers.names.keys()]
  const write = market.db.write.bind(market.db)
  let writes = 0
  Object.assign(market.db, {
    write: async (work: Parameters<typeof write>[0]) => {
      // The second one of a hire is the submit.
      if (++writes === 2) await admin.client.adminUpdateUser({ id: id!, suspended: true })
      return write(work)
    },
  })
  await scene.move(0)
  Object.assign(market.db, { write })
  await market.settled()
  const all = await scene.tasks()
  assert.ok(all.length <= 1 && all.every(({ status }) => status === 'cancelled'), JSON.stringify(all.map(storyOf)))
  await scene.close()
})

test.run()
