/** A marketplace in this process, on memory, behind real HTTP, with the people and the agents that a test needs. */
import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { TaskRecord, TestReport } from '../../src/api/records.ts'
import { signatureHeaders } from '../../src/api/signature.ts'
import { type Marketplace, openMarketplace } from '../../src/open/open.ts'
import type { OpenOptions } from '../../src/open/options.ts'
import { type Answer, HttpUser } from '../../src/sim/http-user.ts'
import { verbsAs } from '../../src/sim/verb-calls.ts'
import type { Reader } from '../../src/store/db.ts'
import { createVirtualWorld, recordingEgress, type VirtualWorld } from '../../src/world/virtual.ts'
import { AgentSink, answerFrom } from './agent-sink.ts'
import { checkedFetch } from './contract.ts'
import { engine, freshDatabase } from './databases.ts'
import { checkedLog } from './log-shapes.ts'

/** Somebody with an account, a session and a key. */
export class TestUser extends HttpUser {
  id = ''
  email = ''
  password = ''
}

export interface ListedAgent {
  id: string
  secret: string
  builder: TestUser
  /** What its webhook received, and what it answers. */
  sink: AgentSink
}

interface Balances {
  available: number
  held: number
  clearing: number
}

/** A marketplace in a virtual world: time passes only by `pass`, webhooks go to sinks in this process. */
export interface TestMarketplace extends Marketplace {
  world: VirtualWorld
  admin: TestUser
  /** Nobody in particular: no session, no key. */
  visitor: HttpUser
  /** An account with the builder role and a key. `funds` in cents, 1,000,000 at most. */
  join(name: string, funds?: number): Promise<TestUser>
  /** A webhook that records what it gets, answers 200, and passes connection tests. */
  sink(host?: string): AgentSink
  /** An agent that has passed its test, and waits for its review. */
  publish(builder: TestUser, fields?: object, sink?: AgentSink): Promise<ListedAgent>
  /** An agent that has passed its test and its review. */
  list(builder: TestUser, fields?: object, sink?: AgentSink): Promise<ListedAgent>
  /** Runs the connection test again, as after a day. */
  freshen(agent: ListedAgent): Promise<void>
  /** A draft of this buyer for this agent. */
  draft(buyer: TestUser, agent: ListedAgent, fields?: object): Promise<TaskRecord>
  /** The signed callback of an agent, about a task; each one with a timestamp, so a signature, of its own. */
  callback<Data = unknown>(agent: Pick<ListedAgent, 'secret'>, taskId: string, body: object): Promise<Answer<Data>>
  /** Lets domain time pass and does all that falls due. */
  pass(ms: number): Promise<void>
  /** No heartbeat falls due any more: freshness is left to what the test does. */
  stopHeartbeat(): Promise<unknown>
  /** Waits until every webhook that is due was tried. */
  webhooksSent(): Promise<void>
  balances(userId: string): Promise<Balances>
  /** Fails unless the books are in order. */
  checkLedger(): Promise<void>
  /** All that a refused request must leave as it was, as text, by table. */
  contents(): Promise<Record<string, string>>
}

const agentFields = {
  name: 'Test Writer',
  tagline: 'Writes what a test asks for',
  description: 'An agent in the same process, which records its webhooks and does what the test tells it to do.',
  pricingModel: 'fixed' as const,
  basePrice: 500,
  categoryIds: ['cat_writing'],
}

export const taskFields = {
  title: 'A task of a test',
  description: 'Something that a test would like to have done.',
  agreedPrice: 1_000,
}

export interface TestMarketplaceOptions extends Partial<OpenOptions> {
  /** Where both clocks begin. */
  startMs?: number
  /** What ids and secrets follow from: of its own where a database is opened again. */
  worldSeed?: string
}

