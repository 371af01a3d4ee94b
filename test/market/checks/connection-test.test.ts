// engines: embedded, postgres at length; process: shared
/** The five checks, one by one over the wire, and what goes out with them. Source: I-test-checks, I-durations, A-24. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { manualTests } from '../../../src/api/limits.ts'
import type { TestReport } from '../../../src/api/records.ts'
import { signatureHeaders } from '../../../src/api/signature.ts'
import { createVirtualWorld, recordingEgress } from '../../../src/world/virtual.ts'
import type { Outgoing, OutgoingResult } from '../../../src/world/world.ts'
import { type AgentSink, answerFrom } from '../../support/agent-sink.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

const fields = {
  name: 'Checked',
  tagline: 'Tested one check at a time',
  description: 'An agent whose webhook is right or wrong, just as the test of the moment needs it to be.',
  pricingModel: 'fixed' as const,
  basePrice: 200,
  categoryIds: ['cat_code'],
}

const checks = suite<{
  marketplace: TestMarketplace
  agent: ListedAgent
  sinks: Map<string, AgentSink>
  sent: Outgoing[]
}>('checks')

checks.before(async context => {
  context.sinks = new Map()
  context.sent = []
  const world = createVirtualWorld({
    egress: recordingEgress(request => {
      context.sent.push(request)
      if (request.url.startsWith(NOWHERE)) return unanswered()
      return answerFrom(context.sinks, request, world.realNow())
    }),
  })
  const marketplace = await openTestMarketplace({ world })
  const builder = await marketplace.join('builder')
  const sink = marketplace.sink()
  context.sinks.set(sink.url, sink)
  const agent = await builder.client.createAgent(fields)
  context.marketplace = { ...marketplace, world }
  context.agent = { id: agent.id, secret: '', builder, sink }
})

checks.after(({ marketplace }) => marketplace.close())

const NOWHERE = 'https://nowhere.localhost/'
/** Requests to there are held until this is over. */
let held: Promise<void> | null = null
let waiting = 0

async function unanswered(): Promise<OutgoingResult> {
  waiting++
  await held
  return { ok: false, reason: 'timeout', message: 'No answer came.', durationMs: 1 }
}

async function listedAt(marketplace: TestMarketplace, builder: TestUser): Promise<ListedAgent> {
  const { id } = await builder.client.createAgent({ ...fields, webhookUrl: NOWHERE })
  const { secret } = await builder.client.rotateSecret({ id })
  return { id, secret, builder, sink: marketplace.sink() }
}

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

checks('5: a callback that a real task would refuse passes, and what is wrong with it is said', async ({ agent }) => {
  const bodies: [body: string, said: RegExp][] = [
    ['{"action":"accept"}', /^A validly signed callback arrived$/],
    [
      '{"action":"dance"}',
      /Warning: a real task would refuse it, as action must be one of: accept, reject, deliver, message$/,
    ],
    ['not JSON', /Warning: a real task would refuse it, as The body is not valid JSON/],
    ['[1]', /Warning: a real task would refuse it, as body must be a JSON object$/],
    ['{"action":"deliver"}', /Warning: a real task would refuse it, as content /],
    [
      '{"action":"accept","taskId":"task_1"}',
      /Warning: a real task would refuse it, as its taskId names another task$/,
    ],
  ]
  for (const [body, said] of bodies) {
    agent.sink.callbackBody = body
    const report = await run(agent)
    assert.equal([report.status, ...statuses(report)], Array(6).fill('passed'), body)
    assert.match(report.checks[4]!.message, said)
  }
  agent.sink.callbackBody = bodies[0]![0]
})

checks(
  'a builder has few tests at a time; others are tested meanwhile, and the next one when one has ended',
  async ({ marketplace }) => {
    const [builder, other] = [await marketplace.join('many'), await marketplace.join('other')]
    const agents: ListedAgent[] = []
    for (let n = 0; n <= manualTests.perBuilder; n++) agents.push(await listedAt(marketplace, builder))
    let open = () => {}
    const gate = new Promise<void>(resolve => {
      open = resolve
    })
    held = gate
    const running = agents.slice(1).map(run)
    while (waiting < manualTests.perBuilder) await new Promise(resolve => setTimeout(resolve, 5))
    const refused = await builder.ask('POST', `/api/my/agents/${agents[0]!.id}/test-connection`)
    assert.equal(
      [refused.status, refused.error],
      [
        409,
        'Connection tests of your agents are running, as many as a builder may have at this moment (3); wait for the end of one',
      ],
    )
    held = null
    assert.is((await run(await listedAt(marketplace, other))).passed, false)
    open()
    await Promise.all(running)
    assert.is((await run(agents[0]!)).passed, false)
  },
)

