// engines: embedded, postgres at length; process: shared
/** What a deployment, which records nothing, says is wrong with a task: all of it to its builder, little to its buyer. Source: A-288. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import { openTestMarketplace, taskFields } from '../../support/marketplace.ts'

const marketplace = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', payments: 'sandbox' })
await marketplace.stopHeartbeat()
const builder = await marketplace.join('builder')
const buyer = await marketplace.join('buyer', 100_000)
const agent = await marketplace.list(builder)
const { sink } = agent

const test = suite('the diagnosis of a task')
test.after(() => marketplace.close())
test.after.each(() => {
  sink.status = 200
})

async function submitted(): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent, taskFields)
  await buyer.client.submitTask({ id })
  await marketplace.webhooksSent()
  return id
}

const saidTo = async (user: typeof buyer, id: string) => (await user.client.diagnoseTask({ id })).diagnosis

test('a webhook that is refused is told with its status, and the buyer hears that the agent does not take it', async () => {
  sink.status = 401
  const id = await submitted()
  const told = await saidTo(builder, id)
  assert.is(told?.evidence.status, 401)
  assert.is(told?.evidence.taskId, id)
  assert.match(told?.text ?? '', '401')
  assert.equal(await saidTo(marketplace.admin, id), told, 'an administrator sees as much')
  const heard = (await saidTo(buyer, id))!
  assert.equal(
    [heard.cause, heard.text],
    ['agent_unreachable', 'The agent does not take what the marketplace sends it about the task.'],
  )
  assert.equal(heard.evidence, { taskId: id, deliveryId: null, attempt: null, exchangeId: null, status: null })
  assert.is(heard.since, told?.since)
})

test('a webhook that was taken and followed by nothing is silence, once patience has ended', async () => {
  const id = await submitted()
  assert.is(await saidTo(builder, id), null, 'it has just come')
  await marketplace.pass(durations.hourMs)
  const told = await saidTo(builder, id)
  assert.equal([told?.cause, told?.evidence.taskId], ['silent', id])
  const heard = await saidTo(buyer, id)
  assert.equal(
    [heard?.cause, heard?.text],
    ['agent_silent', 'The agent was told of the task, and nothing has come of it yet.'],
  )
  await marketplace.callback(agent, id, { action: 'accept' })
  assert.is(await saidTo(builder, id), null, 'its callback counts')
  await marketplace.callback(agent, id, { action: 'deliver', content: 'Done.' })
  await marketplace.pass(durations.hourMs)
  assert.is(await saidTo(builder, id), null, 'what was delivered is done')
})

test('of a task of others nothing is told', async () => {
  const id = await submitted()
  const stranger = await marketplace.join('stranger')
  const refused = await stranger.client.diagnoseTask({ id }).catch(error => error)
  assert.is(refused.status, 403)
})

test.run()
