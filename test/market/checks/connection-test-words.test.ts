// engines: embedded, postgres at length; process: shared
/** What each check of a connection test found, word by word, how long it took, and what is sent and logged of it. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inWords } from '../../../src/api/diagnosis/record.ts'
import type { Cause } from '../../../src/api/diagnosis/table.ts'
import type { TestReport } from '../../../src/api/records.ts'
import { signatureHeaders } from '../../../src/api/signature.ts'
import type { StampedEntry } from '../../../src/market/log.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import { answered, createVirtualWorld, recordingEgress, type VirtualWorld } from '../../../src/world/virtual.ts'
import type { Outgoing, OutgoingResult } from '../../../src/world/world.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'
import { saidTwice } from '../../support/said-twice.ts'

interface State {
  marketplace: TestMarketplace
  world: VirtualWorld
  builder: TestUser
  id: string
  secret: string
  sent: Outgoing[]
  logged: StampedEntry[]
  answer(request: Outgoing): OutgoingResult | Promise<OutgoingResult>
}

const fields = {
  name: 'Checked',
  tagline: 'Tested word by word',
  description: 'An agent whose webhook answers just as the test of the moment needs it to.',
  pricingModel: 'fixed' as const,
  basePrice: 200,
  categoryIds: ['cat_code'],
}

const words = suite<State>('check words')
const URL = 'https://agent.example/hook'
const SKIPPED = 'Skipped, because an earlier check failed'
const UP_TO_ENDPOINT = ['A webhook URL is saved', 'The webhook URL starts with https://', 'A webhook secret exists']

words.before(async state => {
  const egress = recordingEgress(request => state.answer(request))
  const world = createVirtualWorld({ egress })
  const logged: StampedEntry[] = []
  const marketplace = await openTestMarketplace({ world, log: line => line.type === 'check' && logged.push(line) })
  await marketplace.stopHeartbeat()
  const builder = await marketplace.join('builder')
  const { id } = await builder.client.createAgent(fields)
  Object.assign(state, { marketplace, world, builder, id, sent: egress.sent, logged, answer: () => answered(200) })
})

words.before.each(({ logged, sent }) => {
  logged.length = 0
  sent.length = 0
})

words.after(({ marketplace }) => marketplace.close())

const run = ({ builder, id }: State) =>
  builder.call<TestReport>('POST', `/api/my/agents/${id}/test-connection`, undefined, 'key')

const messages = (report: TestReport) => report.checks.map(({ message }) => message)

/** Calls back as an agent would, at a moment of its own, so that no signature is used twice. */
let calls = 0
async function callBack(
  { world, marketplace }: Pick<State, 'world' | 'marketplace'>,
  { body }: Outgoing,
  secret: string,
  said = '{"action":"accept"}',
  changed: (headers: Record<string, string>) => Record<string, string> = headers => headers,
) {
  const { callbackUrl } = JSON.parse(body).data
  const headers = changed(signatureHeaders(secret, world.realNow() - ++calls, said))
  const { pathname } = new globalThis.URL(callbackUrl)
  return new HttpUser(marketplace.url).ask('POST', pathname, said, 'nobody', headers)
}

