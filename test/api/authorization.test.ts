// engines: embedded; process: shared; lengths: short, long
/**
 * Every endpoint × who asks × whose it is: the exact status over the wire; what is refused changes nothing. On one engine, because it
 * compares all tables after each of some thousand requests, which takes minutes on a server; test/differential compares the
 * answers of both engines. In short, of what is not there a few people ask.
 */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { signatureHeaders } from '../../src/api/signature.ts'
import { HttpUser, type Method } from '../../src/sim/http-user.ts'
import { caps, type Fixture, type Kind, openSides, type Params, type Side } from '../support/authorization-fixture.ts'
import { type Cell, endpointOf, type Person, type Row, rows } from '../support/authorization-matrix.ts'
import { checkedFetch } from '../support/contract.ts'
import { isLong } from '../support/length.ts'
import { type TestUser, taskFields } from '../support/marketplace.ts'

interface Asking {
  params: Params
  side: Side
  /** Whose credential goes along, if any does. */
  caller: TestUser | null
  /** Another number each time. */
  n: number
}

type Question = readonly [of: Kind | null, body?: object | ((asking: Asking) => object)]

const agentFields = {
  name: 'An agent',
  tagline: 'Made by a test of who may',
  description: 'An agent that nobody will ever hire, as a test of authorization made it.',
  pricingModel: 'fixed',
  basePrice: 200,
  categoryIds: ['cat_code'],
}
const reason = { reason: 'Because a test says so.' }
const newTask = ({ params }: Asking) => ({ ...taskFields, agentId: params.id })
const newBudget = ({ params }: Asking) => ({ ...caps, agentId: params.id })
const emailOf = ({ params, side }: Asking) => (params.id === absent.id ? 'nobody@example.com' : side.buyer.email)

