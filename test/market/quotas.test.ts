// engines: embedded, postgres; process: shared
/** What one account, or one task, may keep: files, deliverables, events that wait. Source: A-49. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultKeeping } from '../../src/api/limits.ts'
import type { DeliveryRecord, TaskRecord } from '../../src/api/records.ts'
import { countFiles } from '../../src/market/tasks/file-quota.ts'
import { insertDelivery } from '../../src/store/tables/outbox.ts'
import { answered } from '../../src/world/virtual.ts'
import { type House, type ListedAgent, type Member, openHouse } from '../support/marketplace.ts'

const KIB = 1024

async function accepted(house: House, buyer: Member, agent: ListedAgent): Promise<string> {
  const { id } = await house.draft(buyer, agent, { agreedPrice: 200 })
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await house.callback(agent, id, { action: 'accept' })
  return id
}

test('a task has twenty deliverables at most, and an operator may say otherwise', async () => {
  assert.is(defaultKeeping.deliverables, 20)
  const house = await openHouse({ keeping: { deliverables: 2 } })
  const buyer = await house.join('buyer', 5_000)
  const agent = await house.list(await house.join('builder'))
  const [id, other] = [await accepted(house, buyer, agent), await accepted(house, buyer, agent)]
  const deliver = (task: string, content: string) => house.callback(agent, task, { action: 'deliver', content })
  const revise = () => buyer.ask('POST', `/api/tasks/${id}/request-revision`, { reason: 'Once more, please' })
  assert.is((await deliver(id, 'one')).status, 200)
  assert.is((await revise()).status, 200)
  assert.is((await deliver(id, 'two')).status, 200)
  // Or nothing could be delivered any more, and no party could end the task.
  const refused = await revise()
  assert.is(refused.status, 400)
  assert.match(refused.error!, 'at most 2 deliverables')
  const task = await buyer.call<TaskRecord>('GET', `/api/tasks/${id}`)
  assert.equal([task.status, task.deliverable!.content, task.revisionCount], ['delivered', 'two', 1])
  await house.market.db.write(tx => tx.run(`UPDATE tasks SET status = 'in_progress' WHERE id = $1`, [id]))
  assert.is((await deliver(id, 'three')).status, 400, 'where a quota was lowered meanwhile')
  assert.is((await deliver(other, 'one')).status, 200)
  await house.close()
})

async function upload(house: House, builder: Member, taskId: string, bytes: number) {
  const form = new FormData()
  form.append('files', new Blob([`%PDF-1.4\n${' '.repeat(bytes - 9)}`]), 'file.pdf')
  const headers = { authorization: `Bearer ${builder.key}` }
  const reply = await fetch(`${house.url}/api/agent/tasks/${taskId}/deliver`, { method: 'POST', headers, body: form })
  return { status: reply.status, body: (await reply.json()) as { error?: string } }
}

const usage = (house: House) =>
  house.market.db.read(q =>
    q.all<{ id: string; bytes: number }>('SELECT user_id AS id, bytes FROM file_usage ORDER BY user_id'),
  )

test('the files of one account stay within its quota, whatever the task; others have their own', async () => {
  assert.is(defaultKeeping.fileMiB, 1024)
  const house = await openHouse({ keeping: { fileMiB: 1 } })
  const buyer = await house.join('buyer', 5_000)
  const [builder, other] = [await house.join('builder'), await house.join('other')]
  const [agent, theirs] = [await house.list(builder), await house.list(other)]
  const first = await accepted(house, buyer, agent)
  assert.is((await upload(house, builder, first, 700 * KIB)).status, 200)
  const second = await accepted(house, buyer, agent)
  const refused = await upload(house, builder, second, 325 * KIB)
  assert.is(refused.status, 400)
  assert.match(refused.body.error!, 'The files of one account take at most 1 MiB, and yours take 1 MiB')
  const uploads = await house.market.db.read(q => q.all('SELECT id FROM uploads'))
  assert.equal(uploads, [], 'what was refused is not kept')
  assert.equal(await usage(house), [{ id: builder.id, bytes: 700 * KIB }])
  assert.is((await buyer.call<TaskRecord>('GET', `/api/tasks/${second}`)).status, 'in_progress')
  assert.is((await upload(house, builder, second, 324 * KIB)).status, 200, 'what fits to the last byte')
  const elsewhere = await accepted(house, buyer, theirs)
  assert.is((await upload(house, other, elsewhere, 1_024 * KIB)).status, 200)
  assert.is((await upload(house, other, await accepted(house, buyer, theirs), 100)).status, 400)
  await house.close()
})

test('files that an older version has taken in are counted by the start', async () => {
  const house = await openHouse()
  const buyer = await house.join('buyer', 5_000)
  const builder = await house.join('builder')
  const agent = await house.list(builder)
  for (const bytes of [1_000, 2_000]) await upload(house, builder, await accepted(house, buyer, agent), bytes)
  const counted = [{ id: builder.id, bytes: 3_000 }]
  assert.equal(await usage(house), counted)
  const { db } = house.market
  await db.write(async tx => {
    await tx.run('UPDATE file_usage SET bytes = 7')
    await tx.run(`INSERT INTO settings (name, value) VALUES ('file_usage', 'uncounted')`)
  })
  await countFiles(db)
  assert.equal(await usage(house), counted)
  await db.write(tx => tx.run('UPDATE file_usage SET bytes = 7'))
  await countFiles(db)
  assert.equal(await usage(house), [{ id: builder.id, bytes: 7 }], 'once')
  await house.close()
})

test('a message is refused while as many events of its task wait as may, and a redelivery is', async () => {
  assert.is(defaultKeeping.waitingEvents, 1_000)
  const house = await openHouse({ keeping: { waitingEvents: 3 } })
  const buyer = await house.join('buyer', 5_000)
  const agent = await house.list(await house.join('builder'))
  const [id, other] = [await accepted(house, buyer, agent), await accepted(house, buyer, agent)]
  await house.webhooksSent()
  agent.sink.answer = () => answered(503)
  const say = (task: string) => buyer.ask('POST', `/api/tasks/${task}/messages`, { content: 'Hello?' })
  for (let n = 0; n < 3; n++) assert.is((await say(id)).status, 201)
  const refused = await say(id)
  assert.is(refused.status, 409)
  assert.match(refused.error!, '3 events of this task wait for its agent, which does not answer')
  const { pagination } = await buyer.call<{ pagination: { total: number } }>('GET', `/api/tasks/${id}/messages`)
  assert.is(pagination.total, 3)
  const log = `/api/my/agents/${agent.id}/deliveries`
  const { items } = await agent.builder.call<{ items: DeliveryRecord[] }>('GET', log, undefined, 'key')
  const sent = items.find(({ taskId, event }) => taskId === id && event === 'task.submitted')!
  const redeliver = () => agent.builder.ask('POST', `${log}/${sent.id}/redeliver`, undefined, 'key')
  assert.is((await redeliver()).status, 409)
  assert.is(
    (await house.callback(agent, id, { action: 'message', content: 'I am here' })).status,
    201,
    'nothing waits for it',
  )
  assert.is((await say(other)).status, 201)
  assert.is(
    (await buyer.ask('POST', `/api/tasks/${id}/dispute`, { reason: 'Because of a test' })).status,
    200,
    'what ends it passes',
  )
  agent.sink.answer = () => answered(200)
  for (let n = 0; n < 5; n++) {
    await house.pass(60_000)
    await house.webhooksSent()
  }
  assert.is((await say(id)).status, 201)
  assert.is((await redeliver()).status, 200)
  await house.close()
})

test('an event of a task costs the same, however many wait before it', async () => {
  const house = await openHouse()
  const buyer = await house.join('buyer', 5_000)
  const agent = await house.list(await house.join('builder'))
  const { id: taskId } = await house.draft(buyer, agent)
  const { db, world } = house.market
  const add = (count: number) =>
    db.write(async tx => {
      for (let n = 0; n < count; n++) {
        await insertDelivery(tx, {
          id: world.id('dlv'),
          agentId: agent.id,
          taskId,
          event: 'x',
          body: 'x',
          createdAt: Number.MAX_SAFE_INTEGER,
          countedTo: null,
        })
      }
    })
  const timed = async () => {
    const begun = performance.now()
    await add(100)
    return performance.now() - begun
  }
  await add(100)
  const short = Math.min(await timed(), await timed(), await timed())
  await add(10_000)
  const long = Math.min(await timed(), await timed(), await timed())
  assert.ok(long < 10 * short, `${long} ms behind 10,000, ${short} ms behind hundreds`)
  const places = await db.read(q => q.get<{ last: number }>('SELECT MAX(place) AS last FROM deliveries'))
  assert.is(places!.last, 10_699)
  await house.close()
})

test.run()
