// engines: embedded, postgres at length; process: shared
/** The unified callback as an agent, or whoever pretends to be it, may send it; strictly, without diagnoses. Source: I-signature, A-20, A-21, A-25, A-38. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { agentEvents } from '../../../src/api/flow.ts'
import { sign } from '../../../src/api/signature.ts'
import { seal } from '../../../src/market/sealing.ts'
import { updateAgentRow } from '../../../src/store/tables/agents/agents.ts'
import type { RecordingEgress } from '../../../src/world/virtual.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'
import { exchange, type WireHeader } from '../../support/wire.ts'

const JSON_TYPE = ['content-type', 'application/json'] as const
const pathOf = (id: string) => `/api/agent/tasks/${id}/callback`
const signedWith = (secret: string, timestamp: number, body: string): WireHeader[] => [
  JSON_TYPE,
  ['x-service-timestamp', String(timestamp)],
  ['x-service-signature', sign(secret, timestamp, body)],
]

async function open() {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 1_000_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder, { maxRevisions: 3 })
  const act = async (id: string, verb: string, body?: object) => {
    const { status, error } = await buyer.ask('POST', `/api/tasks/${id}/${verb}`, body)
    assert.is(Math.floor(status / 100), 2, `${verb}: ${status} ${error}`)
  }
  const pending = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await act(id, 'submit')
    return id
  }
  const post = (id: string, headers: readonly WireHeader[], body: string | Buffer) =>
    exchange(marketplace.url, 'POST', pathOf(id), [...headers, ['x-strict', '1']], body)
  /** Signed now with the agent's secret, unless told otherwise. */
  const send = (id: string, body: object, { secret = agent.secret, at = 0 } = {}) => {
    const text = JSON.stringify(body)
    return post(id, signedWith(secret, marketplace.world.realNow() + at, text), text)
  }
  const stateOf = async (id: string) => (await buyer.call<{ status: string }>('GET', `/api/tasks/${id}`)).status
  const messages = async (id: string) =>
    (await buyer.call<{ items: { id: string; content: string }[] }>('GET', `/api/tasks/${id}/messages`)).items
  return { marketplace, buyer, builder, agent, act, pending, post, send, stateOf, messages }
}

type Vector = {
  name: string
  secret: string | string[]
  timestamp: string | string[] | null
  signature: string | string[] | null
  expect: string
  body?: string
  bodyHex?: string
}
const { vectors } = JSON.parse(readFileSync('fixtures/signatures.json', 'utf8')) as { vectors: Vector[] }

/** Blanks around a header's value are no part of it (RFC 9110, 5.5). */
const trimmedOnTheWay = ['signature: a leading space', 'signature: a trailing space']

function wireHeaders({ timestamp, signature }: Vector): WireHeader[] {
  const each = (name: string, value: string | string[] | null) => [value ?? []].flat().map(one => [name, one] as const)
  return [JSON_TYPE, ...each('x-service-timestamp', timestamp), ...each('x-service-signature', signature)]
}

test('callback: every signature vector is judged over the wire as in the table', async () => {
  const { marketplace, agent, pending, post } = await open()
  const { world, market } = marketplace
  const id = await pending()
  await marketplace.webhooksSent()
  const counts = { passed: 0, refused: 0, broken: 0 }
  for (const vector of vectors) {
    const [secret = null, oldSecret = null] = [vector.secret]
      .flat()
      .map(one => seal(world, market.config, agent.id, one))
    const oldSecretUntil = oldSecret === null ? null : world.now() + 1
    await market.db.write(tx => updateAgentRow(tx, agent.id, { secret, oldSecret, oldSecretUntil }))
    const before = await marketplace.contents()
    const body = vector.bodyHex === undefined ? (vector.body ?? '') : Buffer.from(vector.bodyHex, 'hex')
    const { status, text } = await post(id, wireHeaders(vector), body)
    const isHeader = !/[\0\n]/.test(`${vector.timestamp}${vector.signature}`)
    if (vector.expect === 'ok' || trimmedOnTheWay.includes(vector.name)) {
      assert.ok([200, 201, 400].includes(status), `${vector.name}: ${text}`)
      counts.passed++
      continue
    }
    if (isHeader) counts.refused++
    else counts.broken++
    assert.is(status, isHeader ? 401 : 400, `${vector.name}: ${text}`)
    assert.equal(await marketplace.contents(), before, vector.name)
  }
  assert.ok(counts.passed >= 20 && counts.refused >= 80 && counts.broken >= 3, JSON.stringify(counts))
  await marketplace.close()
})