/** What is sent to each endpoint, about what. */
const questions: Readonly<Record<string, Question>> = {
  'POST /api/auth/register': [
    null,
    ({ n }) => ({ email: `new${n}@example.com`, password: 'a long password', name: 'New' }),
  ],
  'POST /api/auth/login': ['user', asking => ({ email: emailOf(asking), password: asking.side.buyer.password })],
  'POST /api/auth/logout': [null],
  'GET /api/auth/me': [null],
  'PUT /api/auth/me': [null, { name: 'A name' }],
  'POST /api/auth/password': [null, ({ caller }) => passwords(caller?.password ?? 'x'.repeat(10))],
  'POST /api/auth/password-reset': ['user', asking => ({ email: emailOf(asking) })],
  'POST /api/auth/password-reset/confirm': ['user', { token: 'no such token', password: 'x'.repeat(10) }],
  'GET /api/auth/totp': [null],
  'POST /api/auth/totp': [null, ({ caller }) => ({ password: caller?.password ?? 'x'.repeat(10) })],
  'POST /api/auth/totp/confirm': [null, { code: '000000' }],
  'DELETE /api/auth/totp': [null, ({ caller }) => ({ password: caller?.password ?? 'x'.repeat(10), totp: '000000' })],
  'GET /api/auth/sessions': [null],
  'DELETE /api/auth/sessions': [null],
  'DELETE /api/auth/sessions/:id': ['session'],

  'GET /api/agents': [null],
  'GET /api/agents/:id': ['listed agent'],
  'GET /api/agents/:id (pending)': ['pending agent'],
  'GET /api/agents/:id/samples': ['listed agent'],
  'GET /api/agents/:id/samples (pending)': ['pending agent'],
  'GET /api/agents/:id/reviews': ['listed agent'],
  'GET /api/agents/:id/ratings': ['listed agent'],
  'GET /api/agents/:id/reviews (pending)': ['pending agent'],
  'GET /api/categories': [null],

  'GET /api/tasks': [null],
  'POST /api/tasks': ['listed agent', newTask],
  'POST /api/tasks (pending)': ['pending agent', newTask],
  'GET /api/tasks/:id': ['pending task'],
  'GET /api/tasks/:id/diagnosis': ['pending task'],
  'GET /api/tasks/:id/history': ['pending task'],
  'PUT /api/tasks/:id': ['draft task', { title: 'Another title' }],
  'POST /api/tasks/:id/submit': ['draft task'],
  'POST /api/tasks/:id/cancel': ['pending task'],
  'POST /api/tasks/:id/accept': ['pending task'],
  'POST /api/tasks/:id/deliver': ['task in progress', { content: 'Here it is.' }],
  'POST /api/tasks/:id/approve': ['delivered task'],
  'POST /api/tasks/:id/request-revision': ['delivered task', reason],
  'POST /api/tasks/:id/dispute': ['delivered task', reason],
  'GET /api/tasks/:id/deliverables': ['delivered task'],
  'GET /api/tasks/:id/files/:fileId': ['task with a file'],
  'GET /api/tasks/:id/messages': ['pending task'],
  'POST /api/tasks/:id/messages': ['pending task', { content: 'How is it going?' }],
  'GET /api/tasks/:id/review': ['reviewed task'],
  'GET /api/tasks/:id/review (none yet)': ['completed task'],
  'POST /api/tasks/:id/review': ['completed task', { rating: 5 }],

  'POST /api/agent/tasks/:id/accept': ['pending task'],
  'POST /api/agent/tasks/:id/reject': ['pending task', reason],
  'POST /api/agent/tasks/:id/deliver': ['task in progress', { content: 'Here it is.' }],
  'POST /api/agent/tasks/:id/callback': ['pending task', { action: 'accept' }],
  'POST /api/agent/test/:id/callback': ['test', { action: 'accept' }],
  'GET /api/agent/requestors/:userId/reputation': ['user'],
  'GET /api/agent/requestors/:userId/history': ['user'],

  'GET /api/wallet': [null],
  'GET /api/wallet/transactions': [null],
  'GET /api/wallet/ledger': [null],
  'GET /api/wallet/deposit-limits': [null],
  'POST /api/wallet/deposit': [null, { amount: 200 }],
  'POST /api/wallet/withdraw': [null, { amount: 200 }],
  'POST /api/wallet/connect': [null],

  'GET /api/my/agents': [null],
  'POST /api/my/agents': [null, agentFields],
  'GET /api/my/agents/:id': ['listed agent'],
  'GET /api/my/agents/:id/checks': ['listed agent'],
  'PUT /api/my/agents/:id': ['listed agent', { basePrice: 300 }],
  'DELETE /api/my/agents/:id': ['listed agent'],
  'POST /api/my/agents/:id/publish': ['draft agent'],
  'POST /api/my/agents/:id/deactivate': ['listed agent'],
  'POST /api/my/agents/:id/reactivate': ['inactive agent'],
  'POST /api/my/agents/:id/webhook-secret': ['listed agent'],
  'POST /api/my/agents/:id/test-connection': ['listed agent'],
  'GET /api/my/agents/:id/samples': ['listed agent'],
  'POST /api/my/agents/:id/samples': ['listed agent', { title: 'A sample', output: 'Of its work.' }],
  'DELETE /api/my/agents/:id/samples/:sampleId': ['sample'],
  'GET /api/my/agents/:id/deliveries': ['delivery'],
  'GET /api/my/agents/:id/deliveries/:deliveryId': ['delivery'],
  'POST /api/my/agents/:id/deliveries/:deliveryId/redeliver': ['delivery'],
  'GET /api/my/tasks/counts': [null],
  'GET /api/my/deliveries': [null],
  'GET /api/my/deliveries/counts': [null],
  'POST /api/my/deliveries/resend': [null, { failed: {} }],
  'GET /api/my/earnings': [null],
  'GET /api/my/api-keys': [null],
  'POST /api/my/api-keys': [null, { name: 'Another key' }],
  'DELETE /api/my/api-keys/:id': ['key'],
  'GET /api/stream': [null],
  'GET /api/notifications': [null],
  'POST /api/notifications/read': [null],
  'POST /api/notifications/:id/read': ['notification'],

  'GET /api/budget-authorizations': [null],
  'POST /api/budget-authorizations': ['listed agent', newBudget],
  'POST /api/budget-authorizations (pending)': ['pending agent', newBudget],
  'GET /api/budget-authorizations/:id': ['budget'],
  'PUT /api/budget-authorizations/:id': ['budget', { maxMonthly: 300 }],
  'DELETE /api/budget-authorizations/:id': ['budget'],
  'POST /api/budget-authorizations/:id/pause': ['budget'],
  'POST /api/budget-authorizations/:id/resume': ['paused budget'],

  'GET /api/admin/agents': [null],
  'GET /api/admin/agents/:id': ['pending agent'],
  'POST /api/admin/agents/:id/approve': ['pending agent'],
  'POST /api/admin/agents/:id/reject': ['pending agent', reason],
  'GET /api/admin/users': [null],
  'GET /api/admin/users/:id': ['user'],
  'PUT /api/admin/users/:id': ['user', { identityVerified: true }],
  'POST /api/admin/users/:id/purge': ['user'],
  'GET /api/admin/queues': [null],
  'GET /api/admin/secret-key': [null],
  'POST /api/admin/secret-key/rotate': [null],
  'GET /api/admin/usage': [null],
  'GET /api/admin/usage/accounts': [null],
  'GET /api/admin/tasks': [null],
  'POST /api/admin/tasks/:id/resolve': ['delivered task', { outcome: 'refund' }],
  'POST /api/admin/tasks/:id/messages': ['delivered task', { content: 'Both read this' }],
  'GET /api/admin/deposits': [null],
  'GET /api/admin/withdrawals': [null],
  'POST /api/admin/deposits/:id/confirm': ['deposit'],
  'POST /api/admin/deposits/:id/reject': ['deposit'],
  'POST /api/admin/withdrawals/:id/confirm': ['withdrawal'],
  'POST /api/admin/withdrawals/:id/reject': ['withdrawal'],
  'GET /api/admin/ledger/check': [null],
  'POST /api/admin/categories': [null, ({ n }) => ({ name: `A category ${n}`, description: 'Made by a test' })],
  'PUT /api/admin/categories/:id': ['category', { description: 'Changed by a test' }],
  'DELETE /api/admin/categories/:id': ['category'],
  'POST /api/dev/sign-in': [null, { as: 'buyer' }],
  'GET /api/dev/status': [null],
  'POST /api/dev/tasks/:id/callback': ['pending task', { action: 'accept' }],
  'GET /api/dev/buyers': [null],
  'PUT /api/dev/buyers/:id': ['fault', { isHere: true }],
  'GET /api/dev/clock': [null],
  'POST /api/dev/clock': [null, { advanceMs: 0 }],
  'PUT /api/dev/clock/scale': [null, { scale: 1 }],
  'GET /api/dev/faults': [null],
  'POST /api/dev/faults': [null, { name: 'copy', agentId: 'agt_nobody' }],
  'DELETE /api/dev/faults': [null],
  'GET /api/dev/conformance': [null],
  'POST /api/dev/conformance': [null, { agentId: 'agt_nobody' }],
  'GET /api/dev/conformance/:id': ['fault'],
  'POST /api/dev/conformance/:id/stop': ['fault'],
  'GET /api/dev/exchanges': [null],
  'GET /api/dev/exchanges/:id': ['exchange'],
  'GET /api/dev/exchanges/:id/diagnosis': ['exchange'],
  'GET /api/dev/mails': [null],
  'DELETE /api/dev/faults/:id': ['fault'],
  'GET /api/dev/events': [null],
}

