// engines: embedded, postgres at length; process: shared; lengths: short, long
/** Builders whose endpoints take for ever: others' webhooks, tests and heartbeats go their way. Source: A-37, A-188. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations, heartbeat, manualTests } from '../../../src/api/limits.ts'
import type { TestReport } from '../../../src/api/records.ts'
import { seal, unseal } from '../../../src/market/sealing.ts'
import { agentById, insertAgent } from '../../../src/store/tables/agents/agents.ts'
import { insertTask } from '../../../src/store/tables/tasks/tasks.ts'
import { createWorld } from '../../../src/world/real.ts'
import type { World } from '../../../src/world/world.ts'
import { isLong } from '../../support/length.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../../support/marketplace.ts'
import { openNameServer, type Said } from '../../support/name-server.ts'
import { inTime, until } from '../../support/patience.ts'
import { closeOpened, httpServer, opened, rawServer } from '../../support/servers.ts'

test.after.each(closeOpened)

/** Builders, and names of all of them together. */
const FEW = [5, 200] as const
/** As many as had all slow slots when each could have sixteen, and all others with them. */
const MANY = [40, 680] as const
const QUICK = 40

const isSlow = (name: string) => name.endsWith('.slow.example') || /^slow\d+\./.test(name)

const fields = {
  name: 'An agent',
  tagline: 'Works, or does not',
  description: 'An agent of a test, which answers at once or does not answer at all, whatever is asked.',
  pricingModel: 'fixed' as const,
  basePrice: 200,
  categoryIds: ['cat_code'],
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i)

/** A few at a time, as a server has so many connections to its database. */
async function each<Item, Made>(items: readonly Item[], work: (item: Item) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = []
  const left = [...items.entries()]
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) made[next[0]] = await work(next[1])
  }
  await Promise.all(range(8).map(worker))
  return made
}

/** A public agent at this address, untested. */
async function agentAt({ market }: TestMarketplace, builder: TestUser, webhookUrl: string): Promise<string> {
  const { id } = await builder.client.createAgent({ ...fields, webhookUrl })
  await builder.client.rotateSecret({ id })
  const sql = `UPDATE agents SET status = 'verified', last_pass_at = $1, tested_at = $1 WHERE id = $2`
  await market.db.write(tx => tx.run(sql, [market.world.now(), id]))
  return id
}

const task = { title: 'To be sent', description: 'A task whose webhook is late or is not.', agreedPrice: 200 }

async function submit(buyer: TestUser, agentId: string): Promise<string> {
  const { id } = await buyer.client.createTask({ ...task, agentId })
  await buyer.client.submitTask({ id })
  return id
}

/** What goes to the slow ones ends with the test, and not by a time-out: whoever had to wait for them would wait in vain. */
function holdingSlowOnes(world: World) {
  let release = () => {}
  const over = new Promise<void>(resolve => {
    release = resolve
  })
  const post: World['egress']['post'] = async request => {
    const result = world.egress.post(request)
    if (isSlow(new URL(request.url).hostname)) await over
    return result
  }
  return { world: { ...world, egress: { ...world.egress, post } }, release: () => release() }
}

/** A marketplace in the real world, whose names a server of this test tells. */
async function openSetup(say: (name: string) => Said) {
  const server = await opened(
    openNameServer((name, type) => (type === 'A' ? say(name) : isSlow(name) ? say(name) : [])),
  )
  const names = { servers: [server.address], hostsPath: '/nonexistent/hosts' }
  const held = holdingSlowOnes(createWorld({ allowLoopback: true, requireHttps: false, names }))
  const marketplace = await openTestMarketplace({ world: held.world })
  await opened({
    close() {
      held.release()
      return marketplace.close(0)
    },
  })
  const received = new Set<string>()
  const quick = await httpServer(async (incoming, answer) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    answer.end()
    received.add(JSON.parse(Buffer.concat(chunks).toString()).data.taskId)
  })
  return { marketplace, port: Number(new URL(quick.url).port), received }
}

type Setup = Awaited<ReturnType<typeof openSetup>>

/**
 * Public agents, untested, and a draft for each. The first agent comes over the wire, the rest is rows: thousands of requests
 * would take longer than what is tested.
 */
async function draftsFor(
  marketplace: TestMarketplace,
  buyer: TestUser,
  builders: readonly TestUser[],
  urls: readonly string[],
): Promise<string[]> {
  const { db, world, config } = marketplace.market
  const first = await agentAt(marketplace, builders[0]!, urls[0]!)
  return db.write(async tx => {
    const agent = (await agentById(tx, first))!
    const made = urls.map(async (webhookUrl, n) => {
      const builderId = builders[n % builders.length]!.id
      const agentId = n === 0 ? first : world.id('agt')
      const secret = seal(world, config, agentId, unseal(config, first, agent.secret!))
      if (n > 0) await insertAgent(tx, { ...agent, id: agentId, slug: `slow-${n}`, builderId, webhookUrl, secret })
      const id = world.id('task')
      await insertTask(tx, { ...task, id, agentId, buyerId: buyer.id, builderId, createdAt: world.now() })
      return id
    })
    return Promise.all(made)
  })
}

