// engines: postgres; process: own; lengths: long
/** A database that is full: nothing new, everything that is open comes to its end, and every command works. Source: A-50. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { endpoints } from '../../src/api/endpoints/index.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { freshDatabase } from '../support/databases.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace, type TestUser } from '../support/marketplace.ts'
import { inFolder, run, start } from './program.ts'

const LIMIT = 5_000_000
const HOURS = 3_600_000
const WORDS =
  'abcd bcde cdef defg efgh fghi ghij hijk ijkl jklm klmn lmno mnop nopq opqr pqrs qrst rstu stuv tuvw uvwx vwxy wxyz xyza'
const FULL = /^The marketplace is full: what is open can be finished/

const warningsIn = (log: readonly LogEntry[]) =>
  log.flatMap(what => (what.type === 'warning' && /The database/.test(what.message) ? [what.message] : []))

/** Tasks in every state from which work goes on. */
const openTasks = async (marketplace: TestMarketplace, buyer: TestUser, agent: ListedAgent) => {
  const submitted = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    return id
  }
  const then = async (...actions: object[]) => {
    const id = await submitted()
    for (const action of actions) assert.is((await marketplace.callback(agent, id, action)).status, 200)
    return id
  }
  const revised = async (id: string) => {
    await buyer.call('POST', `/api/tasks/${id}/request-revision`, { reason: 'Shorter, please, by half of it.' })
    return id
  }
  const accept = { action: 'accept' }
  const deliver = { action: 'deliver', content: 'First words.' }
  return {
    toAccept: await submitted(),
    toReject: await submitted(),
    toCancel: await submitted(),
    toDeliver: await then(accept),
    toApprove: await then(accept, deliver),
    toRevise: await revised(await then(accept, deliver)),
    toDispute: await then(accept, deliver),
  }
}

/** A little at a time. No account could fill it: its share shrinks. */
const fill = async ({ db }: TestMarketplace['market']) => {
  for (let n = 0; !db.isFull; n++) {
    const values = [`filling ${n}`, 'x'.repeat(8_000)]
    await db.write(tx => tx.run('INSERT INTO settings (name, value) VALUES ($1, $2)', values))
  }
}

const oneMoreAgent = {
  name: 'One more',
  tagline: 'One more agent',
  description: 'An agent that comes when the marketplace is full, and is told so.',
  pricingModel: 'fixed',
  basePrice: 500,
  categoryIds: ['cat_writing'],
  webhookUrl: 'https://agents.example/hook',
}

/** A request of each endpoint that grows the database, by somebody who may send it. */
const growing = (by: { buyer: TestUser; builder: TestUser; admin: TestUser }, ids: { agent: string; task: string }) => {
  const account = { email: 'late@example.com', password: 'comes too late to it', name: 'Late' }
  const draft = {
    agentId: ids.agent,
    title: 'One more task',
    description: 'One more task for the agent.',
    agreedPrice: 500,
  }
  const sample = { title: 'Sample', output: 'What was done, at some length.' }
  const requests: Record<string, [user: TestUser, body?: object]> = {
    register: [by.builder, account],
    createAgent: [by.builder, oneMoreAgent],
    publishAgent: [by.builder],
    reactivateAgent: [by.builder],
    addSample: [by.builder, sample],
    createKey: [by.builder, { name: 'one more' }],
    createTask: [by.buyer, draft],
    updateTask: [by.buyer, { title: 'A longer title' }],
    submitTask: [by.buyer],
    requestRevision: [by.buyer, { reason: 'Longer, please, by half of it.' }],
    sendMessage: [by.buyer, { content: 'One more word' }],
    adminSendMessage: [by.admin, { content: 'One more word' }],
    redeliver: [by.builder],
    resendDeliveries: [by.builder, { failed: {} }],
    submitReview: [by.buyer, { rating: 5, comment: 'It did what it was asked to do.' }],
    deposit: [by.buyer, { amount: 1_000 }],
    createBudget: [by.buyer, { agentId: ids.agent, maxPerTask: 1_000, maxDaily: 2_000, maxMonthly: 5_000 }],
    createCategory: [by.admin, { name: 'More', slug: 'more', description: 'More of it' }],
  }
  return { requests, path: (path: string) => path.replace(':id', path.includes('tasks') ? ids.task : ids.agent) }
}

