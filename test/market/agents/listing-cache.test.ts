// engines: embedded, postgres at length; process: shared
/** The kept list of agents: after whatever change, it says what the tables say. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { agentVerbs } from '../../../src/market/agents/agents.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'
import { plainTx } from '../../support/plain-tx.ts'

const HOUR = 3_600_000
const searches = [
  '',
  '?sort=newest&limit=2',
  '?sort=price_asc&limit=2&page=2',
  '?sort=price_desc',
  '?q=mar',
  '?q=test mar&limit=1',
  '?category=code',
  '?category=Writing&sort=newest&limit=1&page=2',
  '?q=nobody',
  '?page=50',
]

/** What the tables say, asked in a transaction, where nothing kept is ever used. */
function fromTables({ market }: TestMarketplace, search: string) {
  const { q, category, sort, page = 1, limit = 20 } = Object.fromEntries(new URLSearchParams(search))
  const query = { q, category, sort, page: Number(page), limit: Number(limit) } as never
  return market.db.write(tx =>
    agentVerbs.listAgents({ ...market, tx: plainTx(tx), actor: null }, { params: {}, query, body: undefined }),
  )
}

async function compare(marketplace: TestMarketplace, after: string): Promise<void> {
  for (const search of searches) {
    const kept = await marketplace.visitor.call<{ items: unknown[]; pagination: { total: number } }>(
      'GET',
      `/api/agents${search}`,
    )
    const { items, total } = await fromTables(marketplace, search)
    assert.equal(kept.items, items, `${after}: ${search}`)
    assert.is(kept.pagination.total, total, `${after}: total of ${search}`)
  }
}

interface Cast {
  builders: [TestUser, TestUser]
  agents: ListedAgent[]
}

const names = ['Mara', 'Test Marta', 'Norbert', 'Mario the tester']
const changes = [
  'edit',
  'move',
  'price',
  'rename',
  'account',
  'suspend',
  'restore',
  'secret',
  'freshen',
  'list',
  'wait',
]
type Change = (typeof changes)[number]

async function change(
  marketplace: TestMarketplace,
  { builders, agents }: Cast,
  what: Change,
  n: number,
): Promise<void> {
  const agent = agents[n % agents.length]!
  const { builder, id } = agent
  const put = (fields: object) => builder.ask('PUT', `/api/my/agents/${id}`, fields)
  const stand = (fields: object) => marketplace.admin.call('PUT', `/api/admin/users/${builders[n % 2]!.id}`, fields)
  if (what === 'edit') await put({ tagline: `Another tagline, number ${n}` })
  else if (what === 'move') await put({ categoryIds: n % 2 ? ['cat_code'] : ['cat_data', 'cat_writing'] })
  else if (what === 'price') await put({ basePrice: 200 + n })
  else if (what === 'rename') await put({ name: names[n % names.length] })
  else if (what === 'account') await builder.ask('PUT', '/api/auth/me', { name: `Builder ${n}` })
  else if (what === 'suspend') await stand({ suspended: true })
  else if (what === 'restore') await stand({ suspended: false })
  else if (what === 'secret') {
    const { secret } = await builder.call<{ secret: string }>('POST', `/api/my/agents/${id}/webhook-secret`)
    agent.secret = secret
    agent.sink.secret = secret
  } else if (what === 'freshen') await marketplace.freshen(agent)
  else if (what === 'wait') await marketplace.pass((1 + (n % 12)) * HOUR)
  else if (agents.length < 6) {
    await marketplace.admin.call('PUT', `/api/admin/users/${builders[0].id}`, { suspended: false })
    agents.push(await marketplace.list(builders[0], { name: names[n % names.length], basePrice: 300 + n }))
  }
}

test('whatever changes, the list, its order and its totals are those of the tables', async () => {
  const step = fc.tuple(fc.constantFrom(...changes), fc.nat(40))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async steps => {
      const marketplace = await openTestMarketplace()
      try {
        const builders: [TestUser, TestUser] = [await marketplace.join('one'), await marketplace.join('two')]
        const cast: Cast = { builders, agents: [] }
        for (const [n, name] of names.entries()) {
          cast.agents.push(await marketplace.list(builders[n % 2]!, { name, basePrice: 500 + n * 10 }))
        }
        await compare(marketplace, 'at the start')
        for (const [what, n] of steps) {
          await change(marketplace, cast, what, n)
          await compare(marketplace, `after ${what} ${n}`)
        }
      } finally {
        await marketplace.close(0)
      }
    }),
    { numRuns: 5 },
  )
})

test('an agent turns amber 20 hours after its pass and is gone after 24, with no write in between', async () => {
  const marketplace = await openTestMarketplace()
  const agent = await marketplace.list(await marketplace.join('one'))
  const shown = async () => {
    const { items } = await marketplace.visitor.call<{ items: { id: string; freshness: string }[] }>(
      'GET',
      '/api/agents',
    )
    return items.map(({ freshness }) => freshness)
  }
  const { lastPassAt } = (await marketplace.market.db.read(q =>
    q.get<{ lastPassAt: number }>('SELECT last_pass_at AS "lastPassAt" FROM agents WHERE id = $1', [agent.id]),
  ))!
  const at = (ms: number) => marketplace.world.advance(lastPassAt + ms)
  assert.equal(await shown(), ['green'])
  at(20 * HOUR - 1)
  assert.equal(await shown(), ['green'])
  at(20 * HOUR)
  assert.equal(await shown(), ['amber'])
  at(24 * HOUR)
  assert.equal(await shown(), ['amber'])
  at(24 * HOUR + 1)
  assert.equal(await shown(), [])
  await marketplace.freshen(agent)
  assert.equal(await shown(), ['green'])
  await marketplace.close(0)
})

test("a suspended builder's agents leave the list with the answer to the suspension", async () => {
  const marketplace = await openTestMarketplace()
  const [one, two] = [await marketplace.join('one'), await marketplace.join('two')]
  await marketplace.list(one)
  const other = await marketplace.list(two)
  const ids = async () => {
    const { items } = await marketplace.visitor.call<{ items: { id: string }[] }>('GET', '/api/agents')
    return items.map(({ id }) => id)
  }
  assert.is((await ids()).length, 2)
  await marketplace.admin.call('PUT', `/api/admin/users/${one.id}`, { banned: true })
  assert.equal(await ids(), [other.id])
  await marketplace.admin.call('PUT', `/api/admin/users/${one.id}`, { banned: false })
  assert.is((await ids()).length, 2)
  await marketplace.close(0)
})

test('an agent without a word that a search could find leaves the list with its state', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('one')
  const agent = await marketplace.list(builder, { name: '☂ ☂', description: '☂'.repeat(200) })
  const shown = async () => (await marketplace.visitor.call<{ items: object[] }>('GET', '/api/agents')).items.length
  assert.is(await shown(), 1)
  await builder.call('POST', `/api/my/agents/${agent.id}/deactivate`)
  assert.is(await shown(), 0)
  await marketplace.close(0)
})

test.run()
