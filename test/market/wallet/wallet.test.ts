// engines: embedded, postgres; process: shared
/** What a wallet and a new task show, over the wire. Source: I-wallet-shape, A-19, A-33. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace, taskFields } from '../../support/marketplace.ts'

test('a wallet shows its balance with what still clears, what is held, the currency and the connect status', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 10_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const walletOf = (who: typeof buyer) => who.call('GET', '/api/wallet', undefined, 'key')
  const wallet = (balance: number, heldBalance: number) => ({ balance, heldBalance, currency: 'USD' })
  const { id } = await marketplace.draft(buyer, agent, { agreedPrice: 1_000 })
  assert.equal(await walletOf(buyer), { wallet: wallet(10_000, 0), connectStatus: 'not_connected' })
  await buyer.client.submitTask({ id })
  assert.equal(await walletOf(buyer), { wallet: wallet(9_000, 1_000), connectStatus: 'not_connected' })
  await builder.client.acceptTask({ id })
  await builder.client.deliverTask({ id, content: 'Here it is.' })
  await buyer.client.approveTask({ id })
  await builder.client.connectPayouts()
  assert.equal(await walletOf(builder), { wallet: wallet(1_000, 0), connectStatus: 'connected' })
  assert.equal(await walletOf(buyer), { wallet: wallet(9_000, 0), connectStatus: 'not_connected' })
  await marketplace.close()
})

test('a task shows what it was created with, is a draft, and nobody is told of it', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer')
  const agent = await marketplace.list(await marketplace.join('builder'))
  const given = { ...taskFields, agentId: agent.id, requirements: 'No adverbs.' }
  const answer = await buyer.ask<Record<string, unknown>>('POST', '/api/tasks', given, 'key')
  assert.is(answer.status, 201)
  const { id, status, ...task } = answer.data!
  assert.match(String(id), /^task_/)
  assert.is(status, 'draft')
  for (const [field, value] of Object.entries(given)) assert.is(task[field], value, field)
  const { buyer: _, builder: __, ...read } = await buyer.client.getTask({ id: String(id) })
  assert.equal(read, answer.data)
  await marketplace.webhooksSent()
  assert.equal(agent.sink.received, [])
  await marketplace.close()
})

test.run()
