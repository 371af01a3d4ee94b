// engines: postgres; process: own; lengths: short, long
/** Postgres goes away under load and comes back: errors meanwhile, nothing lost, no restart of ours. */
import { randomBytes } from 'node:crypto'
import net from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations, heartbeat } from '../../src/api/limits.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { inFolder } from '../cli/program.ts'
import { isLong } from '../support/length.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { startStoppable } from '../support/postgres-server.ts'
import { closeOpened, opened } from '../support/servers.ts'
import type { Fleet } from './fleet.ts'
import { fleetRounds } from './fleet-rounds.ts'
import { enough } from './kill.ts'
import type { Load } from './load.ts'
import type { Scenario } from './scenario.ts'

test.after.each(closeOpened)

const startServer = async () => {
  const server = await startStoppable()
  await opened({ close: () => server.stop() })
  return server
}

const start = async (url: string, log?: (entry: LogEntry) => void) => {
  const secretKey = randomBytes(32).toString('base64')
  const marketplace = await openTestMarketplace({ postgres: { url }, secretKey, ...(log && { log }) })
  await opened({ close: () => marketplace.close(0) })
  return marketplace
}

test('a Postgres that is stopped and started under load costs errors, and no write that was acknowledged', async () => {
  const unhandled: unknown[] = []
  process.on('unhandledRejection', error => unhandled.push(error))
  const server = await startServer()
  const warnings: string[] = []
  const marketplace = await start(server.url, entry => entry.type === 'warning' && warnings.push(entry.message))
  const builder = await marketplace.join('builder')
  const buyer = await marketplace.join('buyer', 900_000)
  const agent = await marketplace.list(builder)
  const acknowledged = new Set<string>()
  const statuses = new Map<number, number>()
  let stopped = false
  const seen = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const work = async () => {
    const body = { ...taskFields, agentId: agent.id }
    while (!stopped) {
      const { status, data } = await buyer.ask<{ id: string }>('POST', '/api/tasks', body, 'key')
      seen(status)
      if (status < 300) acknowledged.add(data!.id)
      else await wait(20)
    }
  }
  const load = Promise.all(Array.from({ length: 4 }, work))
  const more = async (count: number) => {
    const goal = acknowledged.size + count
    await until(
      () => `answers, but ${JSON.stringify([...statuses])}`,
      () => acknowledged.size >= goal,
    )
  }
  for (let round = 1; round <= 2; round++) {
    await more(20)
    const refused = () => statuses.get(503) ?? 0
    const before = refused()
    await server.pause()
    await until('refusals', () => refused() >= before + 4)
    marketplace.world.tick(2_000)
    await server.resume()
  }
  await more(20)
  stopped = true
  await load
  const told = (words: RegExp) => warnings.filter(message => words.test(message)).length
  assert.ok(told(/^Postgres can't be reached: /) >= 2, warnings.join('\n'))
  assert.is(told(/^Postgres is back$/), told(/^Postgres can't be reached: /), warnings.join('\n'))
  // 500: the connection has ended while its commit was under way.
  assert.equal([...statuses.keys()].filter(status => status !== 500).sort(), [201, 503])
  const rows = await marketplace.market.db.read(q => q.all<{ id: string }>('SELECT id FROM tasks ORDER BY id'))
  const kept = new Set(rows.map(({ id }) => id))
  assert.equal(
    [...acknowledged].filter(id => !kept.has(id)),
    [],
  )
  await marketplace.checkLedger()
  assert.equal(unhandled, [])
})

/** Counts who dials the address of a server that is away. */
async function countDials(url: string) {
  let dials = 0
  const counter = net.createServer(socket => {
    dials++
    socket.destroy()
  })
  await new Promise<void>(resolve => counter.listen(Number(new URL(url).port), new URL(url).hostname, resolve))
  return { count: () => dials, close: () => new Promise(resolve => counter.close(resolve)) }
}

if (isLong) {
  test('a Postgres that is away is dialled by few for all, and found once it is back', async () => {
    const server = await startServer()
    const marketplace = await start(server.url)
    const ask = () => fetch(`${marketplace.url}/api/agents`)
    await server.pause()
    const dials = await countDials(server.url)
    await until('a refusal', async () => (await ask()).status === 503)
    const before = dials.count()
    let asked = 0
    const crowd = async () => {
      for (let i = 0; i < 100; i++, asked++) {
        const answer = await ask()
        assert.is(answer.status, 503)
        assert.is(answer.headers.get('retry-after'), '5')
        assert.not((await fetch(`${marketplace.url}/readyz`)).ok)
      }
    }
    await Promise.all([crowd(), crowd(), crowd()])
    assert.is(asked, 300)
    const more = dials.count() - before
    assert.ok(more < 60, `${more} dials for 300 requests`)
    await dials.close()
    await server.resume()
    await until('it is found', async () => (await ask()).status === 200)
  })
}

test('a heartbeat and a payment that fall due while Postgres is away are done once it is back', async () => {
  const server = await startServer()
  const marketplace = await start(server.url)
  const builder = await marketplace.join('builder')
  const buyer = await marketplace.join('buyer', 10_000)
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  for (const step of [{ action: 'accept' }, { action: 'deliver', content: 'x' }])
    await marketplace.callback(agent, id, step)
  await buyer.call('POST', `/api/tasks/${id}/approve`)
  await marketplace.webhooksSent()
  agent.sink.tests = 0

  await server.pause()
  marketplace.world.advance(marketplace.world.now() + durations.clearingMs)
  marketplace.world.tick(heartbeat.afterStartMs)
  await until('a refusal', async () => (await marketplace.visitor.ask('GET', '/api/agents')).status === 503)
  await server.resume()
  await until('the heartbeat', () => {
    if (agent.sink.tests === 0) marketplace.world.tick(1_000)
    return agent.sink.tests > 0
  })
  // What is due is looked for once a second of this clock, and the last look may have come before the server was back.
  await until('the payment', async () => {
    marketplace.world.tick(1_000)
    return (await marketplace.balances(builder.id)).clearing === 0
  })
  assert.is((await marketplace.balances(builder.id)).available, taskFields.agreedPrice)
  assert.is(agent.sink.tests, 1)
})

if (isLong) {
  test(
    'three instances whose Postgres is stopped and started under load go on by themselves, and tell the agent of every step',
    inFolder(async folder => {
      const server = await startServer()
      process.env.TEST_DATABASE_URL = server.url
      const trouble = async (_fleet: Fleet, scenario: Scenario, load: Load) => {
        scenario.away = false
        await enough(scenario, load)
        scenario.away = true
        const cuts = scenario.cuts
        await server.pause()
        await until('ten missing answers', () => scenario.cuts >= cuts + 10)
        await server.resume()
      }
      const { cuts, webhooks } = await fleetRounds(folder, { rounds: 1, seed: 1, trouble })
      assert.ok(cuts >= 10, `${cuts} answers were missing`)
      assert.ok(webhooks > 10, `${webhooks} webhooks`)
    }),
  )
}

test.run()
