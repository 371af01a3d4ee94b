// engines: embedded, postgres and narrow at length; process: shared
/** Agents in the marketplace, and the connection test against a real agent behind real TLS. */

import { randomBytes } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultKeeping } from '../../../src/api/limits.ts'
import { signatureHeaders, verify } from '../../../src/api/signature.ts'
import { agentVerbs } from '../../../src/market/agents/agents.ts'
import { categoryVerbs } from '../../../src/market/agents/categories.ts'
import { indexAgent } from '../../../src/market/agents/search-words.ts'
import { agentStateVerbs } from '../../../src/market/agents/states.ts'
import { freshness, isPublic } from '../../../src/market/agents/visibility.ts'
import { checkVerbs } from '../../../src/market/checks/connection-test.ts'
import { type Actor, createMarket, type Market } from '../../../src/market/market.ts'
import { seal, unseal } from '../../../src/market/sealing.ts'
import { callbackSecrets, makeSecret } from '../../../src/market/webhooks/secrets.ts'
import { createFrontAuthority, startFront } from '../../../src/sim/agents/https-front.ts'
import type { Tx } from '../../../src/store/db.ts'
import { insertUser, userById } from '../../../src/store/tables/accounts/users.ts'
import { agentById, agents, updateAgentRow } from '../../../src/store/tables/agents/agents.ts'
import { createWorld } from '../../../src/world/real.ts'
import { countStatements } from '../../support/counted-db.ts'
import { openDatabase } from '../../support/databases.ts'
import { noFiles } from '../../support/no-files.ts'
import { plainTx } from '../../support/plain-tx.ts'
import { refused } from '../../support/refused.ts'

const authority = createFrontAuthority()
const hour = 3_600_000

async function start() {
  const world = createWorld({ allowLoopback: true, requireHttps: true, ca: authority.ca })
  const db = await openDatabase(world.now)
  const keeping = { ...defaultKeeping, agents: 10_000 }
  const config = { baseUrl: 'http://127.0.0.1:1', secretKey: randomBytes(32), keeping } as Market['config']
  const logged: string[] = []
  const market = createMarket({
    db,
    files: noFiles,
    world,
    config,
    log: line => line.type === 'check' && logged.push(line.name),
  })
  const [ann, bob] = [await account(market, 'ann'), await account(market, 'bob')]
  return { market, ann, bob, logged }
}

async function account({ db, world }: Market, name: string): Promise<Actor> {
  const id = world.id('usr')
  const row = { id, email: `${name}@x.example`, name, passwordHash: '', isBuilder: 1, isAdmin: 0 } as const
  await db.write(tx => insertUser(tx, { ...row, createdAt: world.now() }))
  const user = await db.read(q => userById(q, id))
  return { user: user!, via: 'key', credential: 'key_1' }
}

const verbs = { ...agentVerbs, ...agentStateVerbs, ...categoryVerbs }
// biome-ignore lint/suspicious/noExplicitAny: one caller for verbs of every type
type AnyVerb = (ctx: any, input: any) => Promise<any>
const call = ({ db, ...market }: Market, verb: AnyVerb, actor: Actor | null, input: object = {}) =>
  db.write(tx =>
    verb({ ...market, db, tx: plainTx(tx), actor }, { params: {}, query: { page: 1, limit: 20 }, body: {}, ...input }),
  )
const own = (market: Market, verb: AnyVerb, actor: Actor | null, input: object) => verb({ ...market, actor }, input)

const fields = {
  name: 'Résumé Writer',
  tagline: 'Writes résumés quickly',
  description: 'Takes your notes and turns them into a crisp page that people like to read.',
  pricingModel: 'fixed',
  basePrice: 500,
  categoryIds: ['cat_writing', 'cat_code'],
}
const create = (market: Market, actor: Actor, more: object = {}) =>
  call(market, verbs.createAgent, actor, { body: { ...fields, ...more } })
const patch = (market: Market, id: string, values: object) =>
  market.db.write(async tx => {
    await updateAgentRow(tx, id, values)
    await indexAgent(tx, (await agentById(tx, id))!)
  })