/** Opens it with an administrator in it. Close it at the end. */
export async function openTestMarketplace({
  startMs,
  worldSeed,
  ...options
}: TestMarketplaceOptions = {}): Promise<TestMarketplace> {
  const sinks = new Map<string, AgentSink>()
  const world = createVirtualWorld({
    ...(startMs !== undefined && { startMs }),
    ...(worldSeed !== undefined && { seed: worldSeed }),
    egress: recordingEgress(request => answerFrom(sinks, request, world.realNow())),
  })
  const login = { email: 'admin@example.com', password: 'the admin of a test' }
  const onFatal = (error: Error) => {
    throw error
  }
  const database =
    engine === 'postgres' && options.file === undefined && !options.postgres
      ? await freshDatabase({ migrated: true })
      : null
  const lines = checkedLog(options.log)
  const marketplace = await openMarketplace({
    mode: 'dev',
    file: null,
    admin: login,
    onFatal,
    world,
    ...(database && { postgres: { url: database.url }, secretKey: randomBytes(32).toString('base64') }),
    ...options,
    log: lines.log,
  })
  const { url } = marketplace
  const { db } = marketplace.market
  const admin = await signInAdmin(url, login)
  let signatures = 0

  async function join(name: string, funds = 0): Promise<TestUser> {
    const user = new TestUser(url, checkedFetch)
    user.email = `${name}@example.com`
    user.password = `${name} of a test`
    const { email, password } = user
    const fields = { email, password, name, isBuilder: true }
    const { user: account } = await user.client.register(fields)
    user.id = account.id
    await makeKey(user)
    await admin.client.adminUpdateUser({ id: user.id, identityVerified: true })
    for (let rest = funds; rest > 0; rest -= 500_000) {
      await user.client.deposit({ amount: Math.min(rest, 500_000) })
    }
    return user
  }

  function sink(host = 'localhost'): AgentSink {
    const made = new AgentSink(`https://${host}/agents/${sinks.size + 1}`)
    sinks.set(made.url, made)
    return made
  }

  async function publish(builder: TestUser, fields: object = {}, mine = sink()): Promise<ListedAgent> {
    const input = { ...agentFields, webhookUrl: mine.url, ...fields }
    const { id } = await builder.client.createAgent(input)
    const { secret } = await builder.client.rotateSecret({ id })
    mine.secret = secret
    const agent = { id, secret, builder, sink: mine }
    await freshen(agent)
    await builder.client.publishAgent({ id })
    return agent
  }

  async function list(...given: Parameters<typeof publish>): Promise<ListedAgent> {
    const agent = await publish(...given)
    // As a simulator does it: its builder is told nothing.
    await verbsAs(marketplace.market, admin.id)('approveAgent', { id: agent.id })
    return agent
  }

  async function freshen({ builder, id }: ListedAgent): Promise<void> {
    const report = await builder.call<TestReport>('POST', `/api/my/agents/${id}/test-connection`, undefined, 'key')
    assert.is(report.status, 'passed', JSON.stringify(report))
  }

  return {
    ...marketplace,
    world,
    admin,
    visitor: new HttpUser(url, checkedFetch),
    join,
    sink,
    publish,
    list,
    freshen,
    draft: (buyer, { id: agentId }, fields = {}) =>
      buyer.call<TaskRecord>('POST', '/api/tasks', { ...taskFields, agentId, ...fields }, 'key'),
    callback(agent, taskId, body) {
      const text = JSON.stringify(body)
      const timestamp = world.realNow() - (signatures++ % 200_000)
      const headers = signatureHeaders(agent.secret, timestamp, text)
      return new HttpUser(url, checkedFetch).ask('POST', `/api/agent/tasks/${taskId}/callback`, text, 'nobody', headers)
    },
    async pass(ms) {
      world.advance(world.now() + ms)
      await marketplace.runDue()
    },
    stopHeartbeat: () => db.write(tx => tx.run('UPDATE jobs SET next_at = $1', [Number.MAX_SAFE_INTEGER])),
    async webhooksSent() {
      const sql = `SELECT COUNT(*) AS count FROM deliveries WHERE state = 'pending' AND next_at <= $1`
      const due = () => db.read(q => q.get<{ count: number }>(sql, [world.now()]))
      while ((await due())!.count > 0) await new Promise(resolve => setTimeout(resolve, 2))
    },
    async balances(userId) {
      const sums = { available: 0, held: 0, clearing: 0 }
      const sql = 'SELECT kind, balance FROM accounts WHERE user_id = $1 ORDER BY id'
      const rows = await db.read(q => q.all<{ kind: keyof Balances; balance: number }>(sql, [userId]))
      for (const { kind, balance } of rows) sums[kind] = balance
      return sums
    },
    async checkLedger() {
      const { ok, problems } = await admin.client.checkLedger()
      assert.ok(ok, problems.join('\n'))
    },
    contents: contentsOf(marketplace),
    async close(graceMs) {
      await marketplace.close(graceMs)
      await database?.drop()
      lines.check()
    },
  }
}

