/** Searching the marketplace over the wire: each sort, category and word. Source: section 4, D16. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type House, openHouse } from '../support/marketplace.ts'

const search = suite<{ house: House; find(query: string): Promise<string[]> }>('search')

const listed = [
  { name: 'Amber', basePrice: 300, completed: 5, categoryIds: ['cat_media'], says: 'about harbours' },
  { name: 'Birch', basePrice: 200, completed: 9, categoryIds: ['cat_code'], says: 'about compilers' },
  { name: 'Cedar', basePrice: 400, completed: 1, categoryIds: ['cat_code', 'cat_media'], says: 'about gardens' },
] as const

search.before(async context => {
  const house = await openHouse()
  const builder = await house.join('builder')
  for (const { completed, says, ...fields } of listed) {
    await house.pass(60_000)
    const description = `An agent that stands here to be found, and which knows all ${says}.`
    const { id } = await house.list(builder, { ...fields, description })
    const sql = 'UPDATE agents SET completed_tasks = $2 WHERE id = $1'
    await house.market.db.write(tx => tx.run(sql, [id, completed]))
  }
  context.house = house
  context.find = async query => {
    const { items } = await house.visitor.call<{ items: { name: string }[] }>('GET', `/api/agents?${query}`)
    return items.map(({ name }) => name)
  }
})

search.after(({ house }) => house.close())

search('sort=popular is by completed tasks, and what holds without a sort', async ({ find }) => {
  assert.equal(await find('sort=popular'), ['Birch', 'Amber', 'Cedar'])
  assert.equal(await find(''), ['Birch', 'Amber', 'Cedar'])
})

search('sort=newest is by creation, the last first', async ({ find }) => {
  assert.equal(await find('sort=newest'), ['Cedar', 'Birch', 'Amber'])
})

search('sort=price_asc and price_desc are by price', async ({ find }) => {
  assert.equal(await find('sort=price_asc'), ['Birch', 'Amber', 'Cedar'])
  assert.equal(await find('sort=price_desc'), ['Cedar', 'Amber', 'Birch'])
})

search('category is a name or a slug, in any case; one that is unknown finds nothing', async ({ house, find }) => {
  const categories = await house.visitor.client.listCategories()
  const { name, slug } = categories.find(({ id }) => id === 'cat_media')!
  for (const category of [name, name.toUpperCase(), slug, slug.toUpperCase()])
    assert.equal(await find(`category=${encodeURIComponent(category)}&sort=newest`), ['Cedar', 'Amber'], category)
  const other = categories.find(({ id }) => id === 'cat_code')!
  for (const category of [other.name, other.slug])
    assert.equal(await find(`category=${encodeURIComponent(category)}&sort=newest`), ['Cedar', 'Birch'], category)
  assert.equal(await find('category=nothing'), [])
})

search('q matches words of the name and of the description', async ({ find }) => {
  assert.equal(await find('q=amber'), ['Amber'])
  assert.equal(await find('q=compil'), ['Birch'])
  assert.equal(await find('q=knows+gardens'), ['Cedar'])
  assert.equal(await find('q=amber+gardens'), [])
  assert.equal(await find('q=arbours'), [], 'a word begins so, or it is another')
})

search.run()
