// engines: embedded, postgres; process: shared
/** Which deliverable of a task is its latest: the one that came last, whatever any clock says. Source: A-19. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { DeliverableRecord, TaskRecord } from '../../../src/api/records.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

test('a buyer is shown, and approves, what was delivered last, also after a clock was set back', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.callback(agent, id, { action: 'accept' })
  const versions = ['first', 'second', 'third']
  for (const [at, content] of versions.entries()) {
    if (at > 0) await buyer.call('POST', `/api/tasks/${id}/request-revision`, { reason: 'Once more, please' })
    await marketplace.callback(agent, id, { action: 'deliver', content })
    // As if an instance had delivered it whose clock is hours ahead, the first one most.
    const ahead = `dlb_f${3 - at}${'0'.repeat(30)}`
    await marketplace.market.db.write(tx =>
      tx.run('UPDATE deliverables SET id = $1 WHERE task_id = $2 AND content = $3', [ahead, id, content]),
    )
    const one = await buyer.call<TaskRecord>('GET', `/api/tasks/${id}`)
    assert.is(one.deliverable!.content, content)
    const { tasks } = await buyer.call<{ tasks: TaskRecord[] }>('GET', '/api/tasks')
    assert.is(tasks[0]!.deliverable!.content, content)
  }
  const listed = async (query: string) => {
    const { items } = await buyer.call<{ items: DeliverableRecord[] }>('GET', `/api/tasks/${id}/deliverables${query}`)
    return items.map(({ content }) => content)
  }
  assert.equal(await listed(''), versions)
  assert.equal(await listed('?limit=1&page=2'), ['second'])
  const approved = await buyer.call<TaskRecord>('POST', `/api/tasks/${id}/approve`)
  assert.is(approved.deliverable!.content, 'third')
  await marketplace.close()
})

test('two deliverables of a task at one position are refused by the database itself', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent)
  const insert = (n: number) =>
    marketplace.market.db.write(tx =>
      tx.run('INSERT INTO deliverables (id, task_id, content, created_at, position) VALUES ($1, $2, $3, 1, 0)', [
        `dlb_${n}`,
        id,
        'x',
      ]),
    )
  await insert(1)
  const error = await insert(2).catch((error: Error & { kind?: string }) => error)
  assert.is((error as { kind?: string }).kind, 'unique')
  await marketplace.close()
})

test.run()
