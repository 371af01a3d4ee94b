// engines: embedded, postgres at length; process: shared
/** The heartbeat over the wire: when it runs, whom it tests, what its result does, and what a long pause brings. */
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { heartbeat } from '../../../src/api/limits.ts'
import type { AgentRecord, NotificationRecord, OwnAgentRecord, TestReport } from '../../../src/api/records.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { StoreError } from '../../../src/store/db.ts'
import { openSqlite } from '../../../src/store/embedded/database.ts'
import { answered } from '../../../src/world/virtual.ts'
import { inFolder, unexpected } from '../../store/folder.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'

const hour = 3_600_000
const own = ({ builder, id }: ListedAgent) => builder.call<OwnAgentRecord>('GET', `/api/my/agents/${id}`)
const isPublic = async (marketplace: TestMarketplace, { id }: ListedAgent) =>
  (await marketplace.visitor.ask('GET', `/api/agents/${id}`)).status === 200
const news = async ({ builder }: ListedAgent) =>
  (await builder.call<{ items: NotificationRecord[] }>('GET', '/api/notifications')).items

/** Listed agents that were tested one after the other, a second apart. */
async function listMany(marketplace: TestMarketplace, count: number): Promise<ListedAgent[]> {
  const builder = await marketplace.join('builder')
  const agents: ListedAgent[] = []
  for (let i = 0; i < count; i++) {
    await marketplace.pass(1_000)
    agents.push(await marketplace.list(builder))
  }
  for (const agent of agents) agent.sink.tests = 0
  return agents
}

const testsOf = (agents: readonly ListedAgent[]) => agents.map(({ sink }) => sink.tests).join('')

test('the heartbeat runs at every fourth full hour of domain time, and a pass counts from then', async () => {
  const marketplace = await openTestMarketplace()
  const [agent] = (await listMany(marketplace, 1)) as [ListedAgent]
  const at = (ms: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + ms).toISOString()
  await marketplace.pass(4 * hour - 1_001)
  assert.is(agent.sink.tests, 0)
  await marketplace.pass(1)
  assert.equal([agent.sink.tests, (await own(agent)).lastCheckPassedAt], [1, at(4 * hour)])
  await marketplace.pass(4 * hour - 1)
  assert.is(agent.sink.tests, 1)
  await marketplace.pass(1)
  assert.equal([agent.sink.tests, (await own(agent)).lastCheckPassedAt], [2, at(8 * hour)])
  await marketplace.pass(30 * 24 * hour)
  assert.is(agent.sink.tests, 3)
  assert.ok(await isPublic(marketplace, agent))
  await marketplace.close()
})

test('a run tests 20 agents at most, 5 at a time, the least recently tested first', async () => {
  const marketplace = await openTestMarketplace()
  const agents = await listMany(marketplace, 23)
  let [now, most] = [0, 0]
  const answer = async () => {
    most = Math.max(most, ++now)
    await until('five at a time', () => most >= 5)
    await wait(10)
    now--
    return answered(200)
  }
  await marketplace.freshen(agents[0]!)
  agents[0]!.sink.tests = 0
  for (const { sink } of agents) sink.answer = answer
  await marketplace.pass(4 * hour)
  // The first was tested again last, so it waits with the two others that were tested last.
  assert.is(testsOf(agents), `0${'1'.repeat(20)}00`)
  assert.is(most, 5)
  await marketplace.pass(4 * hour)
  assert.is(testsOf(agents), `1${'2'.repeat(17)}11111`)
  await marketplace.close()
})

test('a clock that is moved over several runs does all of them, and tests nobody twice', async () => {
  const marketplace = await openTestMarketplace({ heartbeatBatch: 3 })
  const agents = await listMany(marketplace, 8)
  await marketplace.pass(8 * hour)
  assert.is(testsOf(agents), '11111100')
  await marketplace.pass(12 * hour)
  assert.is(testsOf(agents), '22222211')
  await marketplace.pass(365 * 24 * hour)
  assert.is(testsOf(agents), '33333322')
  await marketplace.close()
})