words('without a URL, without https, without a secret: nothing is sent, and the rest is skipped', async state => {
  const { builder, id, sent, logged } = state
  const first = await run(state)
  assert.equal(messages(first), ['No webhook URL is saved', ...Array(4).fill(SKIPPED)])
  assert.is(first.diagnosis?.cause, 'no_url')
  assert.equal(
    first.checks.map(({ check, name, status, durationMs }) => [check, name, status, durationMs]),
    [
      [1, 'webhook_url', 'failed', 0],
      [2, 'https', 'skipped', 0],
      [3, 'webhook_secret', 'skipped', 0],
      [4, 'endpoint', 'skipped', 0],
      [5, 'callback', 'skipped', 0],
    ],
  )
  assert.equal(
    logged.map(({ seq, at, realAt, ...entry }) => entry),
    first.checks.map(check => ({
      ...{ type: 'check', agentId: id, ...check },
      ...(check.status === 'failed' && { diagnosis: first.diagnosis }),
    })),
  )
  await builder.client.updateAgent({ id, webhookUrl: URL.replace('https', 'http') })
  assert.equal(messages(await run(state)), [
    UP_TO_ENDPOINT[0],
    'The webhook URL does not start with https://',
    ...Array(3).fill(SKIPPED),
  ])
  await builder.client.updateAgent({ id, webhookUrl: URL.replace('https', 'HTTPS') })
  assert.equal(messages(await run(state)), [
    ...UP_TO_ENDPOINT.slice(0, 2),
    'There is no webhook secret',
    ...Array(2).fill(SKIPPED),
  ])
  assert.equal(sent, [])
})

words('an endpoint: what it answered, in words, and the time it took', async state => {
  state.secret = (await state.builder.client.rotateSecret({ id: state.id })).secret
  const cases: [OutgoingResult, string][] = [
    [{ ...answered(500), durationMs: 12.6 }, 'The endpoint answered 500; exactly 200 is needed'],
    [{ ...answered(302), durationMs: 12.6 }, 'The endpoint answered 302; exactly 200 is needed'],
    [{ ...answered(299), durationMs: 12.6 }, 'The endpoint answered 299; exactly 200 is needed'],
    [{ ...answered(400), durationMs: 12.6 }, 'The endpoint answered 400; exactly 200 is needed'],
    [
      { ...answered(500, 'Error:\n  no key\n'), durationMs: 12.6 },
      'The endpoint answered 500 and said “Error: no key”; exactly 200 is needed',
    ],
    [
      { ...answered(502, '{"success":false,"error":"Nothing listens there."}'), durationMs: 12.6 },
      'The endpoint answered 502 and said “Nothing listens there.”; exactly 200 is needed',
    ],
    [{ ...answered(400, 'no'), durationMs: 12.6 }, 'The endpoint answered 400 and said “no”; exactly 200 is needed'],
    [{ ...answered(399, 'no'), durationMs: 12.6 }, 'The endpoint answered 399; exactly 200 is needed'],
    [
      { ...answered(503, 'x'.repeat(201)), durationMs: 12.6 },
      `The endpoint answered 503 and said “${'x'.repeat(160)}…”; exactly 200 is needed`,
    ],
    [
      { ok: false, reason: 'refused', message: 'Nothing listens there.', durationMs: 12.6 },
      'No answer to the test webhook: Nothing listens there.',
    ],
  ]
  for (const [answer, said] of cases) {
    state.answer = () => answer
    const report = await run(state)
    assert.equal(messages(report), [...UP_TO_ENDPOINT, said, SKIPPED])
    assert.equal([report.passed, report.status, report.checks[3]!.durationMs], [false, 'failed', 13])
    toldOnce(report)
  }
})

words(
  'what is sent: a whole webhook, signed both ways, within its time and size, for its builder’s share',
  async state => {
    const { builder, id, sent, world, marketplace } = state
    state.answer = () => answered(500)
    await run(state)
    assert.is(sent.length, 1)
    const { url, body, headers, timeoutMs, maxResponseBytes, account } = sent[0]!
    assert.equal(
      [url, timeoutMs, maxResponseBytes, account],
      ['HTTPS://agent.example/hook', 30_000, 20_000, builder.id],
    )
    const { data, ...rest } = JSON.parse(body)
    assert.equal(rest, { event: 'task.submitted', timestamp: new Date(world.now()).toISOString() })
    const { taskId, ...said } = data
    assert.match(taskId, /^test_[0-9a-f]{32}$/)
    assert.equal(said, {
      agentId: id,
      title: '[TEST] Connection test',
      description: 'A test of the webhook. Answer 200, then send one signed callback, for example accept.',
      requirements: '',
      agreedPrice: 0,
      status: 'pending',
      callbackUrl: `${marketplace.url}/api/agent/test/${taskId}/callback`,
      requestor: { id: 'test_requestor', type: 'user', trustTier: 'trusted' },
      test: true,
    })
    const names = Object.keys(headers).map(name => name.toLowerCase())
    assert.equal(names.sort(), [
      'content-type',
      'user-agent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
      'x-service-attempt',
      'x-service-delivery-id',
      'x-service-signature',
      'x-service-timestamp',
    ])
    assert.match(headers['X-Service-Delivery-Id']!, /^dlv_/)
    assert.equal([headers['content-type'], headers['X-Service-Attempt']], ['application/json', '1'])
  },
)