/** A stream would go on for ever. */
const queries: Readonly<Record<string, string>> = {
  'GET /api/dev/events': '?follow=false',
  'GET /api/stream': '?follow=false',
}

const passwords = (currentPassword: string) => ({ currentPassword, newPassword: currentPassword })
const absent = { id: 'none', userId: 'none', fileId: 'none', sampleId: 'none', deliveryId: 'none' }
const decidedByHand: readonly (Kind | null)[] = ['deposit', 'withdrawal']

// With a session of its own, or the others would miss theirs.
const endsSession = /auth\/(?:register|login|logout)$/

interface Context {
  fixtures: Record<'sandbox' | 'manual', Fixture>
  /** What nobody may change, and what may be looked at by everyone who may. */
  shared: Map<string, Params>
}

let asked = 0
const matrix = suite<Context>('authorization')

matrix.before(async context => {
  context.fixtures = { sandbox: await openSides(), manual: await openSides('manual') }
  context.shared = new Map()
})

matrix.after(async ({ fixtures }) => {
  await fixtures.sandbox.marketplace.checkLedger()
  for (const { close } of Object.values(fixtures)) await close()
})

matrix('every row has its question', () => {
  const asked = Object.keys(questions)
  const labels = rows.map(({ label }) => label)
  const missing = labels.filter(label => !asked.includes(label))
  assert.equal(missing, [], 'add a line for each to `questions` above: what it stands on, and what is sent')
  const extra = asked.filter(label => !labels.includes(label))
  assert.equal(extra, [], 'no row of fixtures/authorization.json has these names')
})

/** What is not there is refused alike for whoever may ask. */
const isTried = ({ target, column }: Cell) =>
  isLong || target !== 'absent' || ['none', 'buyer', 'admin'].includes(column)

