/** Postgres goes away under load and comes back: errors meanwhile, nothing lost, no restart of ours. */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openHouse, taskFields } from '../support/marketplace.ts'
import { startStoppable } from '../support/postgres-server.ts'

test('a Postgres that is stopped and started under load costs errors, and no write that was acknowledged', async () => {
  const unhandled: unknown[] = []
  process.on('unhandledRejection', error => unhandled.push(error))
  const server = await startStoppable()
  const secretKey = randomBytes(32).toString('base64')
  const house = await openHouse({ postgres: { url: server.url }, secretKey })
  const builder = await house.join('builder')
  const buyer = await house.join('buyer', 900_000)
  const agent = await house.list(builder)
  const acknowledged = new Set<string>()
  const statuses = new Map<number, number>()
  let stopped = false
  const seen = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const work = async () => {
    const body = { ...taskFields, agentId: agent.id }
    while (!stopped) {
      const { status, data } = await buyer.ask<{ id: string }>('POST', '/api/tasks', body, 'key')
      seen(status)
      if (status < 300) acknowledged.add(data!.id)
      else await wait(20)
    }
  }
  const load = Promise.all(Array.from({ length: 4 }, work))
  const more = async (count: number) => {
    const goal = acknowledged.size + count
    for (const deadline = Date.now() + 20_000; acknowledged.size < goal; await wait(10)) {
      if (Date.now() > deadline) throw new Error(`no answers any more: ${JSON.stringify([...statuses])}`)
    }
  }
  for (let round = 1; round <= 2; round++) {
    await more(20)
    const failed = statuses.get(500) ?? 0
    await server.pause()
    while ((statuses.get(500) ?? 0) < failed + 4) await wait(10)
    house.world.tick(2_000)
    await server.resume()
  }
  await more(20)
  stopped = true
  await load
  assert.equal([...statuses.keys()].sort(), [201, 500])
  const rows = await house.market.db.read(q => q.all<{ id: string }>('SELECT id FROM tasks ORDER BY id'))
  const kept = new Set(rows.map(({ id }) => id))
  assert.equal(
    [...acknowledged].filter(id => !kept.has(id)),
    [],
  )
  await house.checkLedger()
  assert.equal(unhandled, [])
  await house.close(0)
  await server.stop()
})

test.run()
