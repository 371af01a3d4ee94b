// engines: embedded, postgres and narrow at length; process: shared
/** What is due is done row by row: one that fails is told of, and the others go on. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sendMails } from '../../../src/market/accounts/mail-sender.ts'
import { notify } from '../../../src/market/accounts/notifications.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { BusyError, type Db } from '../../../src/store/db.ts'
import type { Mail } from '../../../src/world/world.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

const TWO_DAYS = 48 * 3_600_000

async function completed(marketplace: TestMarketplace, buyer: TestUser, agent: ListedAgent): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent, { agreedPrice: 500 })
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.callback(agent, id, { action: 'accept' })
  await marketplace.callback(agent, id, { action: 'deliver', content: 'x' })
  await buyer.call('POST', `/api/tasks/${id}/approve`)
  return id
}

const errorsIn = (log: readonly LogEntry[]) => log.flatMap(what => (what.type === 'error' ? [what.message] : []))

test('a payment that can not be cleared is told of once a minute, and keeps no other waiting', async () => {
  const log: LogEntry[] = []
  const marketplace = await openTestMarketplace({ log: what => void log.push(what) })
  await marketplace.stopHeartbeat()
  const buyer = await marketplace.join('buyer', 5_000)
  const [broken, whole] = [await marketplace.join('broken'), await marketplace.join('whole')]
  const task = await completed(marketplace, buyer, await marketplace.list(broken))
  marketplace.world.advance(marketplace.world.now() + 1)
  await completed(marketplace, buyer, await marketplace.list(whole))
  const spoil = (by: number) =>
    marketplace.market.db.write(tx =>
      tx.run(`UPDATE accounts SET balance = balance + $1 WHERE user_id = $2 AND kind = 'clearing'`, [by, broken.id]),
    )
  await spoil(-500)
  await marketplace.pass(TWO_DAYS)
  await marketplace.runDue()
  assert.equal(await marketplace.balances(whole.id), { available: 500, held: 0, clearing: 0 })
  assert.is(errorsIn(log).length, 1, errorsIn(log).join('\n'))
  assert.match(errorsIn(log)[0]!, `The payment of ${task} could not be cleared, and will be tried again`)
  await spoil(500)
  await marketplace.runDue()
  assert.equal(await marketplace.balances(broken.id), { available: 0, held: 0, clearing: 500 })
  marketplace.world.tick(60_000)
  await marketplace.runDue()
  assert.equal(await marketplace.balances(broken.id), { available: 500, held: 0, clearing: 0 })
  await marketplace.close()
})

test('more payments that fail than are looked up at once do not hide the ones behind them', async () => {
  const marketplace = await openTestMarketplace()
  await marketplace.stopHeartbeat()
  const buyer = await marketplace.join('buyer', 5_000)
  const [broken, whole] = [await marketplace.join('broken'), await marketplace.join('whole')]
  const agent = await marketplace.list(broken)
  const { db, world } = marketplace.market
  const one = await completed(marketplace, buyer, agent)
  await db.write(async tx => {
    for (let n = 0; n < 120; n++) {
      const id = `task_${String(n).padStart(32, '0')}`
      await tx.run(
        `INSERT INTO tasks (id, agent_id, buyer_id, builder_id, title, description, agreed_price, status, created_at, updated_at)
         SELECT $1, agent_id, buyer_id, builder_id, title, description, agreed_price, status, created_at, updated_at
         FROM tasks WHERE id = $2`,
        [id, one],
      )
      await tx.run(
        `INSERT INTO settlements (task_id, builder_id, released, refunded, status, clears_at, created_at)
         SELECT $1, builder_id, 100000, 0, status, 5, created_at FROM settlements WHERE task_id = $2`,
        [id, one],
      )
    }
  })
  await completed(marketplace, buyer, await marketplace.list(whole))
  world.advance(world.now() + TWO_DAYS)
  await marketplace.runDue()
  assert.equal(await marketplace.balances(whole.id), { available: 500, held: 0, clearing: 0 })
  await marketplace.close(0)
})

test('a database that is away is one failure, not one for each payment', async () => {
  const log: LogEntry[] = []
  const marketplace = await openTestMarketplace({ log: what => void log.push(what) })
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  for (let n = 0; n < 3; n++) await completed(marketplace, buyer, agent)
  const { runDue } = await import('../../../src/market/upkeep/due.ts')
  marketplace.world.advance(marketplace.world.now() + TWO_DAYS)
  const { db } = marketplace.market
  let writes = 0
  const write = async () => {
    writes++
    throw new BusyError('The database is away')
  }
  const away = { ...marketplace.market, db: { read: (work: never) => db.read(work), write } as unknown as Db }
  const error = await runDue(away).catch((error: Error) => error)
  assert.instance(error, BusyError)
  assert.ok(writes <= 3, String(writes))
  assert.equal(errorsIn(log), [])
  await marketplace.close()
})

test('a mail that can not be sent goes behind the others, and is tried again', async () => {
  const marketplace = await openTestMarketplace()
  const sent: string[] = []
  let broken = true
  const mail = {
    async send({ text }: Mail) {
      if (broken && text.startsWith('bad')) throw new Error('No mail like this can be sent')
      sent.push(text.split('\n')[0]!)
      return { ok: true as const }
    },
    async close() {},
  }
  const market = { ...marketplace.market, world: { ...marketplace.world, mail } }
  const agent = await marketplace.list(await marketplace.join('builder'))
  for (const message of ['bad', 'good', 'better']) {
    const news = { type: 'webhook_health_failed', agentId: agent.id, message, data: { checks: [] } } as const
    await market.db.write(tx => notify({ ...market, tx }, agent.builder.id, news as never))
  }
  await sendMails(market)
  // Several are on their way at once.
  assert.equal([...sent].sort(), ['better', 'good'])
  broken = false
  marketplace.world.advance(marketplace.world.now() + 24 * 3_600_000)
  await sendMails(market)
  assert.equal(sent.slice(2), ['bad'])
  await marketplace.close()
})

test.run()