const UNSIGNED = /^A callback with an invalid signature arrived: the [^.]+$/
const SIGNED = /^A validly signed callback arrived$/
const TIME = 'X-Service-Timestamp'
const SIGNATURE = 'X-Service-Signature'

words(
  'a callback: validly signed, unusable, wrongly signed; the first one decides, and its cause is told',
  async state => {
    const { secret } = state
    const kinds: [work: (request: Outgoing) => Promise<unknown>, status: TestReport['status'], said: RegExp, Cause?][] =
      [
        [request => callBack(state, request, secret), 'passed', SIGNED],
        [
          request => callBack(state, request, secret, '{"action":"reject","reason":7}'),
          'passed',
          /^A validly signed callback arrived\. Warning: a real task would refuse it, as reason .+$/,
          'bad_callback',
        ],
        [request => callBack(state, request, 'whsec_wrong'), 'failed', UNSIGNED, 'unknown'],
        ...mistakes(secret).map(
          ([cause, change, key = secret]) =>
            [
              (request: Outgoing) => callBack(state, request, key, undefined, change),
              'failed' as const,
              UNSIGNED,
              cause,
            ] as [(request: Outgoing) => Promise<unknown>, 'failed', RegExp, Cause],
        ),
        [
          async request => {
            assert.is((await callBack(state, request, 'whsec_wrong')).status, 401)
            assert.is((await callBack(state, request, secret)).status, 200)
          },
          'failed',
          UNSIGNED,
          'unknown',
        ],
        [
          async request => {
            assert.equal((await callBack(state, request, secret)).data, { test: true })
            assert.is((await callBack(state, request, 'whsec_wrong')).status, 401)
          },
          'passed',
          SIGNED,
          'unknown',
        ],
      ]
    for (const [work, status, said, cause = null] of kinds) {
      state.answer = async request => {
        await work(request)
        return answered(200)
      }
      const report = await run(state)
      assert.equal(messages(report).slice(0, 4), [...UP_TO_ENDPOINT, 'The endpoint answered 200'])
      assert.match(messages(report)[4]!, said)
      assert.equal([report.passed, report.status], [status !== 'failed', status])
      assert.is(report.diagnosis?.cause ?? null, cause, messages(report)[4])
      toldOnce(report)
    }
  },
)

type Mistake = [cause: Cause, change: Parameters<typeof callBack>[4], key?: string]

const mistakes = (secret: string): Mistake[] => [
  ['no_prefix', undefined, secret.slice(6)],
  ['seconds', headers => ({ ...headers, [TIME]: headers[TIME]!.slice(0, 10) })],
  ['missing_header', headers => ({ [SIGNATURE]: headers[SIGNATURE]! })],
  ['misspelt_header', headers => ({ 'X-Service-Time': headers[TIME]!, [SIGNATURE]: headers[SIGNATURE]! })],
  [
    'base64_digest',
    headers => ({ ...headers, [SIGNATURE]: Buffer.from(headers[SIGNATURE]!, 'hex').toString('base64') }),
  ],
  ['prefixed_digest', headers => ({ ...headers, [SIGNATURE]: `sha256=${headers[SIGNATURE]}` })],
]