checks(
  'builders who run as many tests as they may, all of which hang, keep no other builder from his',
  async ({ marketplace }) => {
    const builders = await Promise.all(Array.from({ length: 24 }, (_, n) => marketplace.join(`greedy${n}`)))
    const other = await listedAt(marketplace, await marketplace.join('patient'))
    let open = () => {}
    held = new Promise<void>(resolve => {
      open = resolve
    })
    waiting = 0
    let began = 0
    const running: Promise<unknown>[] = []
    for (const builder of builders) {
      for (let n = 0; n < manualTests.perBuilder; n++) {
        const agent = await listedAt(marketplace, builder)
        const before = waiting
        let refused: number | null = null
        const answer = builder.ask('POST', `/api/my/agents/${agent.id}/test-connection`)
        running.push(answer.then(({ status }) => (refused = status)))
        while (waiting === before && refused === null) await new Promise(resolve => setTimeout(resolve, 2))
        if (refused === null) began++
        else assert.is(refused, 409)
      }
    }
    assert.ok(began >= builders.length, `${began}`)
    held = null
    assert.is((await run(other)).passed, false, 'it was tested at once')
    open()
    await Promise.all(running)
  },
)

checks('5: a callback that is validly signed comes; one with an invalid signature is a failure', async ({ agent }) => {
  agent.sink.secret = 'whsec_of_somebody_else'
  const report = await run(agent)
  assert.equal(statuses(report), ['passed', 'passed', 'passed', 'passed', 'failed'])
  assert.equal([report.passed, report.status], [false, 'failed'])
  agent.sink.secret = agent.secret
  const again = await run(agent)
  assert.equal([statuses(again).at(-1), again.passed, again.status], ['passed', true, 'passed'])
})

checks(
  'the test webhook says what it is, with every field that a real one has',
  async ({ agent, sent, marketplace }) => {
    await run(agent)
    const { event, timestamp, data } = JSON.parse(sent.at(-1)!.body)
    const { taskId, title, callbackUrl, description, ...rest } = data
    assert.is(event, 'task.submitted')
    assert.is(timestamp, new Date(marketplace.world.now()).toISOString())
    assert.match(taskId, /^test_[0-9a-f]{32}$/)
    assert.match(title, '[TEST]')
    assert.ok(description.length > 0)
    assert.is(callbackUrl, `${marketplace.url}/api/agent/test/${taskId}/callback`)
    const requestor = { id: 'test_requestor', type: 'user', trustTier: 'trusted' }
    assert.equal(rest, {
      agentId: agent.id,
      requirements: '',
      agreedPrice: 0,
      status: 'pending',
      requestor,
      test: true,
    })
  },
)

checks(
  'a signed callback that comes after its test is told so; without the secret an ended test is like none',
  async context => {
    const { marketplace, agent, sent } = context
    await run(agent)
    const { taskId, callbackUrl } = JSON.parse(sent.at(-1)!.body).data
    let later = 0
    const answer = async (url: string, secret: string, at = marketplace.world.realNow() + 250_000 + later++) => {
      const body = '{"action":"accept"}'
      const headers = { 'content-type': 'application/json', ...signatureHeaders(secret, at, body) }
      const reply = await fetch(url, { method: 'POST', headers, body })
      return [reply.status, ((await reply.json()) as { error?: string }).error]
    }
    const over = [
      409,
      'The signature is right, but this test is over: run it again and send the callback within 15 seconds',
    ]
    const unknown = [401, 'The signature is missing, wrong or too old']
    const followed = [200, undefined]
    assert.equal(await answer(callbackUrl, agent.secret), followed, 'what follows the first, as for a task')
    assert.equal(await answer(callbackUrl, 'whsec_of_somebody_else'), unknown)
    marketplace.world.tick(61_000)
    assert.equal(await answer(callbackUrl, agent.secret), over)
    assert.equal(await answer(callbackUrl, 'whsec_of_somebody_else'), unknown)
    const none = callbackUrl.replace(taskId, `test_${'0'.repeat(32)}`)
    assert.equal(await answer(none, agent.secret), unknown)
    assert.equal(await answer(none, 'whsec_of_somebody_else'), unknown)

    const inTime = marketplace.world.realNow() + 260_000
    let taken: unknown[] = []
    agent.sink.onTest = async url => {
      taken = await answer(url, agent.secret, inTime)
    }
    await run(agent)
    agent.sink.onTest = null
    assert.equal(taken, [200, undefined])
    const last = JSON.parse(sent.at(-1)!.body).data.callbackUrl
    assert.equal(await answer(last, agent.secret, inTime), taken, 'the same callback again, as its answer was lost')
    marketplace.world.tick(61_000)
    assert.equal(await answer(last, agent.secret, inTime), taken, 'also later')
    assert.equal(await answer(last, agent.secret), over)
    assert.equal(await answer(callbackUrl, agent.secret), unknown, 'the last test of an agent is known, no more')
  },
)

checks('a webhook is a POST of JSON that has 30 seconds to be answered, a test and a real one', async context => {
  const { marketplace, agent, sent } = context
  await agent.builder.client.publishAgent({ id: agent.id })
  await marketplace.admin.client.approveAgent({ id: agent.id })
  await run(agent)
  const buyer = await marketplace.join('buyer', 1_000)
  await buyer.client.submitTask({ id: (await marketplace.draft(buyer, agent)).id })
  await marketplace.webhooksSent()
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
