// engines: postgres; process: shared
/**
 * Two connections to Postgres at the same moment, one of which holds a row: whoever comes second waits, and judges what it
 * then finds. The embedded engine writes one at a time.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import type { TaskRecord } from '../../src/api/records.ts'
import { signatureHeaders } from '../../src/api/signature.ts'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { freshDatabase } from '../support/databases.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace, type TestUser } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'

interface State {
  marketplace: TestMarketplace
  buyer: TestUser
  agent: ListedAgent
  /** Another connection, as another instance has. */
  other: pg.Client
  drop(): Promise<void>
}

const held = suite<State>('held rows')

held.before.each(async state => {
  const { url, drop } = await freshDatabase({ migrated: true })
  const marketplace = await openTestMarketplace({ postgres: { url }, secretKey: randomBytes(32).toString('base64') })
  const agent = await marketplace.list(await marketplace.join('builder'))
  const buyer = await marketplace.join('buyer', 10_000)
  const other = new pg.Client(url)
  await other.connect()
  Object.assign(state, { marketplace, agent, buyer, other, drop })
})

held.after.each(async ({ marketplace, other, drop }) => {
  await other.end()
  await marketplace.close()
  await drop()
})

const WAITING = `SELECT COUNT(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`

/** The answer of `request`, which begins while `sql` is done and not committed, and must wait for that. */
async function whileHeld<T>({ other }: State, sql: string, values: unknown[], request: () => Promise<T>): Promise<T> {
  await other.query('BEGIN')
  await other.query(sql, values)
  let isOver = false
  const answer = request().finally(() => {
    isOver = true
  })
  let isWaiting = false
  await until('one that waits for the row', async () => {
    const { rows } = await other.query(WAITING)
    isWaiting = rows[0].count > 0
    return isWaiting || isOver
  })
  await other.query('COMMIT')
  const result = await answer
  assert.ok(isWaiting, 'it did not wait for the row that another holds')
  return result
}

async function submitted({ marketplace, buyer, agent }: State): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  return id
}

async function completed(state: State): Promise<string> {
  const id = await submitted(state)
  const { builder } = state.agent
  await builder.client.acceptTask({ id })
  await builder.client.deliverTask({ id, content: 'Done' })
  await state.buyer.client.approveTask({ id })
  return id
}

held('a payment does not clear while a dispute about it is on its way into the database', async state => {
  const { marketplace, agent, other } = state
  const id = await completed(state)
  await marketplace.stopHeartbeat()
  const dispute = `WITH held AS (UPDATE tasks SET disputed = 1 WHERE id = $1 RETURNING id)
    INSERT INTO disputes (task_id, status, reason, opened_at, opened_from, opened_by)
    SELECT id, 'open', 'Not what was asked for', 1, 'completed', 'somebody' FROM held`
  await whileHeld(state, dispute, [id], () => marketplace.pass(durations.clearingMs))
  const { rows } = await other.query('SELECT status FROM settlements WHERE task_id = $1', [id])
  assert.equal(rows, [{ status: 'clearing' }])
  assert.equal(await marketplace.balances(agent.builder.id), { available: 0, held: 0, clearing: 1_000 })
})

held('a sign-in beside a change of the password begins no session', async state => {
  const { buyer, other } = state
  const change = `UPDATE users SET password_hash = 'another' WHERE id = $1`
  const login = { email: buyer.email, password: buyer.password }
  const { status } = await whileHeld(state, change, [buyer.id], () =>
    buyer.ask('POST', '/api/auth/login', login, 'nobody'),
  )
  assert.is(status, 401)
  const { rows } = await other.query('SELECT COUNT(*)::int AS count FROM sessions WHERE user_id = $1', [buyer.id])
  assert.equal(rows, [{ count: 1 }])
})

held('a second factor is not confirmed beside a sign-in that asks for none', async state => {
  const { marketplace, buyer, other } = state
  const { secret } = await buyer.client.beginTotp({ password: buyer.password })
  const code = totpCode(secret, marketplace.world.realNow())
  const signIn = `WITH held AS (SELECT id FROM users WHERE id = $1 FOR UPDATE)
    INSERT INTO sessions (id, token_hash, user_id, created_at, seen_at) SELECT 'ses_x', 'x', id, 1, 1 FROM held
    WHERE NOT EXISTS (SELECT 1 FROM second_factors WHERE user_id = $1 AND enabled_at IS NOT NULL)`
  await whileHeld(state, signIn, [buyer.id], () => buyer.client.confirmTotp({ code }))
  const { rows } = await other.query('SELECT id FROM sessions WHERE user_id = $1', [buyer.id])
  assert.is(rows.length, 1, 'that of whoever confirmed it')
})