const list = (market: Market, query: object = {}) =>
  call(market, verbs.listAgents, null, { query: { page: 1, limit: 20, ...query } })
test('however many agents have a name, the slug of the next one takes a few questions', async () => {
  const { market, ann } = await start()
  const { id } = await create(market, ann)
  const count = 3_000
  await market.db.write(async tx => {
    const columns = Object.keys(agents.columns).map(name =>
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
    )
    const copied = columns.map(name => (name === 'id' || name === 'slug' ? `${name} || '-' || n.i` : name))
    await tx.run(
      `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
       INSERT INTO agents (${columns.join(', ')}) SELECT ${copied.join(', ')} FROM agents CROSS JOIN n WHERE id = $1`,
      [id, count],
    )
  })
  let questions = 0
  const counted = (tx: Tx): Tx => ({
    ...plainTx(tx),
    get: (sql, values) => {
      questions++
      return tx.get(sql, values)
    },
  })
  const body = { ...fields, turnaroundHours: 24 }
  const made = await market.db.write(tx =>
    (verbs.createAgent as AnyVerb)({ ...market, tx: counted(tx), actor: ann }, { body }),
  )
  assert.is(made.slug, `resume-writer-${count + 1}`)
  assert.ok(questions < 50, `${questions} questions`)
})

test('create, slug, edit, access', async () => {
  const { market, ann, bob } = await start()
  const first = await create(market, ann)
  assert.is(first.slug, 'resume-writer')
  assert.is((await create(market, bob)).slug, 'resume-writer-2')
  assert.match((await create(market, bob, { name: '书写' })).slug, /^agent-[0-9a-f]{6}$/)
  assert.equal([first.status, first.turnaroundHours, first.maxRevisions, first.tags], ['draft', 24, null, []])
  assert.equal(first.categoryIds, fields.categoryIds)
  const fault = await refused(create(market, ann, { categoryIds: ['cat_none'] }), 'validation_failed')
  assert.equal(Object.keys(fault.errors!), ['categoryIds'])

  const params = { id: first.id }
  const body = { tags: ['a'], categoryIds: ['cat_data'], avatarUrl: 'https://x.example/a.png', name: undefined }
  const edited = await call(market, verbs.updateAgent, ann, { params, body })
  assert.equal([edited.name, edited.tags, edited.categoryIds], [fields.name, ['a'], ['cat_data']])
  await refused(call(market, verbs.updateAgent, bob, { params, body }), 'not_yours')
  await refused(call(market, verbs.getMyAgent, bob, { params }), 'not_yours')
  await refused(call(market, verbs.getMyAgent, ann, { params: { id: 'agt_none' } }), 'not_found')
  await refused(call(market, verbs.getAgent, bob, { params }), 'not_found')
  assert.is((await call(market, verbs.getAgent, ann, { params: { id: first.slug } })).visible, false)
  assert.is((await call(market, verbs.listMyAgents, ann)).total, 1)
  await market.db.close()
})