/** The check says what was seen, the diagnosis says the cure: once. */
function toldOnce({ checks, diagnosis }: TestReport) {
  if (!diagnosis) return
  const shown = [...checks.map(({ message }) => message), inWords(diagnosis)].join('\n')
  assert.equal(saidTwice(shown, diagnosis.fix), [], shown)
}

/** An agent with a URL and a secret. */
async function untested(marketplace: TestMarketplace, name: string) {
  const builder = await marketplace.join(name)
  const { id } = await builder.client.createAgent({ ...fields, webhookUrl: `https://${name}.example/hook` })
  return { builder, id, secret: (await builder.client.rotateSecret({ id })).secret }
}

words('a deployment tells its builder the same of a callback, and nothing of other agents', async () => {
  let work: (request: Outgoing) => Promise<unknown> = async () => {}
  const egress = recordingEgress(async request => {
    await work(request)
    return answered(200)
  })
  const world = createVirtualWorld({ egress })
  const marketplace = await openTestMarketplace({ world, mode: 'serve' })
  const [agent, foreign] = [await untested(marketplace, 'one'), await untested(marketplace, 'two')]
  const here = { marketplace, world }
  const test = () => agent.builder.client.testConnection({ id: agent.id })
  for (const [cause, change, key = agent.secret] of mistakes(agent.secret)) {
    work = request => callBack(here, request, key, undefined, change)
    const { diagnosis } = await test()
    assert.equal([diagnosis?.cause, diagnosis?.certainty], [cause, 'sure'])
  }
  work = async request => {
    const answer = await callBack(here, request, foreign.secret)
    assert.is(answer.status, 401)
    assert.not.match(JSON.stringify(answer), 'hint')
  }
  assert.is((await test()).diagnosis?.cause, 'unknown')
  await marketplace.close()
})

words(
  'without a callback the test waits 15 seconds and no longer, passes with a warning, and counts as a pass',
  async state => {
    const { world, marketplace, builder, id } = state
    let hasAnswered = false
    state.answer = () => {
      hasAnswered = true
      return answered(200)
    }
    await marketplace.pass(1_000)
    let report: TestReport | undefined
    const began = world.realNow()
    const running = run(state).then(done => {
      report = done
    })
    await until('the test webhook', () => hasAnswered)
    while (world.realNow() - began < 14_500) {
      await new Promise(resolve => setTimeout(resolve, 10))
      world.tick(250)
    }
    assert.is(report, undefined)
    // The wait begins when the answer has come, which may be a little later; then it is over.
    let ticks = 0
    await until('the report', () => {
      if (!report && ticks++ < 10) world.tick(250)
      return report
    })
    await running
    assert.equal([report!.passed, report!.status], [true, 'warning'])
    const { status, message, durationMs } = report!.checks[4]!
    assert.equal([status, message], ['warning', 'No callback arrived within 15 seconds'])
    assert.ok(durationMs >= 14_000)
    assert.is((await builder.client.getMyAgent({ id })).lastCheckPassedAt, report!.testedAt)
  },
)

words('a second test is refused while one runs, and a test that a crash has left holds for a minute', async state => {
  const { marketplace, builder, id, world } = state
  const second = () => builder.ask('POST', `/api/my/agents/${id}/test-connection`, undefined, 'key')
  state.answer = async () => {
    const { status, error } = await second()
    assert.equal([status, error], [409, 'A connection test of this agent is running; wait for its end'])
    return answered(500)
  }
  await run(state)
  const left = 'UPDATE agent_tests SET ended = 0, started_at = $2 WHERE agent_id = $1'
  await marketplace.market.db.write(tx => tx.run(left, [id, world.realNow()]))
  state.answer = () => answered(500)
  world.tick(60_000)
  assert.is((await second()).status, 409)
  world.tick(1)
  assert.is((await second()).status, 200)
})

words.run()