held('what is held at a submission is the price as it is when its change has committed', async state => {
  const { marketplace, buyer, agent } = state
  const { id } = await marketplace.draft(buyer, agent)
  const change = 'UPDATE tasks SET agreed_price = 3000 WHERE id = $1'
  const task = await whileHeld(state, change, [id], () => buyer.call<TaskRecord>('POST', `/api/tasks/${id}/submit`))
  assert.is(task.agreedPrice, 3_000)
  assert.equal(await marketplace.balances(buyer.id), { available: 7_000, held: 3_000, clearing: 0 })
})

held('a change of a draft waits for its submission, and is told that it is out of turn', async state => {
  const { marketplace, buyer, agent } = state
  const { id } = await marketplace.draft(buyer, agent)
  const submit = `UPDATE tasks SET status = 'pending' WHERE id = $1`
  const answer = await whileHeld(state, submit, [id], () =>
    buyer.ask('PUT', `/api/tasks/${id}`, { agreedPrice: 9_000 }, 'key'),
  )
  assert.is(answer.status, 400)
  assert.match(answer.error!, /pending/)
})

held('a signed callback waits for whoever changes its task, and is told what it found then', async state => {
  const { marketplace, agent } = state
  const id = await submitted(state)
  const cancel = `UPDATE tasks SET status = 'cancelled' WHERE id = $1`
  const answer = await whileHeld(state, cancel, [id], () => marketplace.callback(agent, id, { action: 'accept' }))
  assert.is(answer.status, 400)
  assert.match(answer.error!, /cancelled/)
})

held(
  'an agent that accepts by key, and an administrator who resolves, wait for whoever changes the task',
  async state => {
    const { marketplace, agent } = state
    const id = await submitted(state)
    const cancel = `UPDATE tasks SET status = 'cancelled' WHERE id = $1`
    const accepted = await whileHeld(state, cancel, [id], () =>
      agent.builder.ask('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key'),
    )
    assert.is(accepted.status, 400)
    assert.match(accepted.error!, /cancelled/)
    const other = await completed(state)
    const end = `UPDATE tasks SET status = 'cancelled' WHERE id = $1`
    const resolved = await whileHeld(state, end, [other], () =>
      marketplace.admin.ask('POST', `/api/admin/tasks/${other}/resolve`, { outcome: 'refund' }, 'session'),
    )
    assert.is(resolved.status, 400)
  },
)

held('a submission waits for the deletion of its agent, which then is not for hire', async state => {
  const { marketplace, buyer, agent } = state
  const { id } = await marketplace.draft(buyer, agent)
  const deletion = `WITH held AS (SELECT id FROM agents WHERE id = $1 FOR UPDATE)
    UPDATE agents SET status = 'inactive' WHERE id IN (SELECT id FROM held)`
  const answer = await whileHeld(state, deletion, [agent.id], () => buyer.ask('POST', `/api/tasks/${id}/submit`))
  assert.is(answer.status, 400)
  assert.equal(await marketplace.balances(buyer.id), { available: 10_000, held: 0, clearing: 0 })
})

held('two submissions by one budget wait for each other, and its cap counts both', async state => {
  const { marketplace, buyer, agent } = state
  const mine = await marketplace.join('hirer')
  const buying = await marketplace.list(mine, { name: 'One that buys' })
  const caps = { maxPerTask: 1_000, maxDaily: 1_500, maxMonthly: 9_000 }
  const budget = await buyer.client.createBudget({ agentId: buying.id, ...caps })
  const draft = await marketplace.draft(mine, agent, { budgetAuthorizationId: budget.id })
  const lower = 'UPDATE budget_authorizations SET max_per_task = 500 WHERE id = $1'
  const answer = await whileHeld(state, lower, [budget.id], () => mine.ask('POST', `/api/tasks/${draft.id}/submit`))
  assert.is(answer.status, 400)
  assert.equal(await marketplace.balances(buyer.id), { available: 10_000, held: 0, clearing: 0 })
})

held('a signature that another task has just used up is refused, and not a failure of ours', async state => {
  const { marketplace, agent, other } = state
  const [one, two] = [await submitted(state), await submitted(state)]
  const body = JSON.stringify({ action: 'accept' })
  const headers = signatureHeaders(agent.secret, marketplace.world.realNow(), body)
  const used = `INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ($1, $2, 200, '{}', $3)`
  const signature = headers['X-Service-Signature']
  const send = () => marketplace.visitor.ask('POST', `/api/agent/tasks/${two}/callback`, body, 'nobody', headers)
  const answer = await whileHeld(state, used, [signature, one, marketplace.world.realNow()], send)
  assert.is(answer.status, 401)
  const { rows } = await other.query('SELECT status FROM tasks WHERE id = $1', [two])
  assert.equal(rows, [{ status: 'pending' }])
})

held.run()