const refusesWhatGrows = async (by: Parameters<typeof growing>[0], ids: Parameters<typeof growing>[1]) => {
  const { requests, path } = growing(by, ids)
  for (const [name, record] of Object.entries(endpoints)) {
    if (!('grows' in record) || record.grows !== true) continue
    const [user, body] = requests[name]!
    const { status, error } = await user.ask(record.method, path(record.path), body)
    assert.is(status, 500, `${name}: ${error}`)
    assert.match(error!, FULL, name)
  }
}

test(
  'a full database refuses what grows it, brings all that is open to its end, and can be started, checked, saved and moved',
  inFolder(async folder => {
    const file = join(folder, 'market.db')
    const log: LogEntry[] = []
    const marketplace = await openTestMarketplace({ file, dbLimit: LIMIT, log: what => log.push(what) })
    const builder = await marketplace.join('builder')
    const buyer = await marketplace.join('buyer', 500_000)
    const agent = await marketplace.list(builder)
    const other = await marketplace.list(builder)
    const tasks = await openTasks(marketplace, buyer, agent)
    const key = { 'idempotency-key': 'first' }
    const first = {
      agentId: agent.id,
      title: 'Kept by key',
      description: 'A task that is kept under its key.',
      agreedPrice: 500,
    }
    const made = await buyer.ask<{ id: string }>('POST', '/api/tasks', first, 'key', key)
    const budget = { agentId: agent.id, maxPerTask: 1_000, maxDaily: 2_000, maxMonthly: 5_000 }
    const { id: budgetId } = await buyer.call<{ id: string }>('POST', '/api/budget-authorizations', budget)
    const { keyInfo } = await builder.call<{ keyInfo: { id: string } }>('POST', '/api/my/api-keys', { name: 'to go' })
    const sample = { title: 'Sample', output: 'What was done, at some length.' }
    const { id: sampleId } = await builder.call<{ id: string }>('POST', `/api/my/agents/${agent.id}/samples`, sample)
    await marketplace.webhooksSent()
    const before = await marketplace.balances(buyer.id)

    await fill(marketplace.market)
    await refusesWhatGrows({ buyer, builder, admin: marketplace.admin }, { agent: agent.id, task: made.data!.id })
    const spoken = await marketplace.callback(agent, tasks.toDeliver, { action: 'message', content: 'One more word' })
    assert.is(spoken.status, 500)
    assert.match(spoken.error!, FULL)
    const change = async (fields: object) =>
      (await builder.ask('PUT', `/api/my/agents/${agent.id}`, fields)).error ?? ''
    const { description } = await builder.call<{ description: string }>('GET', `/api/my/agents/${agent.id}`)
    assert.match(await change({ description: `${description} And more.` }), FULL)
    assert.match(await change({ tags: ['more'] }), FULL)
    assert.match(await change({ description: WORDS.slice(0, description.length) }), FULL, 'more words')
    // Only what is no longer than before finds room: nobody has a share of a marketplace that is full.
    const moved = `${agent.sink.url}?${'x'.repeat(description.length - 62)}`
    assert.is(await change({ description: description.slice(0, 60), webhookUrl: moved }), '')
    assert.is(await change({ webhookUrl: agent.sink.url, basePrice: 600 }), '')
    await marketplace.freshen(agent)
    const again = await buyer.ask<{ id: string }>('POST', '/api/tasks', first, 'key', key)
    assert.equal([again.status, again.data], [201, made.data], 'a repeat of what passed gets its answer')

    const said = async (id: string, body: object) =>
      assert.is((await marketplace.callback(agent, id, body)).status, 200)
    const accept = { action: 'accept' }
    const deliver = { action: 'deliver', content: 'The last words.' }
    for (const action of [accept, deliver]) await said(tasks.toAccept, action)
    await said(tasks.toReject, { action: 'reject', reason: 'There is no room for it' })
    await said(tasks.toDeliver, deliver)
    const task = (id: string, what: string, body?: object) => buyer.call('POST', `/api/tasks/${id}/${what}`, body)
    await said(tasks.toRevise, deliver)
    for (const id of [tasks.toAccept, tasks.toDeliver, tasks.toApprove, tasks.toRevise]) await task(id, 'approve')
    await task(tasks.toDispute, 'dispute', { reason: 'It is not what was asked for, nor like it' })
    await marketplace.admin.call('POST', `/api/admin/tasks/${tasks.toDispute}/resolve`, {
      outcome: 'refund',
    })
    await task(tasks.toCancel, 'cancel', {})
    await buyer.call('POST', `/api/budget-authorizations/${budgetId}/pause`)
    await buyer.call('DELETE', `/api/budget-authorizations/${budgetId}`)
    await builder.call('DELETE', `/api/my/api-keys/${keyInfo.id}`)
    await builder.call('DELETE', `/api/my/agents/${agent.id}/samples/${sampleId}`)
    await builder.call('POST', `/api/my/agents/${other.id}/deactivate`)
    await builder.call('POST', '/api/auth/logout')
    await builder.client.login({ email: builder.email, password: builder.password })
    await marketplace.webhooksSent()
    await marketplace.pass(49 * HOURS)

    const [paid, spent] = [await marketplace.balances(builder.id), await marketplace.balances(buyer.id)]
    assert.equal([paid.held, paid.clearing, spent.held], [0, 0, 0], 'nothing is open')
    // Seven tasks of 10.00 were held; four were approved, and the other three came back.
    assert.is(spent.available, before.available + before.held - 4_000)
    assert.ok(paid.available > 0)
    await builder.call('POST', '/api/wallet/connect')
    await builder.call('POST', '/api/wallet/withdraw', { amount: paid.available })
    await marketplace.checkLedger()
    const { bytes } = marketplace.market.db.fill!
    assert.ok(bytes > 0.95 * LIMIT, `${bytes} bytes`)
    const warnings = warningsIn(log)
    assert.equal(
      warnings.map(text => /database is full/.test(text) || Number(/\((\d)\d %\)/.exec(text)?.[1])),
      [7, 8, 9, true],
      'each step is told once',
    )
    const figures = await (await fetch(`${marketplace.url}/metrics`)).text()
    assert.match(figures, new RegExp(`marketplace_database_limit_bytes ${LIMIT}\n`))
    assert.ok(Number(/marketplace_database_bytes (\d+)/.exec(figures)![1]) > 0.95 * LIMIT)
    assert.is((await fetch(`${marketplace.url}/readyz`)).status, 200)
    await marketplace.close()

    await everyCommandWorks(folder, file, buyer.key!)
  }),
)

