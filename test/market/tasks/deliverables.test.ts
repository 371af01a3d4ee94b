// engines: embedded, postgres; process: shared
/** Which deliverable of a task is its latest: the one that came last, whatever any clock says. Source: A-19. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { DeliverableRecord, TaskRecord } from '../../../src/api/records.ts'
import { signatureHeaders } from '../../../src/api/signature.ts'
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

test('a callback that comes twice has its first answer, whatever was delivered since; long texts are not stored with it', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent, { requirements: 'In English' })
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  const post = async (text: string, headers: Record<string, string>) => {
    const url = `${marketplace.url}/api/agent/tasks/${id}/callback`
    const response = await fetch(url, {
      method: 'POST',
      body: text,
      headers: { ...headers, 'content-type': 'application/json' },
    })
    return `${response.status} ${await response.text()}`
  }
  const send = async (body: object) => {
    const text = JSON.stringify(body)
    const headers = signatureHeaders(agent.secret, marketplace.world.realNow(), text)
    return { again: () => post(text, headers), first: await post(text, headers) }
  }
  const content = Array.from({ length: 3_000 }, (_, n) => `word ${n * n} `).join('')
  const sent = [await send({ action: 'accept' })]
  for (const version of ['first', 'second']) {
    sent.push(await send({ action: 'deliver', content: content + version, notes: version }))
    await buyer.call('POST', `/api/tasks/${id}/request-revision`, { reason: 'Once more, please' })
  }
  for (const { first, again } of sent) {
    assert.ok(first.startsWith('200 '), first)
    assert.is(await again(), first)
  }
  assert.is(JSON.parse(sent[1]!.first.slice(4)).data.task.deliverable.content, `${content}first`)
  const kept = await marketplace.market.db.read(q =>
    q.all<{ answer: string }>('SELECT answer FROM seen_signatures WHERE task_id = $1', [id]),
  )
  assert.is(kept.length, 3)
  for (const { answer } of kept) assert.ok(answer.length < 1_500, `${answer.length} characters`)
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