test('callback: a signature or timestamp header sent twice is refused with 401, even with the right value', async () => {
  const { marketplace, agent, pending, post, stateOf } = await open()
  const id = await pending()
  const body = '{"action":"accept"}'
  const [type, timestamp, signature] = signedWith(agent.secret, marketplace.world.realNow(), body)
  const wrong = [signature![0], '0'.repeat(64)] as const
  for (const headers of [
    [type!, timestamp!, signature!, signature!],
    [type!, timestamp!, timestamp!, signature!],
    [type!, timestamp!, wrong, signature!],
    [type!, timestamp!, signature!, wrong],
    [type!, timestamp!, signature!, ['X-SERVICE-SIGNATURE', signature![1]] as const],
  ]) {
    assert.is((await post(id, headers, body)).status, 401)
  }
  assert.is(await stateOf(id), 'pending')
  assert.is((await post(id, [type!, timestamp!, signature!], body)).status, 200)
  await marketplace.close()
})

test('callback: one ms outside of five minutes is refused, the edge itself is not', async () => {
  const { marketplace, send, pending } = await open()
  const id = await pending()
  const message = (content: string, at: number) => send(id, { action: 'message', content }, { at })
  for (const at of [-300_001, 300_001, -3_600_000, 3_600_000]) assert.is((await message('no', at)).status, 401, `${at}`)
  for (const at of [-300_000, 300_000]) assert.is((await message(`at ${at}`, at)).status, 201, `${at}`)
  await marketplace.close()
})

test('callback: each webhook of the marketplace, posted back as it came, is refused with 400 and changes nothing', async () => {
  const { marketplace, act, send, pending, post } = await open()
  const first = await pending()
  await act(first, 'messages', { content: 'Hello there' })
  await send(first, { action: 'accept' })
  await send(first, { action: 'deliver', content: 'One' })
  await act(first, 'request-revision', { reason: 'Again' })
  await send(first, { action: 'deliver', content: 'Two' })
  await act(first, 'approve')
  await act(first, 'dispute', { reason: 'Not at all what I wanted' })
  const second = await pending()
  await act(second, 'cancel')
  await marketplace.webhooksSent()
  const third = await pending()
  await marketplace.webhooksSent()
  const before = await marketplace.contents()
  const seen = new Set<string>()
  for (const { headers, body } of (marketplace.world.egress as RecordingEgress).sent) {
    const { event, data } = JSON.parse(body)
    const pairs = Object.entries(headers)
    const home: string = data.test ? third : data.taskId
    for (const id of [home, third]) {
      const { status, text } = await post(id, pairs, body)
      // The event of one task is no callback of another either, whatever its signature.
      assert.ok(status === 400 || (id !== home && status === 401), `${event} to ${id}: ${text}`)
    }
    seen.add(data.test ? 'test' : event)
  }
  // What goes to a buying agent is held where agents hire.
  const toSellers = agentEvents.filter(event => event !== 'task.delivered_to_buyer')
  assert.equal([...seen].sort(), [...toSellers, 'test'].sort())
  assert.equal(await marketplace.contents(), before)
  await marketplace.close()
})