test('publish, review, list, search, sort, hide', async () => {
  const { market, ann, bob } = await start()
  const { id } = await create(market, ann, { webhookUrl: 'https://x.example/hook' })
  const params = { id }
  await refused(call(market, verbs.publishAgent, ann, { params }), 'test_needed')
  await patch(market, id, { lastPassAt: market.world.now() })
  assert.is((await call(market, verbs.publishAgent, ann, { params })).status, 'pending_review')
  await refused(call(market, verbs.publishAgent, ann, { params }), 'agent_out_of_turn')
  const rejected = await call(market, verbs.rejectAgent, bob, { params, body: { reason: 'thin' } })
  assert.equal([rejected.status, rejected.reviewReason], ['draft', 'thin'])
  await call(market, verbs.publishAgent, ann, { params })
  assert.is(
    (await call(market, verbs.adminListAgents, bob, { query: { status: 'pending_review', page: 1, limit: 9 } })).total,
    1,
  )
  assert.is((await call(market, verbs.approveAgent, bob, { params })).visible, true)

  const other = await create(market, bob, { name: 'Zebra Ｃｏｄｅｒ', basePrice: 200 })
  await patch(market, other.id, { status: 'active', lastPassAt: market.world.now(), completedTasks: 3 })
  const ids = async (query: object) => (await list(market, query)).items.map((item: { id: string }) => item.id)
  assert.equal(await ids({}), [other.id, id])
  assert.equal(await ids({ sort: 'price_desc' }), [id, other.id])
  assert.equal(await ids({ sort: 'price_asc', page: 2, limit: 1 }), [id])
  assert.equal(await list(market, { page: 9 }), { items: [], total: 2 })
  assert.equal(await ids({ q: 'CODER zeb' }), [other.id])
  assert.equal(await ids({ q: 'RÉSUM cris' }), [id])
  assert.equal(await ids({ q: 'umé' }), [])
  assert.equal((await ids({ category: 'WRITING' })).length, 2)
  assert.equal(await ids({ category: 'nothing' }), [])
  const [item] = (await list(market)).items
  assert.not('webhookUrl' in item)
  const counts = await call(market, verbs.listCategories, null)
  assert.is(counts.find((row: { id: string }) => row.id === 'cat_code').activeAgentCount, 2)

  const same = { params, body: { webhookUrl: 'https://x.example/hook' } }
  assert.is((await call(market, verbs.updateAgent, ann, same)).visible, true)
  const changed = { params, body: { webhookUrl: 'https://x.example/other' } }
  assert.is((await call(market, verbs.updateAgent, ann, changed)).lastCheckPassedAt, null)
  assert.equal(await ids({}), [other.id])
  market.world.advance(market.world.now() + 24 * hour + 1_000)
  assert.equal(await ids({}), [])
  await market.db.close()
})

test('the words of an agent are written anew if its name or its description is another, and not otherwise', async () => {
  const { market, ann } = await start()
  const { id } = await create(market, ann)
  const statements = countStatements(market.db)
  const written = async (body: object) => {
    statements.count(/./)
    await call(market, verbs.updateAgent, ann, { params: { id }, body })
    return statements.count(/^DELETE FROM agent_terms/)
  }
  const { name, description } = fields
  assert.is(await written({ basePrice: 700, name, description }), 0)
  assert.is(await written({ name: 'Another name' }), 1)
  assert.is(await written({ description: `${description} And they paint.` }), 1)
  await market.db.close()
})

test('visibility at its edges', () => {
  const agent = { status: 'verified', lastPassAt: 100 * hour, failedAt: null, deletedAt: null } as const
  const fine = { suspended: 0, banned: 0 } as const
  assert.is(freshness(agent, 120 * hour - 1), 'green')
  assert.is(freshness(agent, 120 * hour), 'amber')
  assert.is(freshness(agent, 124 * hour), 'amber')
  assert.is(freshness(agent, 124 * hour + 1), 'red')
  assert.ok(isPublic(agent, fine, 124 * hour))
  assert.not(isPublic(agent, fine, 124 * hour + 1))
  assert.not(isPublic({ ...agent, failedAt: 101 * hour }, fine, 102 * hour))
  assert.ok(isPublic({ ...agent, failedAt: 99 * hour }, fine, 102 * hour))
  assert.not(isPublic(agent, { suspended: 1, banned: 0 }, 102 * hour))
})

test('secrets: sealed for one agent, an old one for its grace', async () => {
  const { market, ann } = await start()
  const { world, config } = market
  const sealed = seal(world, config, 'agt_1', 'whsec_x')
  assert.is(unseal(config, 'agt_1', sealed), 'whsec_x')
  assert.throws(() => unseal(config, 'agt_2', sealed))
  assert.throws(() => unseal({ secretKey: randomBytes(32) }, 'agt_1', sealed), /another key/)
  const { id } = await create(market, ann)
  const rotate = (body: object) => call(market, verbs.rotateSecret, ann, { params: { id }, body })
  const one = (await rotate({})).secret
  const two = (await rotate({ graceHours: 2 })).secret
  const row = (await market.db.read(q => agentById(q, id)))!
  assert.equal(callbackSecrets(config, row, world.now()), [two, one])
  assert.equal(callbackSecrets(config, row, row.oldSecretUntil!), [two])
  await market.db.close()
})