async function signInAdmin(url: string, login: { email: string; password: string }): Promise<TestUser> {
  const admin = Object.assign(new TestUser(url, checkedFetch), login)
  const { user } = await admin.client.login(login)
  admin.id = user.id
  await admin.client.updateMe({ isBuilder: true })
  await makeKey(admin)
  return admin
}

async function makeKey(user: TestUser): Promise<void> {
  const { key } = await user.client.createKey({ name: 'test' })
  user.key = key
}

// What a request leaves behind even when it is refused, and what the dispatcher writes in its own time.
const LEFT_OUT = /^(?:sessions|seen_signatures|idempotency_keys|rate_windows|guesses|api_key_uses|attempts|sqlite_.*)$/
const OF_DELIVERIES = 'id, agent_id, task_id, event, body, created_at'

const tableNames = {
  embedded: `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`,
  postgres: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name`,
}

/** The embedded engine counts what is written, also what is undone: nothing is read again that nobody can have changed. */
function contentsOf({ market }: Marketplace): () => Promise<Record<string, string>> {
  let known: { writes: number; contents: Record<string, string> } | undefined
  return () =>
    market.db.read(async q => {
      if (engine === 'postgres') return readContents(q)
      const { writes } = (await q.get<{ writes: number }>('SELECT total_changes() AS writes'))!
      if (known?.writes !== writes) known = { writes, contents: await readContents(q) }
      return known.contents
    })
}

async function readContents(q: Reader): Promise<Record<string, string>> {
  const tables = await q.all<{ name: string }>(tableNames[engine])
  const names = tables.map(({ name }) => name).filter(name => !LEFT_OUT.test(name))
  const contents = engine === 'postgres' ? await contentsInOne(q, names) : await contentsOneByOne(q, names)
  return Object.fromEntries(contents)
}

const allOf = (table: string) => `SELECT ${table === 'deliveries' ? OF_DELIVERIES : '*'} FROM ${table}`

async function contentsOneByOne(q: Reader, tables: readonly string[]): Promise<[string, string][]> {
  const contents: [string, string][] = []
  for (const table of tables) {
    const rows = await q.all<object>(allOf(table))
    const lines = rows.map(row => JSON.stringify(row))
    contents.push([table, lines.sort().join('\n')])
  }
  return contents
}

/** Each question to a server takes a while, and there are dozens of tables. */
async function contentsInOne(q: Reader, tables: readonly string[]): Promise<[string, string][]> {
  const line = 'row_to_json(one)::text'
  const lines = `COALESCE(string_agg(${line}, chr(10) ORDER BY ${line}), '')`
  const each = tables.map(table => `SELECT '${table}' AS name, ${lines} AS lines FROM (${allOf(table)}) AS one`)
  const rows = await q.all<{ name: string; lines: string }>(each.join(' UNION ALL '))
  return rows.map(({ name, lines }) => [name, lines])
}