test('callback: the same request a hundred times has one effect and one answer', async () => {
  const { marketplace, agent, pending, post, messages, send } = await open()
  const id = await pending()
  const again = async (body: object) => {
    const text = JSON.stringify(body)
    const headers = signedWith(agent.secret, marketplace.world.realNow(), text)
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(id, headers, text)))
    for (let i = 0; i < 50; i++) answers.push(await post(id, headers, text))
    for (const answer of answers)
      assert.is(`${answer.status} ${answer.body}`, `${answers[0]!.status} ${answers[0]!.body}`)
    return answers[0]!
  }
  const said = await again({ action: 'message', content: 'Only once' })
  assert.is(said.status, 201)
  assert.equal(
    (await messages(id)).map(message => message.id),
    [JSON.parse(said.body).data.id],
  )
  assert.is((await again({ action: 'accept' })).status, 200)
  const delivered = await again({ action: 'deliver', content: 'Once' })
  assert.is(JSON.parse(delivered.body).data.task.status, 'delivered')
  const rows = await marketplace.market.db.read(q => q.all('SELECT id FROM deliverables WHERE task_id = $1', [id]))
  assert.is(rows.length, 1)
  assert.is((await send(id, { action: 'message', content: 'Only once' }, { at: 1 })).status, 201)
  assert.is((await messages(id)).length, 2)
  await marketplace.close()
})

test('callback: a signed body sent to another task, or naming another one, is refused with 401', async () => {
  const { marketplace, agent, pending, post, stateOf, send } = await open()
  const [one, other] = [await pending(), await pending()]
  const body = '{"action":"accept"}'
  const headers = signedWith(agent.secret, marketplace.world.realNow(), body)
  assert.is((await post(one, headers, body)).status, 200)
  assert.is((await post(other, headers, body)).status, 401)
  assert.is(await stateOf(other), 'pending')
  assert.is((await post(one, headers, body)).status, 200)
  for (const taskId of [one, '', null, 7, [other]]) {
    assert.is((await send(other, { action: 'accept', taskId })).status, 401, JSON.stringify(taskId))
  }
  assert.is(await stateOf(other), 'pending')
  const aimed = JSON.stringify({ action: 'accept', taskId: other })
  const aimedHeaders = signedWith(agent.secret, marketplace.world.realNow(), aimed)
  assert.is((await post(one, aimedHeaders, aimed)).status, 401)
  assert.is((await post(other, aimedHeaders, aimed)).status, 200)
  await marketplace.close()
})

test('callback: an unknown task and a bad signature are answered alike, byte for byte', async () => {
  const { marketplace, pending, send } = await open()
  const id = await pending()
  const bare = ({ text }: { text: string }) => text.replace(/^(x-request-id|date): .*\r\n/gim, '')
  const wrong = bare(await send(id, { action: 'accept' }, { secret: 'whsec_wrong' }))
  assert.match(wrong, /^HTTP\/1\.1 401 /)
  for (const unknown of [`${id}x`, 'task_0', 'x'.repeat(199)]) {
    assert.is(bare(await send(unknown, { action: 'accept' })), wrong)
    assert.is(bare(await send(unknown, { action: 'accept' }, { secret: 'whsec_wrong' })), wrong)
  }
  await marketplace.close()
})

test('callback: a refusal is kept with its signature, also after the state would allow it', async () => {
  const { marketplace, agent, pending, post, send, stateOf } = await open()
  const id = await pending()
  const body = '{"action":"deliver","content":"Too early"}'
  const headers = signedWith(agent.secret, marketplace.world.realNow(), body)
  const early = await post(id, headers, body)
  assert.is(early.status, 400)
  assert.is((await send(id, { action: 'accept' })).status, 200)
  const late = await post(id, headers, body)
  assert.is(`${late.status} ${late.body}`, `${early.status} ${early.body}`)
  assert.is(await stateOf(id), 'in_progress')
  assert.is((await send(id, { action: 'deliver', content: 'Too early' }, { at: 1 })).status, 200)
  await marketplace.close()
})

