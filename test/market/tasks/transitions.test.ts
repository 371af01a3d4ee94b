// engines: embedded, postgres; process: shared
/** Each transition of a task by itself, and where its money is afterwards. Source: I-states. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../../src/api/records.ts'
import { openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'

interface Context {
  marketplace: TestMarketplace
  /** A new draft, and how the wallets stood before it. */
  begin(): Promise<Walk>
}

interface Walk {
  /** One step: by whom, what; answers the status that the task then has. */
  step(by: 'buyer' | 'builder', verb: string, body?: object): Promise<string>
  /** Of the buyer: spendable and held; of the builder: clearing. Each as it changed, in cents. */
  money(): Promise<number[]>
}

const reason = { reason: 'Because a test says so.' }
const work = { content: 'Here it is.' }
const walks = suite<Context>('transitions')

walks.before(async context => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 100_000)
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  const stand = async () => {
    const [mine, theirs] = [await marketplace.balances(buyer.id), await marketplace.balances(builder.id)]
    return [mine.available, mine.held, theirs.clearing]
  }
  context.marketplace = marketplace
  context.begin = async () => {
    const { id } = await marketplace.draft(buyer, agent, { agreedPrice: 1_000 })
    const before = await stand()
    const people = { buyer, builder }
    const pathOf = (verb: string) => (verb === 'reject' ? `/api/agent/tasks/${id}/reject` : `/api/tasks/${id}/${verb}`)
    return {
      step: async (by, verb, body) => {
        await people[by].call('POST', pathOf(verb), body, 'key')
        return (await buyer.call<TaskRecord>('GET', `/api/tasks/${id}`)).status
      },
      money: async () => (await stand()).map((cents, i) => cents - before[i]!),
    }
  }
})

walks.after(({ marketplace }) => marketplace.close())

walks('submit: draft → pending, the price is held', async ({ begin }) => {
  const { step, money } = await begin()
  assert.is(await step('buyer', 'submit'), 'pending')
  assert.equal(await money(), [-1_000, 1_000, 0])
})

walks('cancel: pending → cancelled, all is refunded', async ({ begin }) => {
  const { step, money } = await begin()
  await step('buyer', 'submit')
  assert.is(await step('buyer', 'cancel'), 'cancelled')
  assert.equal(await money(), [0, 0, 0])
})

walks('accept: pending → in_progress', async ({ begin }) => {
  const { step, money } = await begin()
  await step('buyer', 'submit')
  assert.is(await step('builder', 'accept'), 'in_progress')
  assert.equal(await money(), [-1_000, 1_000, 0])
})

walks('reject: pending → cancelled, all is refunded', async ({ begin }) => {
  const { step, money } = await begin()
  await step('buyer', 'submit')
  assert.is(await step('builder', 'reject', {}), 'cancelled')
  assert.equal(await money(), [0, 0, 0])
})

walks('deliver: in_progress → delivered', async ({ begin }) => {
  const { step, money } = await begin()
  await step('buyer', 'submit')
  await step('builder', 'accept')
  assert.is(await step('builder', 'deliver', work), 'delivered')
  assert.equal(await money(), [-1_000, 1_000, 0])
})

const delivered = async ({ begin }: Context) => {
  const walk = await begin()
  await walk.step('buyer', 'submit')
  await walk.step('builder', 'accept')
  await walk.step('builder', 'deliver', work)
  return walk
}

walks('approve: delivered → completed, the payment is released and clears', async context => {
  const { step, money } = await delivered(context)
  assert.is(await step('buyer', 'approve'), 'completed')
  assert.equal(await money(), [-1_000, 0, 1_000])
})

walks('request-revision: delivered → in_progress', async context => {
  const { step, money } = await delivered(context)
  assert.is(await step('buyer', 'request-revision', reason), 'in_progress')
  assert.equal(await money(), [-1_000, 1_000, 0])
})

walks('dispute: in_progress stays, and so does the hold', async ({ begin }) => {
  const { step, money } = await begin()
  await step('buyer', 'submit')
  await step('builder', 'accept')
  assert.is(await step('buyer', 'dispute', reason), 'in_progress')
  assert.equal(await money(), [-1_000, 1_000, 0])
})

walks('dispute: delivered stays, and so does the hold', async context => {
  const { step, money } = await delivered(context)
  assert.is(await step('buyer', 'dispute', reason), 'delivered')
  assert.equal(await money(), [-1_000, 1_000, 0])
})

walks('dispute: completed stays, and the payment goes on clearing', async context => {
  const { step, money } = await delivered(context)
  await step('buyer', 'approve')
  assert.is(await step('buyer', 'dispute', reason), 'completed')
  assert.equal(await money(), [-1_000, 0, 1_000])
})

walks.run()
