// engines: embedded, postgres; process: shared
/** The kept list of agents: after whatever change, it says what the tables say. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { agentVerbs } from '../../src/market/agents/agents.ts'
import { type House, type ListedAgent, type Member, openHouse } from '../support/marketplace.ts'
import { plainTx } from '../support/plain-tx.ts'

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
function fromTables({ market }: House, search: string) {
  const { q, category, sort, page = 1, limit = 20 } = Object.fromEntries(new URLSearchParams(search))
  const query = { q, category, sort, page: Number(page), limit: Number(limit) } as never
  return market.db.write(tx =>
    agentVerbs.listAgents({ ...market, tx: plainTx(tx), actor: null }, { params: {}, query, body: undefined }),
  )
}

async function compare(house: House, after: string): Promise<void> {
  for (const search of searches) {
    const kept = await house.visitor.call<{ items: unknown[]; pagination: { total: number } }>(
      'GET',
      `/api/agents${search}`,
    )
    const { items, total } = await fromTables(house, search)
    assert.equal(kept.items, items, `${after}: ${search}`)
    assert.is(kept.pagination.total, total, `${after}: total of ${search}`)
  }
}

interface Cast {
  builders: [Member, Member]
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

async function change(house: House, { builders, agents }: Cast, what: Change, n: number): Promise<void> {
  const agent = agents[n % agents.length]!
  const { builder, id } = agent
  const put = (fields: object) => builder.ask('PUT', `/api/my/agents/${id}`, fields)
  const stand = (fields: object) => house.admin.call('PUT', `/api/admin/users/${builders[n % 2]!.id}`, fields)
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
  } else if (what === 'freshen') await house.freshen(agent)
  else if (what === 'wait') await house.pass((1 + (n % 12)) * HOUR)
  else if (agents.length < 6) {
    await house.admin.call('PUT', `/api/admin/users/${builders[0].id}`, { suspended: false })
    agents.push(await house.list(builders[0], { name: names[n % names.length], basePrice: 300 + n }))
  }
}

test('whatever changes, the list, its order and its totals are those of the tables', async () => {
  const step = fc.tuple(fc.constantFrom(...changes), fc.nat(40))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async steps => {
      const house = await openHouse()
      try {
        const builders: [Member, Member] = [await house.join('one'), await house.join('two')]
        const cast: Cast = { builders, agents: [] }
        for (const [n, name] of names.entries()) {
          cast.agents.push(await house.list(builders[n % 2]!, { name, basePrice: 500 + n * 10 }))
        }
        await compare(house, 'at the start')
        for (const [what, n] of steps) {
          await change(house, cast, what, n)
          await compare(house, `after ${what} ${n}`)
        }
      } finally {
        await house.close(0)
      }
    }),
    { numRuns: 5 },
  )
})

test('an agent turns amber 20 hours after its pass and is gone after 24, with no write in between', async () => {
  const house = await openHouse()
  const agent = await house.list(await house.join('one'))
  const shown = async () => {
    const { items } = await house.visitor.call<{ items: { id: string; freshness: string }[] }>('GET', '/api/agents')
    return items.map(({ freshness }) => freshness)
  }
  const { lastPassAt } = (await house.market.db.read(q =>
    q.get<{ lastPassAt: number }>('SELECT last_pass_at AS "lastPassAt" FROM agents WHERE id = $1', [agent.id]),
  ))!
  const at = (ms: number) => house.world.advance(lastPassAt + ms)
  assert.equal(await shown(), ['green'])
  at(20 * HOUR - 1)
  assert.equal(await shown(), ['green'])
  at(20 * HOUR)
  assert.equal(await shown(), ['amber'])
  at(24 * HOUR)
  assert.equal(await shown(), ['amber'])
  at(24 * HOUR + 1)
  assert.equal(await shown(), [])
  await house.freshen(agent)
  assert.equal(await shown(), ['green'])
  await house.close(0)
})

test("a suspended builder's agents leave the list with the answer to the suspension", async () => {
  const house = await openHouse()
  const [one, two] = [await house.join('one'), await house.join('two')]
  await house.list(one)
  const other = await house.list(two)
  const ids = async () => {
    const { items } = await house.visitor.call<{ items: { id: string }[] }>('GET', '/api/agents')
    return items.map(({ id }) => id)
  }
  assert.is((await ids()).length, 2)
  await house.admin.call('PUT', `/api/admin/users/${one.id}`, { banned: true })
  assert.equal(await ids(), [other.id])
  await house.admin.call('PUT', `/api/admin/users/${one.id}`, { banned: false })
  assert.is((await ids()).length, 2)
  await house.close(0)
})

test.run()
