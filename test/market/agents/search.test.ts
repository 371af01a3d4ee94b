// engines: embedded, postgres and narrow at length; process: shared
/** Searching the marketplace over the wire: each sort, category and word. Source: I-search, A-16. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/api/limits.ts'
import { cacheBytes, ListingCache } from '../../../src/market/agents/listing-cache.ts'
import { compareListed, insertAgent, updateAgentRow } from '../../../src/store/tables/agents/agents.ts'
import { openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'

const search = suite<{ marketplace: TestMarketplace; find(query: string): Promise<string[]> }>('search')

const listed = [
  { name: 'Amber', basePrice: 300, completed: 5, categoryIds: ['cat_media'], says: 'about harbours' },
  { name: 'Birch', basePrice: 200, completed: 9, categoryIds: ['cat_code'], says: 'about compilers' },
  { name: 'Cedar', basePrice: 400, completed: 1, categoryIds: ['cat_code', 'cat_media'], says: 'about gardens' },
] as const

search.before(async context => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  for (const { completed, says, ...fields } of listed) {
    await marketplace.pass(60_000)
    const description = `An agent that stands here to be found, and which knows all ${says}.`
    const { id } = await marketplace.list(builder, { ...fields, description })
    const sql = 'UPDATE agents SET completed_tasks = $2 WHERE id = $1'
    await marketplace.market.db.write(tx => tx.run(sql, [id, completed]))
  }
  context.marketplace = marketplace
  context.find = async query => {
    const { items } = await marketplace.visitor.call<{ items: { name: string }[] }>('GET', `/api/agents?${query}`)
    return items.map(({ name }) => name)
  }
})

search.after(({ marketplace }) => marketplace.close())

search('sort=popular is by completed tasks, and what holds without a sort', async ({ find }) => {
  assert.equal(await find('sort=popular'), ['Birch', 'Amber', 'Cedar'])
  assert.equal(await find(''), ['Birch', 'Amber', 'Cedar'])
})

search('sort=newest is by creation, the last first', async ({ find }) => {
  assert.equal(await find('sort=newest'), ['Cedar', 'Birch', 'Amber'])
})

search(
  'of two that cost the same the older is first, and last where the dearest are first: in memory as in the database',
  async () => {
    const row = { completedTasks: 0, createdAt: 0, basePrice: 200 }
    const sorted = (order: keyof typeof compareListed) =>
      ['g_2', 'g_3', 'g_1']
        .map(id => ({ ...row, id }))
        .sort(compareListed[order])
        .map(({ id }) => id)
    assert.equal(sorted('price_asc'), ['g_1', 'g_2', 'g_3'])
    for (const order of ['popular', 'newest', 'price_desc'] as const) assert.equal(sorted(order), ['g_3', 'g_2', 'g_1'])
  },
)

search('sort=price_asc and price_desc are by price', async ({ find }) => {
  assert.equal(await find('sort=price_asc'), ['Birch', 'Amber', 'Cedar'])
  assert.equal(await find('sort=price_desc'), ['Cedar', 'Amber', 'Birch'])
})

search(
  'category is a name or a slug, in any case; one that is unknown finds nothing',
  async ({ marketplace, find }) => {
    const categories = await marketplace.visitor.client.listCategories()
    const { name, slug } = categories.find(({ id }) => id === 'cat_media')!
    for (const category of [name, name.toUpperCase(), slug, slug.toUpperCase()])
      assert.equal(await find(`category=${encodeURIComponent(category)}&sort=newest`), ['Cedar', 'Amber'], category)
    const other = categories.find(({ id }) => id === 'cat_code')!
    for (const category of [other.name, other.slug])
      assert.equal(await find(`category=${encodeURIComponent(category)}&sort=newest`), ['Cedar', 'Birch'], category)
    assert.equal(await find('category=nothing'), [])
  },
)

search('q matches words of the name and of the description', async ({ find }) => {
  assert.equal(await find('q=amber'), ['Amber'])
  assert.equal(await find('q=compil'), ['Birch'])
  assert.equal(await find('q=knows+gardens'), ['Cedar'])
  assert.equal(await find('q=amber+gardens'), [])
  assert.equal(await find('q=arbours'), [], 'a word begins so, or it is another')
})

search('q without a word finds nothing, and a blank one asks for nothing', async ({ find }) => {
  for (const q of ['%25', '!!!', '%F0%9F%8D%93', '-']) assert.equal(await find(`q=${q}`), [], q)
  for (const q of ['', '%20%20']) assert.equal(await find(`q=${q}`), ['Birch', 'Amber', 'Cedar'], q)
})

search(
  'an accent, or its absence, makes no difference, and neither does the way a letter is written',
  async context => {
    const { marketplace, find } = context
    const builder = await marketplace.join('francophone')
    const description = 'Un agent qui connaît chaque Café de la ville, l’ﬁn Œuvre et le жёлтый дом.'
    const { id } = await marketplace.list(builder, { name: 'Garçon', description })
    const decomposed = 'Café'.normalize('NFD')
    for (const q of [
      'cafe',
      'Café',
      'CAFÉ',
      decomposed,
      'caf',
      'garcon',
      'GARÇON',
      'connait',
      'fin',
      'желтый',
      'ＣＡＦＥ',
    ])
      assert.equal(await find(`q=${encodeURIComponent(q)}`), ['Garçon'], q)
    assert.equal(await find('q=cafes'), [])
    await builder.client.updateAgent({ id, name: 'Naive', description: description.replace('Café', 'cafe') })
    assert.equal(await find(`q=${encodeURIComponent('café naïve')}`), ['Naive'])
    await builder.client.deactivateAgent({ id })
  },
)

search(
  'only what is listed has words in the index, and they come and go with its state',
  async ({ marketplace, find }) => {
    const builder = await marketplace.join('index')
    const rows = async (id: string) => {
      const sql = 'SELECT COUNT(*) AS count FROM agent_terms WHERE agent_id = $1'
      return (await marketplace.market.db.read(q => q.get<{ count: number }>(sql, [id])))!.count
    }
    const fields = { ...listed[0], name: 'Zebrafish', tagline: 'Swims in stripes', pricingModel: 'fixed' as const }
    const description = 'An agent that nobody sees before it is reviewed, and nobody once it is gone.'
    const draft = await builder.client.createAgent({ ...fields, categoryIds: ['cat_code'], description })
    assert.is(await rows(draft.id), 0, 'a draft')
    await builder.client.updateAgent({ id: draft.id, description: `${description} Edited.` })
    assert.is(await rows(draft.id), 0, 'a draft that was edited')
    const agent = await marketplace.list(builder, { name: 'Quagga', description })
    const { id } = agent
    assert.ok((await rows(id)) > 0, 'a listed one')
    assert.equal(await find('q=quagga'), ['Quagga'])
    await builder.client.deactivateAgent({ id })
    assert.is(await rows(id), 0, 'a deactivated one')
    await builder.client.updateAgent({ id, name: 'Okapi' })
    assert.is(await rows(id), 0, 'a deactivated one that was renamed')
    await marketplace.pass(1)
    await marketplace.freshen(agent)
    await builder.client.reactivateAgent({ id })
    assert.equal(await find('q=okapi'), ['Okapi'])
    assert.equal(await find('q=quagga'), [])
    await builder.client.deleteAgent({ id })
    assert.is(await rows(id), 0, 'a deleted one')
  },
)

search(
  'however many words begin so, a search for a letter reads one row of each agent that it finds',
  async context => {
    const { marketplace, find } = context
    const builder = await marketplace.join('wordy')
    const letters = 'abcdefghijklmnopqrstuvwxyz'
    const crowded = [...letters]
      .flatMap(b => [...letters].map(c => `a${b}${c}x`))
      .join(' ')
      .slice(0, 4_999)
    const { id } = await marketplace.list(builder, { name: 'Wordy', description: crowded })
    const count = async (where: string) => {
      const sql = `SELECT COUNT(*) AS count FROM agent_terms WHERE agent_id = $1 AND ${where}`
      return (await marketplace.market.db.read(q => q.get<{ count: number }>(sql, [id])))!.count
    }
    assert.is(await count(`term = 'a'`), 1)
    assert.is(await count(`term = 'ab'`), 1)
    assert.is(await count(`term >= 'aaax' AND LENGTH(term) = 4`), limits.search.wordsPerAgent - 1, 'words are bounded')
    assert.equal(await find('q=a+aa+aaa+aaax+wordy'), ['Wordy'])
    assert.equal(await find('q=word'), ['Wordy'], 'the beginning of a longer word')
    assert.equal(await find('q=aaaxx'), [])
    await builder.client.deleteAgent({ id })
  },
)

search('a search of too many different words is refused, and one at the limit is not', async ({ marketplace }) => {
  const asking = (count: number, more = '') => {
    const q = Array.from({ length: count }, (_, i) => String.fromCharCode(97 + i)).join(' ') + more
    return marketplace.visitor.ask<{ errors?: object }>('GET', `/api/agents?q=${encodeURIComponent(q)}`)
  }
  const { words } = limits.search
  assert.is((await asking(words, ' a a b B')).status, 200)
  const refused = await asking(words + 1)
  assert.is(refused.status, 400)
  assert.match(JSON.stringify(refused), `must have at most ${words} different words`)
})

search('pages of searches are kept within a bound in bytes, whatever is searched for', async ({ marketplace }) => {
  const { market, world } = marketplace
  const { id: builderId } = await marketplace.join('publisher')
  const now = world.now()
  await market.db.write(async tx => {
    for (let n = 0; n < 100; n++) {
      const id = world.id('agt')
      const texts = { slug: `long-${n}`, name: `Long ${n}`, tagline: 'Says much', description: 'ö'.repeat(300) }
      const terms = {
        pricingModel: 'fixed',
        basePrice: 500,
        turnaroundHours: 1,
        maxRevisions: null,
        tags: '[]',
      } as const
      const rest = { webhookUrl: null, status: 'verified', createdAt: now, updatedAt: now } as const
      await insertAgent(tx, { id, builderId, ...texts, ...terms, ...rest })
      await updateAgentRow(tx, id, { lastPassAt: now })
    }
  })
  for (const sort of ['newest', 'price_asc']) {
    for (let limit = 40; limit <= 100; limit++) {
      const { items } = await marketplace.visitor.call<{ items: unknown[] }>(
        'GET',
        `/api/agents?limit=${limit}&sort=${sort}`,
      )
      assert.is(items.length, limit)
    }
  }
  const kept = market.memory.of(ListingCache).bytes()
  for (const [name, bytes] of Object.entries(cacheBytes)) assert.ok(kept[name as 'pages'] <= bytes, name)
  if (!market.db.shared) assert.ok(kept.pages > cacheBytes.pages / 2, 'what fits is kept')
})

search.run()
