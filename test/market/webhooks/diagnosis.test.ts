// engines: embedded, postgres at length; process: shared
/** A refused signature is explained in a simulator, and nowhere else. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sign } from '../../../src/api/signature.ts'
import { diagnoseExchange } from '../../../src/market/webhooks/diagnosis.ts'
import { callbackSecrets, previousSecrets } from '../../../src/market/webhooks/secrets.ts'
import { agentById } from '../../../src/store/tables/agents/agents.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'
import { exchange, type WireHeader } from '../../support/wire.ts'

const SAYS_NO_MORE = '{"success":false,"error":"The signature is missing, wrong or too old"}'

async function open(options: object = {}) {
  const marketplace = await openTestMarketplace(options)
  const [buyer, builder] = [await marketplace.join('buyer', 1_000_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const pending = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    return id
  }
  const post = (id: string, secret: string, body: string, more: readonly WireHeader[] = [], of = 'tasks') => {
    const at = marketplace.world.realNow()
    const headers = [
      ...more,
      ['content-type', 'application/json'],
      ['x-service-timestamp', String(at)],
      ['x-service-signature', sign(secret, at, body)],
    ] as const
    return exchange(marketplace.url, 'POST', `/api/agent/${of}/${id}/callback`, headers, body)
  }
  return { marketplace, builder, agent, pending, post }
}

const ACCEPT = '{"action":"accept"}'

test('a 401 of dev says what is wrong, with another secret, another task or none', async () => {
  const { marketplace, builder, agent, pending, post } = await open()
  const other = await marketplace.list(builder, { name: 'Other Agent' })
  const id = await pending()
  const hintOf = async (...given: Parameters<typeof post>) => {
    const { status, body } = await post(...given)
    const { hint, ...envelope } = JSON.parse(body)
    assert.is(status, 401)
    assert.is(JSON.stringify(envelope), SAYS_NO_MORE)
    return String(hint)
  }
  assert.match(await hintOf(id, agent.secret.slice(6), ACCEPT), /without whsec_.*The key is the whole secret/)
  assert.match(await hintOf(id, other.secret, ACCEPT), 'the secret of another agent, other-agent')
  assert.match(await hintOf(id, 'whsec_no', ACCEPT), /matches none of \d+ recomputations/)
  assert.match(await hintOf('task_0', agent.secret, ACCEPT), 'There is no task and no test with the id in the path')
  assert.match(await hintOf('test_0', agent.secret, ACCEPT, [], 'test'), 'no test with the id in the path')
  assert.match(await hintOf(id, agent.secret, '{"action":"accept","taskId":"task_9"}'), 'is not that of the path')
  const asValue = hintOf(id, 'whsec_no', ACCEPT, [['x-note', 'x-service-signature']])
  assert.match(await asValue, /matches none of \d+ recomputations/, 'the value of a header is no name of one')
  const strict = await post(id, 'whsec_no', ACCEPT, [['X-Strict', '1']])
  assert.is(strict.body, SAYS_NO_MORE)
  const [first, second] = [await pending(), await pending()]
  const at = marketplace.world.realNow() - 5
  const headers = [
    ['content-type', 'application/json'],
    ['x-service-timestamp', String(at)],
    ['x-service-signature', sign(agent.secret, at, ACCEPT)],
  ] as const
  const path = (task: string) => `/api/agent/tasks/${task}/callback`
  assert.is((await exchange(marketplace.url, 'POST', path(first), headers, ACCEPT)).status, 200)
  const replayed = await exchange(marketplace.url, 'POST', path(second), headers, ACCEPT)
  assert.match(JSON.parse(replayed.body).hint, 'was used for another task before')
  await marketplace.close()
})

test('the clock of an agent is judged by its last callbacks, not by one', async () => {
  const { marketplace, agent, pending } = await open()
  const { world } = marketplace
  const id = await pending()
  const call = async (ageMs: number) => {
    const at = world.realNow() - ageMs
    const body = JSON.stringify({ action: 'message', content: `Sent ${ageMs} ms after it was signed` })
    const headers = [
      ['content-type', 'application/json'],
      ['x-service-timestamp', String(at)],
      ['x-service-signature', sign(agent.secret, at, body)],
    ] as const
    const answer = await exchange(marketplace.url, 'POST', `/api/agent/tasks/${id}/callback`, headers, body)
    world.tick(1_000)
    return String(JSON.parse(answer.body).hint)
  }
  const MINUTE = 60_000
  assert.match(await call(20 * MINUTE), 'If it was signed just now')
  await call(10)
  await call(20)
  const slow = await call(6 * MINUTE)
  assert.match(slow, 'the clock of the sender agrees with this one')
  assert.not.match(slow, 'NTP')
  for (let n = 0; n < 8; n++) await call(7 * MINUTE + n)
  assert.match(await call(7 * MINUTE), 'So were most of its last 8: the clock of the sender is 7 min behind.')
  await marketplace.close()
})

test('the last three secrets of an agent are kept, sealed, to be named and never accepted', async () => {
  const { marketplace, builder, agent, pending, post } = await open()
  const { market } = marketplace
  const id = await pending()
  const secrets = [agent.secret]
  for (let n = 0; n < 4; n++) secrets.push((await builder.client.rotateSecret({ id: agent.id })).secret)
  const kept = await market.db.read(q => previousSecrets(q, market.config, agent.id))
  assert.equal(kept, secrets.slice(1, 4).reverse())
  const row = (await market.db.read(q => agentById(q, agent.id)))!
  assert.equal(callbackSecrets(market.config, row, market.world.now()), secrets.slice(4))
  for (const secret of secrets.slice(0, 4)) {
    const { status, body } = await post(id, secret, ACCEPT)
    assert.is(status, 401)
    assert.match(body, secret === agent.secret ? 'matches none' : 'the previous secret of test-writer')
  }
  const contents = JSON.stringify(await marketplace.contents())
  for (const secret of secrets) assert.not.ok(contents.includes(secret.slice(6)))
  await marketplace.close()
})

test('a deployment says no more than the interface, and keeps no replaced secret', async () => {
  const { marketplace, builder, agent, pending, post } = await open({
    mode: 'serve',
    payments: 'sandbox',
    rateLimits: 'off',
  })
  const { market } = marketplace
  const id = await pending()
  await builder.client.rotateSecret({ id: agent.id })
  assert.is((await post(id, agent.secret, ACCEPT)).body, SAYS_NO_MORE)
  assert.equal(await market.db.read(q => previousSecrets(q, market.config, agent.id)), [])
  await marketplace.close()
})

test('an exchange is explained only if it was refused with 401', async () => {
  const { marketplace, agent, pending } = await open()
  const { market, world } = marketplace
  const taskId = await pending()
  const common = {
    taskId,
    agentId: agent.id,
    requestHeaders: [],
    requestBody: Buffer.from(ACCEPT),
    realAt: world.realNow(),
  }
  const of = (direction: 'webhook' | 'callback', status: number | null) =>
    diagnoseExchange(market, { ...common, direction, status })
  assert.is((await of('callback', 401))?.cause, 'missing_header')
  const timestamp = common.realAt
  const requestHeaders = [
    ['x-service-timestamp', String(timestamp)],
    ['x-service-signature', sign(agent.secret, timestamp, ACCEPT)],
  ] as const
  const right = await diagnoseExchange(market, { ...common, requestHeaders, direction: 'callback', status: 401 })
  assert.is(right, null, 'a right signature that nobody has used is not explained')
  assert.is(await of('callback', 400), null)
  assert.is(await of('webhook', 500), null)
  const refused = (await of('webhook', 401))!
  assert.equal([refused.cause, refused.certainty], ['refused_by_agent', 'likely'])
  assert.match(refused.text, /Its secret was made .* ago/)
  await marketplace.close()
})

test.run()