const everyCommandWorks = async (folder: string, file: string, key: string) => {
  const done = async (...args: string[]) => {
    const { code, err } = await run(args, folder)
    assert.is(code, 0, `${args.join(' ')}: ${err}`)
  }
  await done('db', 'check', file)
  await done('db', 'backup', file, `${file}.copy`)
  await done('db', 'check', `${file}.copy`)
  await done('db', 'snapshot', file)
  const asked = async (args: readonly string[], env = {}) => {
    const { child, ended, firstLine } = start(['serve', ...args, '--port', '0', '--json'], folder, env)
    const { url } = JSON.parse(await firstLine)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/api/my/agents`, { method: 'POST', headers, body: JSON.stringify(oneMoreAgent) })
    child.kill('SIGTERM')
    assert.is((await ended).code, 0)
    return [answer.status, ((await answer.json()) as { error?: string }).error ?? ''] as const
  }
  const [status, error] = await asked(['--db', file], { MARKETPLACE_DB_LIMIT: '4MB' })
  assert.is(status, 500)
  assert.match(error, FULL)
  assert.is((await asked(['--db', file, '--db-limit', '9MB']))[0], 201)
  const { url, drop } = await freshDatabase()
  await done('db', 'copy', '--from', file, '--to', url)
  const secretKey = readFileSync(`${file}.key`, 'utf8').trim()
  const env = { MARKETPLACE_SECRET_KEY: secretKey }
  const moved = await asked(['--db', url], env)
  assert.is(moved[0], 201, `a server has room: ${moved[1]}`)
  assert.match((await asked(['--db', url], { ...env, MARKETPLACE_DB_LIMIT: '1MB' }))[1], FULL)
  await drop()
}

test.run()