test('a failed heartbeat hides the agent and tells its builder; a later one that passes shows it again', async () => {
  const marketplace = await openTestMarketplace()
  const [agent, other] = (await listMany(marketplace, 2)) as [ListedAgent, ListedAgent]
  agent.sink.status = 500
  await marketplace.pass(4 * hour)
  assert.equal([await isPublic(marketplace, agent), await isPublic(marketplace, other)], [false, true])
  const { visible, hiddenReason, freshness } = await own(agent)
  const why = 'The webhook is unproven: the last heartbeat failed'
  assert.equal([visible, hiddenReason, freshness], [false, why, 'green'])
  const told = await news(agent)
  assert.is(told.length, 1)
  const { id, data, message, ...rest } = told[0]!
  const createdAt = '2026-01-01T04:00:02.000Z'
  assert.equal(rest, { type: 'webhook_health_failed', agentId: agent.id, createdAt, readAt: null })
  assert.match(message, /The endpoint answered 500; exactly 200 is needed$/)
  assert.match(id, /^ntf_/)
  const { checks } = data as Pick<TestReport, 'checks'>
  assert.equal(
    checks.map(({ status }) => status),
    ['passed', 'passed', 'passed', 'failed', 'skipped'],
  )
  await marketplace.pass(4 * hour)
  assert.is((await news(agent)).length, 2)
  agent.sink.status = 200
  await marketplace.pass(4 * hour)
  assert.ok(await isPublic(marketplace, agent))
  assert.is((await news(agent)).length, 2)
  await marketplace.close()
})

test('after a failed heartbeat a manual test that passes shows the agent; one that fails never hides it', async () => {
  const marketplace = await openTestMarketplace()
  const [agent] = (await listMany(marketplace, 1)) as [ListedAgent]
  const manual = () => agent.builder.call<TestReport>('POST', `/api/my/agents/${agent.id}/test-connection`)
  agent.sink.status = 503
  await marketplace.pass(4 * hour)
  assert.is((await manual()).passed, false)
  assert.is(await isPublic(marketplace, agent), false)
  agent.sink.status = 200
  await marketplace.pass(1)
  assert.is((await manual()).passed, true)
  assert.ok(await isPublic(marketplace, agent))
  agent.sink.status = 503
  await marketplace.pass(1)
  assert.is((await manual()).passed, false)
  assert.ok(await isPublic(marketplace, agent))
  assert.is((await news(agent)).length, 1)
  await marketplace.close()
})

test('pending agents are tested as well; drafts, deactivated and deleted ones never', async () => {
  const marketplace = await openTestMarketplace()
  const agents = await listMany(marketplace, 4)
  const [listed, draft, inactive, deleted] = agents as [ListedAgent, ListedAgent, ListedAgent, ListedAgent]
  const { builder } = listed
  const pending = { ...listed, sink: marketplace.sink() }
  const fields = await own(listed)
  pending.id = (
    await builder.call<AgentRecord>('POST', '/api/my/agents', { ...fields, webhookUrl: pending.sink.url })
  ).id
  const secretPath = `/api/my/agents/${pending.id}/webhook-secret`
  pending.sink.secret = (await builder.call<{ secret: string }>('POST', secretPath)).secret
  await marketplace.freshen(pending)
  await builder.call('POST', `/api/my/agents/${pending.id}/publish`)
  pending.sink.tests = 0
  await marketplace.market.db.write(tx => tx.run(`UPDATE agents SET status = 'draft' WHERE id = $1`, [draft.id]))
  await builder.call('POST', `/api/my/agents/${inactive.id}/deactivate`)
  await builder.call('DELETE', `/api/my/agents/${deleted.id}`)
  pending.sink.status = 500
  await marketplace.pass(4 * hour)
  assert.is(testsOf([...agents, pending]), '10001')
  assert.equal(
    (await news(listed)).map(({ agentId }) => agentId),
    [pending.id],
  )
  await marketplace.admin.call('POST', `/api/admin/agents/${pending.id}/approve`)
  assert.is(await isPublic(marketplace, pending), false)
  await marketplace.close()
})

