// engines: embedded; process: shared
/** What became of webhooks is noted until the database takes it. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ClaimedDelivery } from '../../../src/market/webhook-outlet.ts'
import { Outcomes } from '../../../src/market/webhooks/outcomes.ts'
import { answered } from '../../../src/world/virtual.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const delivery = (n: number): ClaimedDelivery => ({
  ...{ id: `dlv_${n}`, agentId: 'agt', taskId: `task_${n}`, event: 'task.message', body: '{}' },
  ...{
    attempts: 0,
    attempt: 1,
    claimedUntil: 0,
    sender: null,
    builderId: 'usr',
    webhookUrl: 'https://a.example/',
    secret: null,
  },
})

async function open() {
  const bare = await openBareMarket()
  const { db } = bare.market
  const outcomes = new Outcomes(bare.market)
  let writes = 0
  db.write = async () => {
    writes++
    throw new Error('It is full')
  }
  const done: (boolean | Error)[] = []
  return {
    ...bare,
    outcomes,
    done,
    write: (n: number) => void outcomes.write(delivery(n), answered(200)).then(follows => done.push(follows)),
    writes: () => writes,
    isBack: () => Reflect.deleteProperty(db, 'write'),
    async pass(ms: number) {
      bare.world.tick(ms)
      for (let i = 0; i < 5; i++) await bare.settled()
    },
  }
}

test('what is refused is counted, told, and tried again after 1, 5, 15 and 60 seconds, and each minute', async () => {
  const { outcomes, logged, write, writes, pass, done, close } = await open()
  assert.is(outcomes.refused, 0)
  write(1)
  await pass(0)
  assert.equal(
    [outcomes.refused, writes(), logged],
    [1, 1, [{ type: 'error', message: 'Webhook dlv_1 could not be noted: It is full' }]],
  )
  let expected = 1
  for (const seconds of [1, 5, 15, 60, 60, 60]) {
    await pass(seconds * 1_000 - 1)
    assert.is(writes(), expected)
    await pass(1)
    assert.is(writes(), ++expected)
  }
  assert.equal([outcomes.refused, done], [1, []])
  outcomes.close()
  await pass(0)
  await close()
})

test('each one counts until it is noted', async () => {
  const { outcomes, write, pass, isBack, done, close } = await open()
  for (const n of [1, 2, 3]) write(n)
  await pass(0)
  assert.is(outcomes.refused, 3)
  isBack()
  await pass(1_000)
  for (let i = 0; done.length < 3 && i < 1_000; i++) await pass(0)
  assert.equal([outcomes.refused, done], [0, [false, false, false]])
  write(4)
  for (let i = 0; done.length < 4 && i < 1_000; i++) await pass(0)
  assert.equal([outcomes.refused, done.length], [0, 4])
  await close()
})

test('at the end what is refused is given up at once', async () => {
  const { outcomes, write, writes, pass, done, close } = await open()
  write(1)
  write(2)
  await pass(0)
  outcomes.close()
  await pass(0)
  // Both together, then each alone.
  assert.equal([done, outcomes.refused, writes()], [[false, false], 0, 3])
  await pass(3_600_000)
  assert.is(writes(), 3)
  await close()
})

test.run()