for (const row of rows) {
  matrix(row.label, async ({ fixtures, shared }) => {
    const cells = row.cells.filter(isTried)
    assert.ok(questions[row.label], 'it has no line in `questions` above')
    const [kind] = questions[row.label]!
    const fixture = fixtures[decidedByHand.includes(kind) ? 'manual' : 'sandbox']
    const sideOf = ({ target }: Cell) => fixture.sides[target === "other's" ? 1 : 0]
    const paramsOf = async (cell: Cell): Promise<Params> => {
      if (kind === null) return {}
      if (cell.target === 'absent') return absent
      const name = `${kind} ${cell.target}`
      const found = shared.get(name) ?? (await fixture.make(kind, sideOf(cell)))
      shared.set(name, found)
      return found
    }
    const check = async (cell: Cell, params: Params) => {
      const { status, error } = await ask(fixture, row, cell, { params, side: sideOf(cell) })
      assert.is(status, cell.status, `${cell.target}, ${cell.column}: ${status} ${error ?? ''}`)
    }
    for (const cell of cells) await paramsOf(cell)
    const isUnsafe = !row.label.startsWith('GET')
    const before = isUnsafe ? await fixture.marketplace.contents() : null
    for (const cell of cells.filter(({ status }) => status >= 400)) await check(cell, await paramsOf(cell))
    if (before) assert.equal(await fixture.marketplace.contents(), before, 'what is refused changes nothing')
    for (const cell of cells.filter(({ status }) => status < 400)) {
      const isUsedUp = isUnsafe && kind !== null && kind !== 'test' && cell.target !== 'absent'
      await check(cell, isUsedUp ? await fixture.make(kind, sideOf(cell)) : await paramsOf(cell))
    }
  })
}

matrix.run()

/** One request, by whom and with what the column says. */
async function ask(fixture: Fixture, row: Row, { column }: Cell, about: Pick<Asking, 'params' | 'side'>) {
  const { marketplace, people } = fixture
  const isNamed = (name: string): name is Person => name in people
  const name = isNamed(column) ? column : row.by
  const isNobody = column === 'none' || column === 'bad key'
  const caller = isNobody ? null : people[name]
  const user = new HttpUser(marketplace.url, checkedFetch)
  const { credentials } = user.client
  if (caller && endsSession.test(row.label)) await user.client.login(caller)
  credentials.apiKey = caller?.key
  credentials.session ??= caller?.client.credentials.session
  if (column === 'bad key') credentials.apiKey = `svc_${'x'.repeat(40)}`

  const [, body] = questions[row.label]!
  const sent = typeof body === 'function' ? body({ ...about, caller, n: ++asked }) : body
  const [method, pattern] = endpointOf(row).split(' ') as [Method, string]
  const path = pattern.replaceAll(/:(\w+)/g, (_, param) => about.params[param]!) + (queries[row.label] ?? '')
  const text = sent && JSON.stringify(sent)
  const asOwner = ['session', 'key', 'no role', 'resting key'].includes(column)
  const signs = row.with === 'signature' && !asOwner && (name === 'builder' || name === 'other builder') && !isNobody
  const usesSession = ['session', 'no role'].includes(column) || (row.with === 'session' && column !== 'key')
  const by = column === 'none' || signs ? 'nobody' : usesSession && !/key$/.test(column) ? 'session' : 'key'
  const headers = signs ? signed(fixture, name, text ?? '') : {}
  return marked(fixture, caller, column, () => user.ask(method, path, text, by, headers))
}

function signed({ marketplace, sides }: Fixture, name: Person, text: string) {
  const { agent } = sides[name === 'builder' ? 0 : 1]
  return signatureHeaders(agent.secret, marketplace.world.realNow() + ++asked, text)
}

const marks: Readonly<Record<string, string>> = {
  suspended: 'suspended = 1',
  banned: 'banned = 1',
  'no role': 'is_builder = 0',
  'resting key': 'is_builder = 0',
}

/** While the account stands as the column says. */
async function marked<T>(
  { marketplace }: Fixture,
  caller: TestUser | null,
  column: string,
  act: () => Promise<T>,
): Promise<T> {
  const mark = marks[column]
  if (!mark || !caller) return act()
  const set = (what: string) =>
    marketplace.market.db.write(tx => tx.run(`UPDATE users SET ${what} WHERE id = $1`, [caller.id]))
  await set(mark)
  const result = await act()
  await set(mark.replace(/\d$/, digit => String(1 - Number(digit))))
  return result
}