test('a warning is logged when a day of runs can’t reach every agent', async () => {
  const warnings: string[] = []
  const log = (line: LogEntry) => line.type === 'warning' && warnings.push(line.message)
  const marketplace = await openTestMarketplace({ heartbeatBatch: 1, log })
  const agents = await listMany(marketplace, 6)
  await marketplace.pass(4 * hour)
  assert.equal(warnings, [])
  await marketplace.list(agents[0]!.builder)
  await marketplace.pass(4 * hour)
  assert.is(warnings.length, 1)
  assert.match(warnings[0]!, /reaches 6 of 7 agents.*HEARTBEAT_BATCH to 2 or more/)
  await marketplace.close()
})

test('four agents and runs of three: the second run tests the one that is left, and nobody again', async () => {
  const marketplace = await openTestMarketplace({ heartbeatBatch: 3 })
  const agents = await listMany(marketplace, 4)
  await marketplace.pass(8 * hour)
  assert.is(testsOf(agents), '1111')
  await marketplace.close()
})

const unsent = { ok: false, reason: 'own_fault', message: 'No descriptor was free.', durationMs: 1 } as const
const nextRun = async ({ market: { db } }: TestMarketplace) => {
  const job = await db.read(q => q.get<{ at: number }>(`SELECT next_at AS at FROM jobs WHERE name = 'heartbeat'`))
  return new Date(job!.at).toISOString().slice(11, 19)
}

test('a heartbeat that could not be made for a reason of our own hides nobody, tells nobody, and is made again soon', async () => {
  const warnings: string[] = []
  const log = (line: LogEntry) => line.type === 'warning' && warnings.push(line.message)
  const marketplace = await openTestMarketplace({ log })
  const [agent, other] = (await listMany(marketplace, 2)) as [ListedAgent, ListedAgent]
  agent.sink.answer = () => unsent
  await marketplace.pass(4 * hour - 2_000)
  assert.equal([testsOf([agent, other]), await nextRun(marketplace)], ['11', '04:01:00'])
  assert.equal([await isPublic(marketplace, agent), (await news(agent)).length], [true, 0])
  assert.equal(warnings, [
    `The heartbeat of ${agent.id} counts as not made: No descriptor was free.`,
    '1 agents could not be tested for a reason of our own; the heartbeat tries again in 1 minutes.',
  ])
  const before = (await own(agent)).lastCheckPassedAt
  agent.sink.answer = null
  await marketplace.pass(60_000)
  assert.equal([testsOf([agent, other]), await nextRun(marketplace)], ['21', '08:00:00'])
  assert.ok((await own(agent)).lastCheckPassedAt! > before!)
  await marketplace.close()
})

test('heartbeats that can’t be made are tried again a few times, and then the agent waits for its turn as others do', async () => {
  const marketplace = await openTestMarketplace()
  const [agent] = (await listMany(marketplace, 1)) as [ListedAgent]
  agent.sink.answer = () => unsent
  await marketplace.pass(4 * hour - 1_000)
  const times: string[] = []
  for (const ms of heartbeat.retryMs) {
    times.push(await nextRun(marketplace))
    await marketplace.pass(ms)
  }
  assert.equal(times, ['04:01:00', '04:06:00', '04:21:00', '04:51:00', '05:51:00'])
  assert.equal([agent.sink.tests, await nextRun(marketplace)], [1 + heartbeat.retryMs.length, '08:00:00'])
  assert.ok(await isPublic(marketplace, agent))
  const sql = 'SELECT tested_at AS at FROM agents WHERE id = $1'
  const { at } = (await marketplace.market.db.read(q => q.get<{ at: number }>(sql, [agent.id])))!
  assert.is(new Date(at).toISOString().slice(11, 19), '05:51:00')
  await marketplace.pass(24 * hour)
  assert.is(await isPublic(marketplace, agent), false, 'the 24 hours of the interface are not extended')
  await marketplace.close()
})