/** Webhooks to many names of some builders, all due at once. */
async function crowdWith(
  { marketplace }: Setup,
  [count, names]: readonly [number, number],
  urlOf: (n: number) => string,
) {
  const builders = await each(range(count), n => marketplace.join(`slow${n}`))
  const buyer = await marketplace.join('victim', 200 * names)
  const drafts = await draftsFor(marketplace, buyer, builders, range(names).map(urlOf))
  await each(drafts, id => buyer.client.submitTask({ id }))
  return builders
}

/** Webhooks of honest builders, one after another. */
async function honestOnes({ marketplace, port, received }: Setup): Promise<void> {
  const buyer = await marketplace.join('buyer', 50_000)
  const builders = await Promise.all([1, 2].map(n => marketplace.join(`honest${n}`)))
  const ids = await Promise.all(
    range(4).map(n => agentAt(marketplace, builders[n % 2]!, `http://h${n}.quick.example:${port}/`)),
  )
  for (const n of range(QUICK)) {
    const id = await submit(buyer, ids[n % 4]!)
    await until(`webhook ${n} of ${QUICK}, while the slow ones hang`, () => received.has(id))
  }
}

const silentOrHere = (name: string): Said => (isSlow(name) ? 'silence' : ['127.0.0.1'])

test('200 names that no name server answers for, of five builders, keep no other webhook waiting', async () => {
  const setup = await openSetup(silentOrHere)
  await crowdWith(setup, FEW, n => `http://slow${n}.owner${n}.example/`)
  await honestOnes(setup)
})

if (isLong) {
  test('200 hosts that take the connection and never answer, of five builders, keep no other webhook waiting', async () => {
    const setup = await openSetup(() => ['127.0.0.1'])
    const deaf = await rawServer(() => {})
    await crowdWith(setup, FEW, n => `http://slow${n}.owner${n}.example:${deaf.port}/`)
    await honestOnes(setup)
    await until('the turn of the slow ones', () => deaf.connections() >= FEW[0])
  })

  test('forty builders with 680 hosts that never answer have a share each, and keep no other webhook waiting', async () => {
    const setup = await openSetup(() => ['127.0.0.1'])
    const deaf = await rawServer(() => {})
    await crowdWith(setup, MANY, n => `http://slow${n}.owner${n}.example:${deaf.port}/`)
    await honestOnes(setup)
    await until('the turn of the slow ones', () => deaf.connections() >= MANY[0])
  })
}

test('hosts that take the connection and never answer keep no connection test and no heartbeat of another builder waiting', async () => {
  const setup = await openSetup(() => ['127.0.0.1'])
  const { marketplace, port } = setup
  const { db, world } = marketplace.market
  const deaf = await rawServer(() => {})
  const builders = await crowdWith(setup, FEW, n => `https://slow${n}.owner${n}.example:${deaf.port}/`)
  const honest = await marketplace.join('honest')
  // The server speaks plain HTTP: that this is told means that it was reached.
  const id = await agentAt(marketplace, honest, `https://ok.quick.example:${port}/`)
  let over = 0
  const hanging = (work: Promise<unknown>) => void work.catch(() => {}).finally(() => over++)
  for (const builder of builders) {
    const { items } = await builder.client.listMyAgents({ limit: manualTests.perBuilder })
    for (const item of items) hanging(builder.ask('POST', `/api/my/agents/${item.id}/test-connection`))
  }
  const tested = honest.call<TestReport>('POST', `/api/my/agents/${id}/test-connection`)
  const report = await inTime('a test while others hang', tested)
  assert.match(report.checks[3]?.message ?? '', 'TLS with ok.quick.example failed')

  // In the next heartbeat it stands behind all but one of those that are tested at once; these hang, and no builder tests
  // them.
  const ahead = `SELECT id FROM agents WHERE id <> $1 ORDER BY id LIMIT ${heartbeat.atOnce - 1}`
  const before = world.now() - durations.dayMs / 2
  await db.write(async tx => {
    await tx.run('UPDATE agents SET tested_at = $1', [before + 2])
    await tx.run('UPDATE agents SET tested_at = $1, failed_at = NULL WHERE id = $2', [before + 1, id])
    await tx.run(`UPDATE agents SET tested_at = $2 WHERE id IN (${ahead})`, [id, before])
  })
  const isTested = async () => {
    const row = await db.read(q => q.get<{ at: number }>('SELECT tested_at AS at FROM agents WHERE id = $1', [id]))
    return row!.at > before + 1
  }
  world.advance(world.now() + heartbeat.everyMs)
  hanging(marketplace.runDue())
  await until('the heartbeat', isTested)
  assert.is(over, 0, 'all others hang meanwhile')
})

test.run()
