// engines: embedded, postgres; process: shared
/**
 * Each unit that a request opens is that of its account, or of its address as long as nobody knows the account: so it takes part in their share
 * of the thread and of the connections, also where the verb opens its units itself. Source: A-289.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { HttpUser } from '../../src/sim/http-user.ts'
import type { Db } from '../../src/store/db.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

const ADDRESS = '127.0.0.1'

/** Whose the units are that are opened from now on. */
function watchUnits(db: Db) {
  const [read, write] = [db.read.bind(db), db.write.bind(db)]
  let flows: (string | undefined)[] = []
  db.read = (work, flow) => {
    flows.push(flow)
    return read(work, flow)
  }
  db.write = (work, flow) => {
    flows.push(flow)
    return write(work, flow)
  }
  return async (ask: () => Promise<unknown>) => {
    flows = []
    await ask()
    return flows
  }
}

test('the units of a request are those of its account, else of its address', async () => {
  const marketplace = await openTestMarketplace({ rateLimits: 'warn' })
  const stranger = () => new HttpUser(marketplace.url)
  const [builder, buyer] = [await marketplace.join('builder'), await marketplace.join('buyer', 5_000)]
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await builder.client.acceptTask({ id })
  await marketplace.stopHeartbeat()
  await marketplace.webhooksSent()
  const unitsOf = watchUnits(marketplace.market.db)
  const { email, password } = buyer
  const key = { 'idempotency-key': 'one' }
  const test = `/api/my/agents/${agent.id}/test-connection`
  const upload = async () => {
    const body = new FormData()
    body.set('content', 'With a file')
    body.set('files', new Blob(['a,b\n'], { type: 'text/csv' }), 'a.csv')
    const headers = { authorization: `Bearer ${builder.key}` }
    const answer = await fetch(`${marketplace.url}/api/agent/tasks/${id}/deliver`, { method: 'POST', headers, body })
    assert.is(answer.status, 200, await answer.text())
  }
  const asked: [what: string, account: string | null, ask: () => Promise<unknown>][] = [
    [
      'a registration',
      null,
      () => stranger().client.register({ email: 'new@example.com', password: 'the password of a test', name: 'New' }),
    ],
    ['a refused login', null, () => stranger().ask('POST', '/api/auth/login', { email, password: 'another one' })],
    ['a lost password', null, () => stranger().ask('POST', '/api/auth/password-reset', { email })],
    ['a signed callback', null, () => marketplace.callback(agent, id, { action: 'message', content: 'Soon' })],
    ['a forged callback', null, () => marketplace.callback({ secret: 'of nobody' }, id, { action: 'deliver' })],
    ['a connection test', builder.id, () => builder.ask('POST', test, undefined, 'key')],
    ['one with a key', builder.id, () => builder.ask('POST', test, undefined, 'key', key)],
    ['a login', null, () => stranger().client.login({ email, password })],
    ['an upload', builder.id, upload],
    ['a read', buyer.id, () => buyer.ask('GET', '/api/wallet', undefined, 'key')],
    ['a write', buyer.id, () => buyer.ask('POST', '/api/tasks', {}, 'key')],
  ]
  for (const [what, account, ask] of asked) {
    const flows = await unitsOf(ask)
    assert.ok(flows.length > 0, what)
    const others = flows.filter(flow => flow !== ADDRESS && flow !== account)
    assert.equal(others, [], what)
    if (account !== null) assert.ok(flows.includes(account), what)
  }
  await marketplace.close()
})

test.run()
