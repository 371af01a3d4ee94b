// engines: embedded, postgres and narrow at length; process: shared
/** The rows that money hangs on: each end of a hold happens once, by its own statement, whatever calls it. Source. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../../src/api/records.ts'
import type { Tx } from '../../../src/store/db.ts'
import {
  credit,
  debit,
  endClearing,
  reverseSettlement,
  setReleaseStatus,
} from '../../../src/store/tables/money/transfers.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

const settlement = suite<{ marketplace: TestMarketplace; agent: ListedAgent; buyer: TestUser }>('settlements')

settlement.before(async state => {
  state.marketplace = await openTestMarketplace()
  state.agent = await state.marketplace.list(await state.marketplace.join('builder'))
  state.buyer = await state.marketplace.join('buyer', 1_000_000)
})
settlement.after(({ marketplace }) => marketplace.close())

async function completed({
  marketplace,
  agent,
  buyer,
}: {
  marketplace: TestMarketplace
  agent: ListedAgent
  buyer: TestUser
}) {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await agent.builder.client.acceptTask({ id })
  await agent.builder.client.deliverTask({ id, content: 'Done' })
  await buyer.client.approveTask({ id })
  return id
}

/** What `work` answers; nothing of it is kept. */
async function tried<T>({ market }: TestMarketplace, work: (tx: Tx) => Promise<T>): Promise<T> {
  let answer: T | undefined
  const undone = new Error('undone')
  const end = await market.db
    .write(async tx => {
      answer = await work(tx)
      throw undone
    })
    .catch(error => error)
  assert.is(end, undone)
  return answer as T
}

settlement('clearing ends once, and not while a dispute is open unless it is that which ends it', async state => {
  const { marketplace, buyer } = state
  const id = await completed(state)
  const ends = (...despite: (0 | 1)[]) =>
    tried(marketplace, async tx => {
      const found: boolean[] = []
      for (const each of despite) found.push((await endClearing(tx, id, each)) !== undefined)
      return found
    })
  assert.equal(await ends(0, 0), [true, false])
  assert.equal(await ends(1, 1), [true, false])
  await buyer.client.disputeTask({ id, reason: 'It is not what was asked for, nor like it' })
  assert.equal(await ends(0, 1), [false, true])
  await marketplace.admin.client.resolveTask({ id, outcome: 'release' })
  assert.equal(await ends(0, 1), [false, false])
})

settlement('a dispute keeps the payment of its own task from clearing, and that of no other', async state => {
  const [disputed, other] = [await completed(state), await completed(state)]
  await state.buyer.client.disputeTask({ id: disputed, reason: 'It is not what was asked for, nor like it' })
  const ended = await tried(state.marketplace, async tx => [
    await endClearing(tx, disputed, 0),
    await endClearing(tx, other, 0),
  ])
  assert.equal(
    ended.map(row => row?.taskId),
    [undefined, other],
  )
})

settlement('the state of a payment changes with its own clearing, in its release alone', async state => {
  const [mine, other] = [await completed(state), await completed(state)]
  const states = await tried(state.marketplace, async tx => {
    await setReleaseStatus(tx, mine, 'reversed')
    const sql = 'SELECT kind, status FROM transfers WHERE task_id = $1 ORDER BY kind'
    return [await tx.all(sql, [mine]), await tx.all(sql, [other])]
  })
  const hold = { kind: 'hold', status: 'completed' }
  assert.equal(states, [
    [hold, { kind: 'release', status: 'reversed' }],
    [hold, { kind: 'release', status: 'clearing' }],
  ])
})

settlement('a payment is reversed once, and never by more than was released', async state => {
  const id = await completed(state)
  const reversed = (...amounts: number[]) =>
    tried(state.marketplace, async tx => {
      const changed: number[] = []
      for (const amount of amounts) changed.push(await reverseSettlement(tx, id, amount))
      const row = await tx.get('SELECT released, refunded, reversed FROM settlements WHERE task_id = $1', [id])
      return { changed, ...(row as object) }
    })
  assert.equal(await reversed(300, 300), { changed: [1, 0], released: 700, refunded: 300, reversed: 1 })
  assert.equal(await reversed(1_000, 1), { changed: [1, 0], released: 0, refunded: 1_000, reversed: 1 })
  assert.equal(await reversed(1_001), { changed: [0], released: 1_000, refunded: 0, reversed: 0 })
})

settlement(
  'an account gives what it has and not a cent more; only the world may owe',
  async ({ marketplace, buyer }) => {
    const account = `available:${buyer.id}`
    const { available } = await marketplace.balances(buyer.id)
    const after = (...steps: { sql: string; values: readonly (string | number | null)[] }[]) =>
      tried(marketplace, async tx => {
        const changed: number[] = []
        for (const { sql, values } of steps) changed.push(await tx.run(sql, values))
        return changed
      })
    assert.equal(await after(debit(account, available), debit(account, 1)), [1, 0])
    assert.equal(await after(debit(account, available + 1)), [0])
    assert.equal(await after(debit(account, available), credit(account, 1), debit(account, 1)), [1, 1, 1])
    assert.equal(await after(debit('world', 1_000_000_000_000)), [1])
    assert.equal(await after(debit('payouts', 1_000_000_000_000)), [0])
  },
)

settlement('submissions amid changes of the price hold the price that the task then has', async state => {
  const { marketplace, agent, buyer } = state
  for (let round = 0; round < 8; round++) {
    const { id } = await marketplace.draft(buyer, agent)
    const before = await marketplace.balances(buyer.id)
    const change = (agreedPrice: number) => buyer.ask('PUT', `/api/tasks/${id}`, { agreedPrice }, 'key')
    const submit = () => buyer.ask<TaskRecord>('POST', `/api/tasks/${id}/submit`, undefined, 'key')
    const answers = await Promise.all([change(2_000), submit(), change(3_000), submit(), change(4_000)])
    assert.is(answers.filter(({ status }, i) => status === 200 && i % 2 === 1).length, 1, 'one of two submissions')
    const { agreedPrice } = await buyer.call<TaskRecord>('GET', `/api/tasks/${id}`)
    const after = await marketplace.balances(buyer.id)
    assert.equal([after.held - before.held, before.available - after.available], [agreedPrice, agreedPrice])
    await buyer.client.cancelTask({ id })
  }
  await marketplace.checkLedger()
})

settlement.run()
