// engines: embedded; process: shared
/** A full database is not made larger by what is still accepted, and by what is refused. Postgres has no limit. Source: A-50. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace } from '../support/marketplace.ts'

const MB = 1_000_000

async function openFull() {
  const marketplace = await openTestMarketplace({ dbLimit: 4 * MB })
  const { db } = marketplace.market
  const buyer = await marketplace.join('buyer', 50_000)
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.callback(agent, id, { action: 'accept' })
  await marketplace.webhooksSent()
  const fill = () =>
    db.write(tx => tx.run('INSERT INTO settings (name, value) VALUES ($1, $2)', ['filling', 'x'.repeat(4 * MB)]))
  return { marketplace, db, buyer, agent, id, fill }
}

test('a task of a full database is delivered once and takes no revision, which would add a deliverable', async () => {
  const { marketplace, db, buyer, agent, id, fill } = await openFull()
  const content = Array.from({ length: 25_000 }, (_, i) => String.fromCodePoint(0x1f300 + ((i * 7919) % 700))).join('')
  await fill()
  const before = db.fill!.bytes
  const deliver = () => marketplace.callback(agent, id, { action: 'deliver', content })
  assert.is((await deliver()).status, 200)
  for (let round = 0; round < 5; round++) {
    const reason = { reason: 'Once more, and just as long, please.' }
    const { status, error } = await buyer.ask('POST', `/api/tasks/${id}/request-revision`, reason)
    assert.is(status, 500)
    assert.match(error!, /^The marketplace is full/)
    assert.is((await deliver()).status, 400)
  }
  const grown = db.fill!.bytes - before
  assert.ok(grown < 200_000, `${grown} bytes for a deliverable of 100 KB`)
  assert.is((await buyer.ask('POST', `/api/tasks/${id}/approve`)).status, 200)
  await marketplace.close()
})

test('refusals are not kept under their keys while the database is full', async () => {
  const { marketplace, db, buyer, fill } = await openFull()
  const keyed = (path: string, n: number) => buyer.ask('POST', path, {}, 'key', { 'idempotency-key': `key ${n}` })
  const rows = async () =>
    (await db.read(q => q.get<{ count: number }>('SELECT COUNT(*) AS count FROM idempotency_keys')))!.count
  for (let n = 0; n < 3; n++) assert.is((await keyed('/api/tasks/task_none/cancel', n)).status, 404)
  assert.is(await rows(), 3)
  await fill()
  // The second one is no single transaction.
  for (const path of ['/api/tasks/task_none/cancel', '/api/my/agents/agt_none/test-connection'])
    for (let n = 3; n < 6; n++) assert.is((await keyed(path, n)).status, 404)
  assert.is(await rows(), 3)
  await marketplace.close()
})

test.run()