test('when nobody at all can be reached, silence is no failure of the agent; when others can, it is', async () => {
  const marketplace = await openTestMarketplace()
  const [agent] = (await listMany(marketplace, 1)) as [ListedAgent]
  const asked: string[] = []
  let online = false
  marketplace.world.egress.isOnline = async failure => {
    asked.push(failure)
    return online
  }
  agent.sink.answer = () => ({ ok: false, reason: 'dns', message: 'No answer.', durationMs: 1, unclear: true })
  await marketplace.pass(4 * hour)
  assert.equal([asked, await isPublic(marketplace, agent), (await news(agent)).length], [['dns'], true, 0])
  const manual = await agent.builder.call<TestReport>('POST', `/api/my/agents/${agent.id}/test-connection`)
  assert.match(manual.checks[3]!.message, /reaches nobody at this moment, so this says nothing about the agent\.$/)
  online = true
  await marketplace.pass(60_000)
  assert.equal([await isPublic(marketplace, agent), (await news(agent)).length], [false, 1])
  await marketplace.close()
})

test('a database that is away in the middle of a heartbeat hides nobody, and the run is made again soon', async () => {
  const marketplace = await openTestMarketplace()
  const [agent] = (await listMany(marketplace, 1)) as [ListedAgent]
  const { db } = marketplace.market
  const write = db.write.bind(db)
  let writes = 0
  db.write = async work => {
    // The first write claims the run, the second one begins the test.
    if (++writes === 2) throw new StoreError('The database is away.')
    return write(work)
  }
  await marketplace.pass(4 * hour - 1_000)
  assert.equal([agent.sink.tests, await nextRun(marketplace)], [0, '04:01:00'])
  await marketplace.pass(60_000)
  assert.equal([agent.sink.tests, await nextRun(marketplace)], [1, '08:00:00'])
  assert.ok(await isPublic(marketplace, agent))
  await marketplace.close()
})

test('a result counts for nothing if the URL or the secret was changed while the test ran', async () => {
  const marketplace = await openTestMarketplace()
  const [agent] = (await listMany(marketplace, 1)) as [ListedAgent]
  const { id, builder, sink } = agent
  const changes = [
    () => builder.client.updateAgent({ id, webhookUrl: `${sink.url}?moved=${sink.tests}` }),
    () => builder.client.rotateSecret({ id }),
  ]
  for (const change of changes) {
    sink.answer = async () => {
      await change()
      return answered(200)
    }
    await builder.client.updateAgent({ id, webhookUrl: sink.url })
    sink.secret = (await builder.client.rotateSecret({ id })).secret
    const report = await builder.call<TestReport>('POST', `/api/my/agents/${id}/test-connection`)
    assert.is(report.passed, true)
    assert.is((await own(agent)).lastCheckPassedAt, null)
  }
  sink.answer = async () => {
    await changes[1]!()
    return answered(500)
  }
  await builder.client.updateAgent({ id, webhookUrl: sink.url })
  await marketplace.pass(4 * hour)
  assert.is((await news(agent)).length, 0)
  await marketplace.close()
})

test(
  'a marketplace that closes leaves the agents it was testing as they were, and their run is due again',
  inFolder(async file => {
    const marketplace = await openTestMarketplace({ file })
    const [agent] = (await listMany(marketplace, 1)) as [ListedAgent]
    agent.sink.answer = () => new Promise(() => {})
    const before = await own(agent)
    const passed = marketplace.pass(4 * hour)
    while (agent.sink.tests === 0) await new Promise(resolve => setTimeout(resolve, 5))
    await marketplace.close()
    await passed
    const db = await openSqlite({ file, onFatal: unexpected })
    const row = await db.read(q => q.get('SELECT tested_at, failed_at FROM agents WHERE id = $1', [agent.id]))
    assert.equal(row, { tested_at: Date.parse(before.lastCheckPassedAt!), failed_at: null })
    const jobs = await db.read(q => q.all('SELECT name, next_at, leased_until FROM jobs ORDER BY name'))
    assert.equal(jobs, [{ name: 'heartbeat', next_at: Date.parse('2026-01-01T04:00:00Z'), leased_until: 0 }])
    assert.equal(await db.read(q => q.all('SELECT id FROM agent_tests WHERE ended = 0')), [])
    await db.close()
  }),
)

test.run()
