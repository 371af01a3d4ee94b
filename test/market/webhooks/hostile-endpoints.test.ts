// engines: embedded; process: shared
/** Endpoints that mean harm, through everything that calls them: webhooks, connection tests, heartbeats. Source: A-42. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import type { OwnAgentRecord } from '../../../src/api/records.ts'
import { createFrontAuthority } from '../../../src/sim/agents/https-front.ts'
import { createWorld } from '../../../src/world/real.ts'
import type { Outgoing, World } from '../../../src/world/world.ts'
import { hostile } from '../../support/hostile.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'
import { closeOpened, opened, rawServer } from '../../support/servers.ts'

test.after.each(closeOpened)

/** The most that is read of an answer. Source: A-42. */
const MOST_READ = 20_000
/** Instead of thirty seconds, for those that would use them up. */
const SHORT_MS = 300

const fields = {
  name: 'A hostile agent',
  tagline: 'Means harm to whoever calls',
  description: 'An agent of a test whose endpoint does whatever might hurt the marketplace that calls it.',
  pricingModel: 'fixed' as const,
  basePrice: 200,
  categoryIds: ['cat_code'],
}

interface Lair {
  what: string
  /** A reason, or a status. */
  expected: string
  agentId: string
  allClosed(): Promise<boolean>
}

/** A real world in which those that would wait for long are given less time. */
function hastyWorld(ca: Promise<string>, slow: ReadonlySet<string>): { world: World; asked: Outgoing[] } {
  const asked: Outgoing[] = []
  const world = createWorld({ allowLoopback: true, requireHttps: true, ca })
  const { egress, after } = world
  const hasty = (request: Outgoing) => {
    asked.push(request)
    return egress.post(slow.has(request.url) ? { ...request, timeoutMs: SHORT_MS } : request)
  }
  return {
    asked,
    world: {
      ...world,
      egress: { ...egress, post: hasty },
      after: (ms, work) => after(ms === durations.testCallbackMs ? SHORT_MS : ms, work),
    },
  }
}

async function openLairs() {
  const authority = createFrontAuthority()
  const credentials = await authority.credentials
  const slow = new Set<string>()
  const { world, asked } = hastyWorld(authority.ca, slow)
  const marketplace = await openTestMarketplace({ world, heartbeatBatch: 100 })
  await opened({ close: () => marketplace.close(0) })
  const builder = await marketplace.join('builder')
  const lairs: Lair[] = []
  for (const [what, [expected, behave]] of Object.entries(hostile)) {
    const { port, allClosed } = await rawServer(behave, credentials)
    const webhookUrl = `https://localhost:${port}/`
    if (expected === 'timeout') slow.add(webhookUrl)
    const { id: agentId } = await builder.client.createAgent({ ...fields, webhookUrl })
    await builder.client.rotateSecret({ id: agentId })
    lairs.push({ what, expected, agentId, allClosed })
  }
  await market(marketplace)
  return { marketplace, builder, lairs, asked }
}

/** All of them in public, and untested for some hours. */
const market = ({ market: { db, world } }: TestMarketplace) =>
  db.write(tx =>
    tx.run(`UPDATE agents SET status = 'verified', last_pass_at = $1, tested_at = $1, failed_at = NULL`, [world.now()]),
  )

const attemptOf = async (builder: TestUser, id: string) => {
  const noted = async () => {
    const { items } = await builder.client.listDeliveries({ id })
    return (await builder.client.getDelivery({ id, deliveryId: items[0]!.id })).attempts[0]
  }
  await until('an attempt', noted, 20)
  return (await noted())!
}

test('hostile endpoints, by dispatch, test and heartbeat: each ends as it should, none is read beyond its bound, none holds a socket', async () => {
  const { marketplace, builder, lairs, asked } = await openLairs()
  const buyer = await marketplace.join('buyer', 50_000)
  for (const { agentId } of lairs) {
    const task = {
      agentId,
      title: 'To be hurt',
      description: 'A task for an endpoint that means harm.',
      agreedPrice: 200,
    }
    const { id } = await buyer.client.createTask(task)
    await buyer.client.submitTask({ id })
  }
  for (const { what, expected, agentId } of lairs) {
    const { status, reason, answer } = await attemptOf(builder, agentId)
    assert.is(reason ?? `answered ${status}`, expected, `dispatch: ${what}`)
    assert.ok(Buffer.byteLength(answer ?? '') <= 3 * MOST_READ, `dispatch: ${what}`)
  }
  for (const { what, expected, agentId } of lairs) {
    const report = await builder.client.testConnection({ id: agentId })
    assert.is(report.passed, expected === 'answered 200', `test: ${what}`)
    assert.equal(report.checks[3]!.status, expected === 'answered 200' ? 'passed' : 'failed', `test: ${what}`)
  }
  await market(marketplace)
  marketplace.market.world.advance(marketplace.market.world.now() + 5 * durations.hourMs)
  await marketplace.runDue()
  for (const { what, expected, agentId } of lairs) {
    const { visible } = await builder.call<OwnAgentRecord>('GET', `/api/my/agents/${agentId}`)
    assert.is(visible, expected === 'answered 200', `heartbeat: ${what}`)
  }
  assert.equal([...new Set(asked.map(({ maxResponseBytes }) => maxResponseBytes))], [MOST_READ])
  assert.ok(asked.length >= 3 * lairs.length)
  for (const { what, allClosed } of lairs) assert.ok(await allClosed(), `a socket to one that ${what} stays open`)
  assert.is((await fetch(`${marketplace.url}/readyz`)).status, 200)
})

test.run()
