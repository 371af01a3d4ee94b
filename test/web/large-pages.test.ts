// engines: embedded, postgres at length; process: shared
/** Pages of lists by their bytes: honest ones come whole, others are refused before they are read. Source: A-289. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../src/api/records.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

interface PageOfTasks {
  tasks: TaskRecord[]
  pagination: { total: number }
}

async function withTasks(count: number, description: string) {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await marketplace.draft(buyer, agent)).id)
  // Rows that the wire can make only by the hundred.
  await marketplace.market.db.write(tx => tx.run('UPDATE tasks SET description = $1', [description]))
  const page = (limit: number) => buyer.ask<PageOfTasks>('GET', `/api/tasks?limit=${limit}`)
  return { marketplace, buyer, page, newest: ids.reverse() }
}

test('a page that would be too large is refused, and the limit that the refusal names works when asked for', async () => {
  const { marketplace, buyer, page, newest } = await withTasks(6, 'x'.repeat(1_000_000))
  const refused = await page(6)
  assert.is(refused.status, 400)
  const [, most, fits] = /^This page has more than (.+) of text; ask for smaller ones, with limit=(\d+)$/.exec(
    refused.error!,
  )!
  assert.equal([most, fits], ['4 MiB', '4'])
  const { status, data } = await page(Number(fits))
  assert.is(status, 200)
  assert.equal(
    data!.tasks.map(({ id }) => id),
    newest.slice(0, 4),
  )
  assert.is(data!.pagination.total, 6)
  assert.equal((await buyer.ask('GET', '/api/tasks?limit=6&page=2')).status, 200, 'an empty page has no size')
  await marketplace.close()
})

test('one item alone comes whatever its size, as nobody could ask for less', async () => {
  const { marketplace, page, newest } = await withTasks(2, '\u0001'.repeat(5_000_000))
  assert.match((await page(2)).error!, /with limit=1$/)
  const { status, data } = await page(1)
  assert.is(status, 200)
  assert.equal([data!.tasks[0]!.id, data!.tasks[0]!.description.length], [newest[0], 5_000_000])
  await marketplace.close()
})

test('a page of honest size comes whole: a hundred tasks of 10 kB, in their order', async () => {
  const { marketplace, page, newest } = await withTasks(100, 'y'.repeat(10_000))
  const { status, data } = await page(100)
  assert.is(status, 200)
  assert.equal(
    data!.tasks.map(({ id }) => id),
    newest,
  )
  assert.ok(data!.tasks.every(({ description }) => description.length === 10_000))
  await marketplace.close()
})

test.run()