interface Hook {
  status?: number
  /** What signs the callback; none is sent without it. */
  callback?: 'good' | 'bad'
}

/** A real agent that checks what it gets and calls back before it answers. */
async function withAgent(
  hook: Hook,
  work: (setting: Awaited<ReturnType<typeof start>> & { id: string }) => Promise<void>,
) {
  const setting = await start()
  const { market, ann } = setting
  const secret = makeSecret(market.world)
  const server = http.createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray())
    const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = req.headers
    const verdict = verify({ secret, timestamp, signature, body, now: Date.now() })
    const { data } = JSON.parse(body.toString())
    const raw = Buffer.from('{"action":"accept"}')
    const [at, mac] = Object.values(signatureHeaders(hook.callback === 'good' ? secret : 'whsec_no', Date.now(), raw))
    const input = {
      params: { id: data.callbackUrl.split('/').at(-2) },
      signed: { raw, rawHeaders: [], timestamp: at, signature: mac, sender: {} },
    }
    if (hook.callback) await own(market, checkVerbs.testCallback, null, input).catch(() => {})
    res.writeHead(verdict.ok && data.test === true ? (hook.status ?? 200) : 401).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const front = await startFront({ authority })
  const webhookUrl = front.route('localhost', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const { id } = await create(market, ann, { webhookUrl })
  await patch(market, id, { secret: seal(market.world, market.config, id, secret) })
  try {
    await work({ ...setting, id })
  } finally {
    await market.world.egress.close()
    await front.close()
    server.close()
    await market.db.close()
  }
}

const statuses = (report: { checks: { status: string }[] }) => report.checks.map(check => check.status)

test('the five checks pass; a second test waits; the pass is noted', () =>
  withAgent({ callback: 'good' }, async ({ market, ann, bob, id, logged }) => {
    await refused(own(market, checkVerbs.testConnection, bob, { params: { id } }), 'not_yours')
    const both = await Promise.allSettled(
      [1, 2].map(() => own(market, checkVerbs.testConnection, ann, { params: { id } })),
    )
    const report = both.find(end => end.status === 'fulfilled')!.value
    assert.is(both.find(end => end.status === 'rejected')!.reason.code, 'test_running')
    assert.equal(statuses(report), Array(5).fill('passed'), JSON.stringify(report))
    assert.is(logged.length, 5)
    const row = (await market.db.read(q => agentById(q, id)))!
    assert.equal([row.lastPassAt, row.testedAt], Array(2).fill(Date.parse(report.testedAt)))
    const signed = { raw: Buffer.alloc(0), rawHeaders: [], timestamp: '1', signature: 'x', sender: {} }
    await refused(own(market, checkVerbs.testCallback, null, { params: { id: 'test_0' }, signed }), 'bad_signature')
  }))

test('a failed test keeps the pass and notes the time', () =>
  withAgent({ callback: 'bad' }, async ({ market, ann, id }) => {
    await patch(market, id, { lastPassAt: 5 })
    const report = await own(market, checkVerbs.testConnection, ann, { params: { id } })
    assert.equal(statuses(report), ['passed', 'passed', 'passed', 'passed', 'failed'])
    const row = (await market.db.read(q => agentById(q, id)))!
    assert.equal([row.lastPassAt, row.testedAt], [5, Date.parse(report.testedAt)])
  }))

test('204 is not 200, and the rest is skipped', () =>
  withAgent({ status: 204, callback: 'good' }, async ({ market, ann, id }) => {
    const report = await own(market, checkVerbs.testConnection, ann, { params: { id } })
    assert.equal(statuses(report), ['passed', 'passed', 'passed', 'failed', 'skipped'])
  }))

test.run()
