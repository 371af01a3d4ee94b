// engines: embedded, postgres; process: shared
/** The transactions of a wallet by task, direction and time, and the entries of the ledger that they are made of. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

test('transactions are found by task, direction and time, and each is made of entries that add up', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const builder = await marketplace.join('builder', 1_000)
  const agent = await marketplace.list(builder)
  const hire = async (agreedPrice: number) => {
    await marketplace.pass(1_000)
    const { id } = await marketplace.draft(buyer, agent, { agreedPrice })
    await buyer.client.submitTask({ id })
    return id
  }
  const [first, second] = [await hire(300), await hire(700)]
  const found = async (query: object) => {
    const { items, pagination } = await buyer.client.listTransactions(query)
    assert.is(pagination.total, items.length)
    return items.map(({ type, direction, amount }) => `${type} ${direction} ${amount}`)
  }
  assert.equal(await found({}), ['hold held 700', 'hold held 300', 'deposit in 5000'])
  assert.equal(await found({ taskId: first }), ['hold held 300'])
  assert.equal(await found({ taskId: 'task_none' }), [])
  assert.equal(await found({ direction: 'in' }), ['deposit in 5000'])
  assert.equal(await found({ direction: 'in', type: 'hold' }), [])
  assert.equal(await found({ from: '2026-01-01T00:00:02Z' }), ['hold held 700'])
  assert.equal(await found({ from: '2026-01-01T00:00:01Z', to: '2026-01-01T00:00:02Z' }), ['hold held 300'])
  assert.equal(await found({ taskId: second, to: '2026-01-01T00:00:02Z' }), [])
  assert.is((await buyer.ask('GET', '/api/wallet/transactions?from=today')).status, 400)

  await builder.client.acceptTask({ id: first })
  await builder.client.deliverTask({ id: first, content: 'x' })
  await buyer.client.approveTask({ id: first })
  const { items } = await builder.client.listLedger({ taskId: first })
  const [held, clearing, available] = [`held:${buyer.id}`, `clearing:${builder.id}`, `available:${builder.id}`]
  const moved = (of: typeof items) =>
    of.flatMap(({ entries }) => entries.map(({ from, to, amount }) => [from, to, amount]))
  assert.equal(moved(items), [[held, clearing, 300]])
  await builder.client.connectPayouts()
  await builder.client.withdraw({ amount: 200 })
  const [withdrawal] = (await builder.client.listLedger({ direction: 'out' })).items
  assert.equal(moved([withdrawal!]), [
    [available, 'payouts', 200],
    ['payouts', 'world', 200],
  ])

  await marketplace.pass(durations.clearingMs)
  assert.equal(moved((await builder.client.listLedger({ taskId: first })).items), [
    [held, clearing, 300],
    [clearing, available, 300],
  ])
  // What an account has is the sum of all that came and went.
  for (const user of [buyer, builder]) {
    const entries = new Map(
      (await user.client.listLedger()).items.flatMap(item => item.entries.map(each => [each.id, each])),
    )
    const sum = (account: string) =>
      [...entries.values()].reduce(
        (sum, { from, to, amount }) => sum + (to === account ? amount : from === account ? -amount : 0),
        0,
      )
    const { available, held } = await marketplace.balances(user.id)
    assert.equal([sum(`available:${user.id}`), sum(`held:${user.id}`)], [available, held])
  }
  await marketplace.checkLedger()
  await marketplace.close()
})

test.run()
