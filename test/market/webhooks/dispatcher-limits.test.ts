// engines: embedded; process: shared
/** When the dispatcher takes nothing: once it is closed, and while too many outcomes could not be noted. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../../src/api/dispatch.ts'
import type { ClaimedDelivery } from '../../../src/market/webhook-outlet.ts'
import { startDispatcher } from '../../../src/market/webhooks/dispatcher.ts'
import { openBareMarket } from '../../support/bare-market.ts'

/** Of an agent that has lost its address: its attempt ends at once, and must be noted like any other. */
const delivery = (n: number): ClaimedDelivery => ({
  ...{ id: `dlv_${n}`, agentId: `agt_${n}`, taskId: `task_${n}`, event: 'task.message', body: '{}' },
  ...{ attempts: 0, attempt: 1, claimedUntil: Number.POSITIVE_INFINITY, sender: null },
  ...{ builderId: `usr_${n}`, webhookUrl: null, secret: null },
})

const someone = { builderId: 'usr', webhookUrl: 'https://a.example/' }

async function open() {
  const bare = await openBareMarket()
  const { db } = bare.market
  const dispatcher = startDispatcher(bare.market)
  await dispatcher.settled()
  return { ...bare, db, dispatcher }
}

test('a dispatcher that is closed claims nothing and looks for nothing, whoever wakes it', async () => {
  const { db, world, dispatcher, close } = await open()
  assert.ok(dispatcher.claimNew(someone))
  await dispatcher.close()
  let reads = 0
  const read = db.read.bind(db)
  db.read = work => {
    reads++
    return read(work)
  }
  dispatcher.wake()
  dispatcher.wake('agt')
  world.tick(60_000)
  await dispatcher.settled()
  assert.equal([dispatcher.claimNew(someone), reads], [null, 0])
  await close()
})

test('while the database refuses as many outcomes as are kept, nothing more is sent; then it goes on', async () => {
  const { db, world, logged, settled, dispatcher, close } = await open()
  db.write = () => Promise.reject(new Error('It is full'))
  const told = () => logged.filter(({ type }) => type === 'error').length
  for (let n = 1; n <= dispatch.mostRefused; n++) {
    assert.ok(dispatcher.claimNew(someone), `after ${n - 1}`)
    dispatcher.dispatch(delivery(n))
    for (let i = 0; told() < n && i < 100; i++) await settled()
    assert.is(told(), n)
  }
  assert.is(dispatcher.claimNew(someone), null)
  Reflect.deleteProperty(db, 'write')
  for (let i = 0; !dispatcher.claimNew(someone) && i < 100; i++) {
    world.tick(1_000)
    await settled()
  }
  assert.ok(dispatcher.claimNew(someone))
  await dispatcher.close()
  await close()
})

test.run()
