// engines: postgres; process: shared
/** On a server, what a request about one task is sure to need is asked for at once, before it is known who asks, and once. */
import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { countStatements } from '../../support/counted-db.ts'
import { freshDatabase } from '../../support/databases.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

interface State {
  marketplace: TestMarketplace
  buyer: TestUser
  agent: ListedAgent
  drop(): Promise<void>
}

const ahead = suite<State>('asked ahead')

ahead.before(async state => {
  const { url, drop } = await freshDatabase({ migrated: true })
  const marketplace = await openTestMarketplace({ postgres: { url }, secretKey: randomBytes(32).toString('base64') })
  const agent = await marketplace.list(await marketplace.join('builder'))
  await marketplace.stopHeartbeat()
  Object.assign(state, { marketplace, agent, buyer: await marketplace.join('buyer', 10_000), drop })
})

ahead.after(async ({ marketplace, drop }) => {
  await marketplace.close()
  await drop()
})

type Kind = 'lock' | 'task' | 'agent' | 'who' | 'account' | 'other'

/** What a statement is about. */
function kindOf(sql: string): Kind {
  if (sql === 'lock tasks') return 'lock'
  if (/^SELECT t\.id, .*FROM tasks t\s/s.test(sql)) return 'task'
  if (/FOR KEY SHARE OF a/.test(sql)) return 'agent'
  if (/^SELECT .*FROM users WHERE id = \$1$/s.test(sql)) return 'account'
  return /^SELECT .*(?:FROM|JOIN) users\s/s.test(sql) ? 'who' : 'other'
}

const requests = [
  ['GET', '', ['task', 'who']],
  ['GET', '/messages', ['task', 'who', 'other', 'other']],
  ['GET', '/deliverables', ['task', 'who', 'other', 'other']],
  ['PUT', '', ['lock', 'task', 'who', 'other', 'other', 'task']],
  ['POST', '/submit', ['lock', 'task', 'agent', 'who']],
  ['POST', '/messages', ['lock', 'task', 'who']],
  ['POST', '/cancel', ['lock', 'task', 'who']],
] as const

for (const [method, rest, first] of requests) {
  ahead(`${method} /api/tasks/:id${rest}: ${first.join(', ')}, and nothing of it twice`, async state => {
    const { marketplace, buyer, agent } = state
    const { id } = await marketplace.draft(buyer, agent)
    if (rest === '/cancel' || (method === 'POST' && rest === '/messages')) await buyer.client.submitTask({ id })
    await marketplace.webhooksSent()
    const bodies: Record<string, object | undefined> = { PUT: { title: 'Another title' }, POST: { content: 'Hello' } }
    const body = rest === '/submit' || rest === '/cancel' ? undefined : bodies[method]
    const statements = countStatements(marketplace.market.db)
    const { status, error } = await buyer.ask(method, `/api/tasks/${id}${rest}`, body, 'key')
    const kinds = statements.texts().map(kindOf)
    statements.stop()
    assert.ok(status < 300, error)
    assert.equal(kinds.slice(0, first.length), first)
    // Webhooks that are sent meanwhile hold the task as well.
    for (const kind of ['task', 'agent', 'who', 'account'] as const)
      assert.is(kinds.filter(one => one === kind).length, first.filter(one => one === kind).length, kind)
  })
}

ahead('whoever may not see the task gets none of what was asked ahead', async ({ marketplace, buyer, agent }) => {
  const { id } = await marketplace.draft(buyer, agent)
  const other = await marketplace.join('other')
  for (const rest of ['', '/messages', '/deliverables']) {
    assert.is((await other.ask('GET', `/api/tasks/${id}${rest}`, undefined, 'key')).status, 403)
    assert.is((await marketplace.visitor.ask('GET', `/api/tasks/${id}${rest}`)).status, 401)
    assert.is((await buyer.ask('GET', `/api/tasks/task_none${rest}`, undefined, 'key')).status, 404)
  }
  assert.is((await other.ask('POST', `/api/tasks/${id}/submit`, undefined, 'key')).status, 403)
  assert.is((await buyer.client.getTask({ id })).status, 'draft')
})

ahead.run()
