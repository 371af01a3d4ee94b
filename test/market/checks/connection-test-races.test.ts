// engines: embedded, postgres; process: shared
/** A test of the connection says something about the address and the secret that it tried, and about no others. Source. */
import { getEventListeners } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { OwnAgentRecord, TestReport } from '../../../src/api/records.ts'
import { runChecks } from '../../../src/market/checks/connection-test.ts'
import { agentById } from '../../../src/store/tables/agents/agents.ts'
import { answered } from '../../../src/world/virtual.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'

const tested = suite<{ marketplace: TestMarketplace; agent: ListedAgent }>('tested meanwhile')

tested.before.each(async state => {
  state.marketplace = await openTestMarketplace()
  state.agent = await state.marketplace.list(await state.marketplace.join('builder'))
  await state.marketplace.stopHeartbeat()
})
tested.after.each(({ marketplace }) => marketplace.close())

/** The report of a test during which `change` is done, and the agent after it. */
async function during({ builder, id, sink }: ListedAgent, status: number, change: () => Promise<unknown>) {
  sink.answer = async () => {
    sink.answer = null
    await change()
    return answered(status)
  }
  const report = await builder.call<TestReport>('POST', `/api/my/agents/${id}/test-connection`, undefined, 'key')
  const after = await builder.call<OwnAgentRecord>('GET', `/api/my/agents/${id}`, undefined, 'key')
  return { passed: report.passed, lastCheckPassedAt: after.lastCheckPassedAt }
}

tested(
  'a test that passes at an address that the agent has left counts for nothing',
  async ({ marketplace, agent }) => {
    const other = marketplace.sink()
    const move = () => agent.builder.client.updateAgent({ id: agent.id, webhookUrl: other.url })
    assert.equal(await during(agent, 200, move), { passed: true, lastCheckPassedAt: null })
  },
)

tested('a test that passes with a secret that was replaced meanwhile counts for nothing', async ({ agent }) => {
  const rotate = () => agent.builder.client.rotateSecret({ id: agent.id })
  assert.equal(await during(agent, 200, rotate), { passed: true, lastCheckPassedAt: null })
})

tested('a test that nothing comes between counts', async ({ marketplace, agent }) => {
  marketplace.world.advance(marketplace.world.now() + 1_000)
  const { lastCheckPassedAt } = await during(agent, 200, async () => {})
  assert.is(lastCheckPassedAt, new Date(marketplace.world.now()).toISOString())
})

tested('a test that fails at an address that the agent has left does not hide it', async ({ marketplace, agent }) => {
  const other = marketplace.sink()
  const before = { url: agent.sink.url, secret: agent.secret }
  const isPublic = async () =>
    (await marketplace.visitor.ask('GET', `/api/agents/${agent.id}`, undefined, 'nobody')).status
  assert.is(await isPublic(), 200)
  other.secret = before.secret
  const moved = async () => {
    await agent.builder.client.updateAgent({ id: agent.id, webhookUrl: other.url })
    const sql = 'UPDATE agents SET last_pass_at = $2, failed_at = NULL WHERE id = $1'
    await marketplace.market.db.write(tx => tx.run(sql, [agent.id, marketplace.world.now()]))
  }
  assert.is((await during(agent, 500, moved)).passed, false)
  const row = await marketplace.market.db.read(q =>
    q.get<{ failedAt: number | null }>('SELECT failed_at AS "failedAt" FROM agents WHERE id = $1', [agent.id]),
  )
  assert.is(row!.failedAt, null)
})

tested(
  'what could have ended a test hears of it no more once it is over, passed or not',
  async ({ marketplace, agent }) => {
    const { market } = marketplace
    const { signal } = new AbortController()
    const row = (await market.db.read(q => agentById(q, agent.id)))!
    const passed: boolean[] = []
    for (const status of [200, 500]) {
      agent.sink.status = status
      passed.push((await runChecks(market, row, { signal })).report.passed)
    }
    assert.equal([passed, getEventListeners(signal, 'abort')], [[true, false], []])
  },
)

tested.run()