test('callback: a verified body that can not be understood is refused with 400', async () => {
  const { marketplace, agent, pending, post, stateOf } = await open()
  const id = await pending()
  const deep = `{"action":"accept","x":${'['.repeat(40)}${']'.repeat(40)}}`
  const long = JSON.stringify({ action: 'deliver', content: 'x'.repeat(50_001) })
  const bodies = ['', '{', '[]', 'null', '"accept"', '{"action":"ACCEPT"}', '{"action":["accept"]}', '{}', deep, long]
  for (const body of [
    ...bodies,
    '{"action":"message"}',
    '{"action":"deliver"}',
    '{"action":"message","content":" "}',
  ]) {
    const headers = signedWith(agent.secret, marketplace.world.realNow(), body)
    const { status, text } = await post(id, headers, body)
    assert.is(status, 400, `${body.slice(0, 80)}: ${text}`)
  }
  const body = '{"action":"accept"}'
  const [, ...headers] = signedWith(agent.secret, marketplace.world.realNow() - 1, body)
  assert.is((await post(id, [['content-type', 'text/plain'], ...headers], body)).status, 400)
  assert.is(await stateOf(id), 'pending')
  await marketplace.close()
})

test("callback: a banned builder's agent is told so with 403, but only after its signature is checked", async () => {
  const { marketplace, builder, pending, send, stateOf } = await open()
  const id = await pending()
  await marketplace.admin.call('PUT', `/api/admin/users/${builder.id}`, { banned: true })
  assert.is((await send(id, { action: 'accept' }, { secret: 'whsec_wrong' })).status, 401)
  assert.is((await send(id, { action: 'accept' })).status, 403)
  assert.is(await stateOf(id), 'pending')
  await marketplace.close()
})

test('callback: an old secret counts within graceHours and no longer; without them it is dead at once', async () => {
  const { marketplace, agent, builder, pending, send } = await open()
  const id = await pending()
  const rotate = (body?: object) =>
    builder.call<{ secret: string }>('POST', `/api/my/agents/${agent.id}/webhook-secret`, body)
  const say = async (content: string, secret: string) =>
    (await send(id, { action: 'message', content }, { secret })).status
  const { secret: second } = await rotate({ graceHours: 2 })
  assert.is(await say('a', agent.secret), 201)
  assert.is(await say('b', second), 201)
  await marketplace.pass(2 * 3_600_000 - 1)
  assert.is(await say('c', agent.secret), 201)
  await marketplace.pass(1)
  assert.is(await say('d', agent.secret), 401)
  assert.is(await say('e', second), 201)
  const { secret: third } = await rotate()
  assert.is(await say('f', second), 401)
  assert.is(await say('g', third), 201)
  await marketplace.close()
})

test('what an agent signed for a test of its connection is good for no task, and the other way round', async () => {
  const { marketplace, builder, agent, pending, post, stateOf } = await open()
  const body = '{"action":"accept"}'
  const signed = signedWith(agent.secret, marketplace.world.realNow() - 7, body)
  const forTest = { headers: Object.fromEntries(signed), status: 0 }
  agent.sink.onTest = async url => {
    forTest.status = (await fetch(url, { method: 'POST', headers: forTest.headers, body })).status
  }
  await builder.client.testConnection({ id: agent.id })
  assert.is(forTest.status, 200)
  const id = await pending()
  assert.is((await post(id, signed, body)).status, 401)
  assert.is(await stateOf(id), 'pending')
  const forTask = signedWith(agent.secret, marketplace.world.realNow() - 8, body)
  assert.is((await post(id, forTask, body)).status, 200)
  forTest.headers = Object.fromEntries(forTask)
  await builder.client.testConnection({ id: agent.id })
  assert.is(forTest.status, 401)
  await marketplace.close()
})

test.run()
