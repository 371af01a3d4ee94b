// engines: embedded; process: shared
/** What is remembered is not asked again, and what has changed is: counted by the statements that reach the database. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations, limits } from '../../src/api/limits.ts'
import { Json } from '../../src/api/reply.ts'
import { createAuthenticate } from '../../src/market/accounts/credentials.ts'
import { createKeyFor } from '../../src/market/accounts/keys.ts'
import { ListingCache, publicPage } from '../../src/market/agents/listing-cache.ts'
import { indexAgent } from '../../src/market/agents/search-words.ts'
import { boundedCache } from '../../src/shared/bounded-cache.ts'
import type { Reader } from '../../src/store/db.ts'
import { updateUser } from '../../src/store/tables/accounts/users.ts'
import { agentById, insertAgent, type PublicSearch, updateAgentRow } from '../../src/store/tables/agents/agents.ts'
import { setCategories } from '../../src/store/tables/agents/categories.ts'
import { countShown } from '../../src/store/tables/table.ts'
import { openBareMarket } from '../support/bare-market.ts'
import { countStatements } from '../support/counted-db.ts'

const STANDING = /deleted_at.* WHERE a\.id = \$1/s
const all: PublicSearch = { prefixes: [], categoryId: null, sort: 'newest', page: 1, limit: 20 }

async function open(count: number) {
  const bare = await openBareMarket()
  const { market, world } = bare
  const { db } = market
  const builders = [await bare.join('ann'), await bare.join('bob')]
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const id = world.id('agt')
    ids.push(id)
    const times = { createdAt: world.now() + n, updatedAt: world.now() + n }
    const words = { name: `Agent ${n}`, slug: `agent-${n}`, tagline: 't', description: 'about gardens', tags: '[]' }
    const offer = { pricingModel: 'fixed', basePrice: 200, turnaroundHours: 1, maxRevisions: null } as const
    const row = {
      id,
      builderId: builders[n % 2]!.id,
      webhookUrl: null,
      status: 'draft',
      ...words,
      ...offer,
      ...times,
    } as const
    await db.write(async tx => {
      await insertAgent(tx, row)
      await updateAgentRow(tx, id, { status: 'verified', lastPassAt: world.now() })
      await setCategories(tx, id, ['cat_code'])
      await indexAgent(tx, (await agentById(tx, id))!)
    })
  }
  const statements = countStatements(db)
  const page = async (more: Partial<PublicSearch> = {}) => {
    const found = (await db.read(tx =>
      publicPage({ tx, memory: bare.market.memory }, world.now(), { ...all, ...more }),
    ))!
    const items = found.items instanceof Json ? JSON.parse(found.items.text) : []
    return { names: items.map(({ name }: { name: string }) => name), total: found.total }
  }
  const change = (patch: (id: string) => object, ...changed: string[]) =>
    db.write(async tx => {
      for (const id of changed) await updateAgentRow(tx, id, patch(id))
    })
  return { ...bare, db, builders, ids, statements, page, change }
}

test('a page that was read is read from memory: whatever page, sort, category or word it is of', async () => {
  const { statements, page, close } = await open(5)
  for (const more of [
    {},
    { limit: 2 },
    { limit: 2, page: 2 },
    { sort: 'popular' },
    { categoryId: 'cat_code' },
    { prefixes: ['gard'] },
  ] as const) {
    const first = await page(more)
    assert.is(first.total, 5)
    statements.count(/./)
    assert.equal(await page(more), first)
    assert.is(statements.count(/./), 0, JSON.stringify(more))
  }
  await close()
})

test('a record counts with all its escapes before its text is made', async () => {
  const { market, db, ids, world, change, close } = await open(1)
  await change(() => ({ name: '"\u0002"', description: '\u0001\n\\"ö😀/'.repeat(700) }), ids[0]!)
  const page = await db.read(tx => publicPage({ tx, memory: market.memory }, world.now(), all))
  const { length } = JSON.stringify(JSON.parse((page!.items as Json).text)[0])
  const counted = market.memory.of(ListingCache).bytes().records
  assert.ok(counted >= 2 * length && counted < 2 * length + 500, `${counted} for ${length} characters`)
  await close()
})

test('a page behind the last one is empty, and asks for nothing', async () => {
  const { statements, page, close } = await open(3)
  await page()
  statements.count(/./)
  assert.equal(await page({ page: 2 }), { names: [], total: 3 })
  assert.equal(await page({ page: 2, limit: 3 }), { names: [], total: 3 })
  assert.equal(await page({ page: 2, limit: 2 }), { names: ['Agent 0'], total: 3 })
  assert.is(statements.count(/./), 0)
  await close()
})

test('of an agent that has changed its own row is read again, and no other', async () => {
  const { ids, statements, page, change, close } = await open(5)
  await page()
  await change(() => ({ name: 'Renamed' }), ids[2]!)
  statements.count(/./)
  assert.equal((await page()).names, ['Agent 4', 'Agent 3', 'Renamed', 'Agent 1', 'Agent 0'])
  assert.is(statements.count(/./), 2, 'where it stands, and its record')
  await close()
})

test('of an account that has changed its agents alone are read again', async () => {
  const { db, builders, statements, page, close } = await open(5)
  await page()
  await db.write(tx => updateUser(tx, builders[0]!.id, { suspended: 1 }))
  statements.count(/./)
  assert.equal((await page()).names, ['Agent 3', 'Agent 1'])
  assert.is(statements.count(STANDING), 3)
  await db.write(tx => updateUser(tx, builders[0]!.id, { suspended: 0 }))
  assert.is((await page()).total, 5)
  await close()
})

test('fifty changed agents are read one by one, more of them all at once', async () => {
  const { ids, statements, page, change, close } = await open(60)
  await page()
  for (const [count, singles] of [
    [50, 50],
    [51, 0],
  ] as const) {
    await change(() => ({ basePrice: 300 + count }), ...ids.slice(0, count))
    statements.count(/./)
    assert.is((await page()).total, 60)
    const texts = statements.count(STANDING)
    assert.ok(singles === 50 ? texts >= 50 : texts <= 20, `${texts} of ${count}`)
  }
  await close()
})

test('what time changes is worked out from what is known: amber, and gone', async () => {
  const { world, statements, page, close } = await open(2)
  await page()
  world.tick(durations.amberMs - 1)
  statements.count(/./)
  await page()
  assert.is(statements.count(/./), 0, 'nothing has changed yet')
  world.tick(1)
  await page()
  assert.is(statements.count(/./), 2, 'two records that say amber')
  world.tick(durations.freshMs - durations.amberMs)
  assert.is((await page()).total, 2)
  assert.is(statements.count(/./), 0)
  world.tick(1)
  assert.is((await page()).total, 0)
  assert.is(statements.count(/./), 0)
  await close()
})

test('a search looks its longest word up first, and none behind one that finds nothing', async () => {
  const { statements, page, close } = await open(3)
  await page()
  statements.count(/./)
  assert.equal(await page({ prefixes: ['gar', 'zebras', 'about'] }), { names: [], total: 0 })
  assert.is(statements.count(/agent_terms/), 1)
  assert.is((await page({ prefixes: ['gar', 'about', 'agent'] })).total, 3)
  assert.is(statements.count(/agent_terms/), 3)
  await close()
})

test('what was found for a word stays while no agent has another rank in any order', async () => {
  const { world, ids, statements, page, change, close } = await open(3)
  const search = () => page({ prefixes: ['gardens'] })
  await search()
  const asked = async (patch: object) => {
    await change(() => patch, ids[0]!)
    statements.count(/./)
    assert.is((await search()).total, 3)
    return statements.count(/agent_terms/)
  }
  assert.is(await asked({ lastPassAt: world.now() + 1 }), 0)
  assert.is(await asked({ tagline: 'another' }), 0)
  assert.is(await asked({ basePrice: 999 }), 1)
  await close()
})

test('what the caches hold is told: nothing before the first answer', async () => {
  const { market, page, close } = await open(2)
  const bytes = () => market.memory.of(ListingCache).bytes()
  assert.equal(bytes(), { records: 0, pages: 0, selections: 0 })
  await page()
  const held = bytes()
  assert.ok(held.records > 800 && held.pages > 400 && held.selections > 200, JSON.stringify(held))
  await close()
})

test('the holder of a key is known until keys or accounts change', async () => {
  const { market, world, join, close } = await openBareMarket()
  const { db } = market
  const { id, email } = await join('ann')
  const { key } = await db.write(tx => createKeyFor(tx, world, id, 'one'))
  const statements = countStatements(db)
  const authenticate = createAuthenticate(world)
  const holder = async () => (await db.read(q => authenticate.key(q, key)))?.user
  for (const asked of [1, 0, 0]) {
    assert.is((await holder())?.email, email)
    assert.is(statements.count(/api_keys/), asked)
  }
  await db.write(tx => updateUser(tx, id, { name: 'Another name' }))
  statements.count(/./)
  assert.is((await holder())?.name, 'Another name')
  assert.is(statements.count(/api_keys/), 1)
  await db.write(tx => createKeyFor(tx, world, id, 'two'))
  statements.count(/./)
  await holder()
  assert.is(statements.count(/api_keys/), 1)
  const nobody = () => db.read(q => authenticate.key(q, 'svc_nobody'))
  assert.equal([await nobody(), await nobody()], [null, null])
  assert.is(statements.count(/api_keys/), 2, 'what nobody holds may be somebody’s the next time')
  await close()
})

test('a list that had as many rows as are counted is not counted again for ten seconds; a shorter one is, each time', async () => {
  let now = 1
  let rows: number = limits.page.reach
  let counted = 0
  const q = {
    full: boundedCache<1>({ maxBytes: 10_000, bytesOf: () => 1, now: () => now }),
    get: async () => {
      counted++
      return { count: rows }
    },
  } as unknown as Reader
  const count = async (whose: string) => [await countShown(q, ['FROM messages WHERE task_id = $1'], [whose]), counted]
  assert.equal(
    [await count('a'), await count('a')],
    [
      [rows, 1],
      [rows, 1],
    ],
  )
  assert.equal(await count('b'), [rows, 2], 'another list')
  rows = 7
  now = 10_000
  assert.equal(await count('a'), [limits.page.reach, 2])
  now = 10_001
  assert.equal(
    [await count('a'), await count('a')],
    [
      [7, 3],
      [7, 4],
    ],
  )
})

test.run()
