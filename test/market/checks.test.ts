/** The five checks, one by one over the wire, and what goes out with them. Source: section 6, section 8, D24. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { TestReport } from '../../src/api/records.ts'
import { createVirtualWorld, recordingEgress } from '../../src/world/virtual.ts'
import type { Outgoing } from '../../src/world/world.ts'
import { type AgentSink, answerFrom } from '../support/agent-sink.ts'
import { type House, type ListedAgent, openHouse } from '../support/marketplace.ts'

const checks = suite<{ house: House; agent: ListedAgent; sinks: Map<string, AgentSink>; sent: Outgoing[] }>('checks')

checks.before(async context => {
  context.sinks = new Map()
  context.sent = []
  const world = createVirtualWorld({
    egress: recordingEgress(request => {
      context.sent.push(request)
      return answerFrom(context.sinks, request, world.realNow())
    }),
  })
  const house = await openHouse({ world })
  const builder = await house.join('builder')
  const sink = house.sink()
  context.sinks.set(sink.url, sink)
  const agent = await builder.client.createAgent({
    name: 'Checked',
    tagline: 'Tested one check at a time',
    description: 'An agent whose webhook is right or wrong, just as the test of the moment needs it to be.',
    pricingModel: 'fixed',
    basePrice: 200,
    categoryIds: ['cat_code'],
  })
  context.house = { ...house, world }
  context.agent = { id: agent.id, secret: '', builder, sink }
})

checks.after(({ house }) => house.close())

const run = ({ builder, id }: ListedAgent) =>
  builder.call<TestReport>('POST', `/api/my/agents/${id}/test-connection`, undefined, 'key')

const statuses = (report: TestReport) => report.checks.map(({ status }) => status)

checks('1: a webhook URL is saved', async ({ agent }) => {
  const report = await run(agent)
  assert.equal(statuses(report), ['failed', 'skipped', 'skipped', 'skipped', 'skipped'])
  assert.equal([report.passed, report.status], [false, 'failed'])
  const names = ['webhook_url', 'https', 'webhook_secret', 'endpoint', 'callback']
  assert.equal(
    report.checks.map(({ name }) => name),
    names,
  )
})

checks('2: the URL starts with https://', async ({ agent }) => {
  await agent.builder.client.updateAgent({ id: agent.id, webhookUrl: agent.sink.url.replace('https', 'http') })
  assert.equal(statuses(await run(agent)), ['passed', 'failed', 'skipped', 'skipped', 'skipped'])
})

checks('3: a webhook secret exists', async ({ agent, sent }) => {
  await agent.builder.client.updateAgent({ id: agent.id, webhookUrl: agent.sink.url })
  assert.equal(statuses(await run(agent)), ['passed', 'passed', 'failed', 'skipped', 'skipped'])
  assert.equal(sent, [], 'nothing went out so far')
})

checks('4: the endpoint answers 200 to the test webhook', async ({ agent }) => {
  agent.secret = agent.sink.secret = (await agent.builder.client.rotateSecret({ id: agent.id })).secret
  for (const status of [201, 204, 301, 404, 500]) {
    agent.sink.status = status
    const report = await run(agent)
    assert.equal(statuses(report), ['passed', 'passed', 'passed', 'failed', 'skipped'], String(status))
  }
  agent.sink.status = 200
  assert.equal(statuses(await run(agent)), Array(5).fill('passed'))
})

checks('5: a callback that is validly signed comes; one with an invalid signature is a failure', async ({ agent }) => {
  agent.sink.secret = 'whsec_of_somebody_else'
  const report = await run(agent)
  assert.equal(statuses(report), ['passed', 'passed', 'passed', 'passed', 'failed'])
  assert.equal([report.passed, report.status], [false, 'failed'])
  agent.sink.secret = agent.secret
  const again = await run(agent)
  assert.equal([statuses(again).at(-1), again.passed, again.status], ['passed', true, 'passed'])
})

checks('the test webhook says what it is, with every field that a real one has', async ({ agent, sent, house }) => {
  await run(agent)
  const { event, timestamp, data } = JSON.parse(sent.at(-1)!.body)
  const { taskId, title, callbackUrl, description, ...rest } = data
  assert.is(event, 'task.submitted')
  assert.is(timestamp, new Date(house.world.now()).toISOString())
  assert.match(taskId, /^test_[0-9a-f]{32}$/)
  assert.match(title, '[TEST]')
  assert.ok(description.length > 0)
  assert.is(callbackUrl, `${house.url}/api/agent/test/${taskId}/callback`)
  const requestor = { id: 'test_requestor', type: 'user', trustTier: 'trusted' }
  assert.equal(rest, { agentId: agent.id, requirements: '', agreedPrice: 0, status: 'pending', requestor, test: true })
})

checks('a webhook is a POST of JSON that has 30 seconds to be answered, a test and a real one', async context => {
  const { house, agent, sent } = context
  await agent.builder.client.publishAgent({ id: agent.id })
  await house.admin.client.approveAgent({ id: agent.id })
  await run(agent)
  const buyer = await house.join('buyer', 1_000)
  await buyer.client.submitTask({ id: (await house.draft(buyer, agent)).id })
  await house.webhooksSent()
  for (const request of sent.slice(-2)) {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    assert.is(headers['content-type'], 'application/json')
    assert.match(headers['x-service-signature']!, /^[0-9a-f]{64}$/)
    assert.match(headers['x-service-timestamp']!, /^\d{13}$/)
    assert.is(request.timeoutMs, 30_000)
  }
  assert.is(JSON.parse(sent.at(-1)!.body).data.test, undefined, 'a real one is no test')
})

checks.run()
