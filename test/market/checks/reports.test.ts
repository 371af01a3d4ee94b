// engines: embedded, postgres and narrow at length; process: shared
/** The reports of an agent that are kept: which, how many, for whom; and what is told of its secret. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { heartbeat, limits } from '../../../src/api/limits.ts'
import { secretFingerprint } from '../../../src/market/exchange.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

test('the last tests and heartbeats of an agent are kept apart, newest first, and so many of each', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  const { client } = builder
  const checks = () => client.getAgentChecks({ id: agent.id })
  const listed = await checks()
  assert.equal(
    listed.tests.map(({ status, checks: five }) => [status, five.length]),
    [['passed', 5]],
  )
  assert.equal(listed.heartbeats, [])
  for (let n = 0; n < limits.agent.reports + 2; n++) {
    if (n === limits.agent.reports + 1) agent.sink.status = 500
    await marketplace.pass(heartbeat.everyMs)
  }
  agent.sink.status = 200
  await marketplace.pass(1_000)
  const report = await client.testConnection({ id: agent.id })
  const { tests, heartbeats } = await checks()
  assert.equal(tests, [report, ...listed.tests])
  assert.is(heartbeats.length, limits.agent.reports)
  assert.equal(
    heartbeats.map(({ passed }) => passed),
    [false, ...Array(limits.agent.reports - 1).fill(true)],
  )
  const times = heartbeats.map(({ testedAt }) => testedAt)
  assert.equal(times, [...times].sort().reverse())
  assert.match(heartbeats[0]!.checks[3]!.message, '500')
  assert.is(heartbeats[0]!.diagnosis!.evidence !== undefined, true)
  const seen = await marketplace.admin.client.adminGetAgent({ id: agent.id })
  assert.equal(seen.checks, { tests, heartbeats })
  assert.equal((await client.getAgentChecks({ id: (await marketplace.list(builder)).id })).heartbeats, [])
  await marketplace.close()
})

test('which secret an agent has is told by its fingerprint, and so is how long the one before it counts', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  const { client } = builder
  const first = await client.getAgentChecks({ id: agent.id })
  const since = '2026-01-01T00:00:00.000Z'
  assert.equal(first.secret, { fingerprint: secretFingerprint(agent.secret), since, previousUntil: null })
  await marketplace.pass(1_000)
  const { secret, rotatedAt } = await client.rotateSecret({ id: agent.id, graceHours: 1 })
  const rotated = await client.getAgentChecks({ id: agent.id })
  assert.equal(rotated.secret, {
    fingerprint: secretFingerprint(secret),
    since: rotatedAt,
    previousUntil: '2026-01-01T01:00:01.000Z',
  })
  await marketplace.pass(3_600_000)
  assert.is((await client.getAgentChecks({ id: agent.id })).secret!.previousUntil, null)
  assert.not.match(JSON.stringify(rotated), secret)
  const { name, tagline, description, pricingModel, basePrice, categoryIds } = await client.getMyAgent({ id: agent.id })
  const { id } = await client.createAgent({ name, tagline, description, pricingModel, basePrice, categoryIds })
  assert.is((await client.getAgentChecks({ id })).secret, null)
  const stranger = await marketplace.join('stranger')
  assert.is((await stranger.ask('GET', `/api/my/agents/${agent.id}/checks`)).status, 403)
  await marketplace.close()
})

test.run()
