// engines: embedded, postgres; process: shared; lengths: short, long
/**
 * Many hire an agent at the moment at which its builder or an administrator changes it: an agent that is gone has no task, every other change is
 * before or after each task, and the money is right. On Postgres the requests go to three instances in turn. Source: I-open-work, A-31.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Tx } from '../../../src/store/db.ts'
import { softDelete } from '../../../src/store/tables/agents/agents.ts'
import { lockedHiringTerms } from '../../../src/store/tables/tasks/hiring-terms.ts'
import { ofAgent } from '../../../src/store/tables/tasks/work-sums.ts'
import { amount } from '../../support/length.ts'
import type { ListedAgent } from '../../support/marketplace.ts'
import { openFixture } from '../../support/task-fixture.ts'

const ROUNDS = amount({ short: 2, long: 15 })
const AT_ONCE = 8

const { marketplace, urls, users } = await openFixture({ instances: 3 })
const { builder } = users
const buyers = await Promise.all(
  Array.from({ length: AT_ONCE }, (_, n) => marketplace.join(`hiring ${n}`.replace(' ', '-'), 100_000)),
)
test.after(() => marketplace.close())

async function answerOf(n: number, method: string, path: string, key: string, body?: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const given = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const answer = await fetch(urls[n % urls.length] + path, given)
  return { status: answer.status, body: (await answer.json()) as { data?: { status?: string } } }
}

/** How many were hired, while `change` was made. */
async function race(agent: ListedAgent, change: () => Promise<unknown>) {
  const drafts = await Promise.all(buyers.map(buyer => marketplace.draft(buyer, agent, { agreedPrice: 500 })))
  const [submits] = await Promise.all([
    Promise.all(drafts.map(({ id }, n) => answerOf(n, 'POST', `/api/tasks/${id}/submit`, buyers[n]!.key!))),
    change(),
  ])
  for (const { status } of submits) assert.ok(status === 200 || status === 400, String(status))
  const states = await Promise.all(drafts.map(({ id }, n) => answerOf(n, 'GET', `/api/tasks/${id}`, buyers[n]!.key!)))
  for (const [n, { body }] of states.entries())
    assert.is(body.data?.status, submits[n]!.status === 200 ? 'pending' : 'draft')
  await marketplace.checkLedger()
  const hired = drafts.filter((_, n) => submits[n]!.status === 200)
  for (const [n, { id }] of drafts.entries())
    if (submits[n]!.status === 200) await answerOf(n, 'POST', `/api/tasks/${id}/cancel`, buyers[n]!.key!)
  return hired.length
}

const changes: Readonly<Record<string, readonly [method: string, path: string, body?: object]>> = {
  deactivation: ['POST', '/deactivate'],
  'another secret': ['POST', '/webhook-secret'],
  'another price': ['PUT', '', { basePrice: 700, maxRevisions: 1 }],
}

for (const [name, [method, path, body]] of Object.entries(changes))
  test(`${name} ‖ submits: it waits for none of them, and each is before or after`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const agent = await marketplace.list(builder)
      let status = 0
      await race(agent, async () => {
        ;({ status } = await answerOf(round, method, `/api/my/agents/${agent.id}${path}`, builder.key!, body))
      })
      assert.ok(status === 200 || status === 201, String(status))
      const late = await marketplace.draft(buyers[0]!, agent).catch(() => null)
      if (late && name === 'deactivation') {
        const answer = await answerOf(round, 'POST', `/api/tasks/${late.id}/submit`, buyers[0]!.key!)
        assert.is(answer.status, 400, 'nobody is hired after it')
      }
    }
  })

for (const field of ['suspended', 'banned'])
  test(`an administrator makes a builder ${field} ‖ submits: each is before or after, and nobody is hired after it`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const other = await marketplace.join(`${field}-${round}`)
      const agent = await marketplace.list(other)
      const late = await marketplace.draft(buyers[0]!, agent)
      await race(agent, () => marketplace.admin.call('PUT', `/api/admin/users/${other.id}`, { [field]: true }))
      const { status } = await answerOf(round, 'POST', `/api/tasks/${late.id}/submit`, buyers[0]!.key!)
      assert.is(status, 400)
    }
  })

test('deletion ‖ submits: an agent that is gone has no open task, and one that has work is not gone', async () => {
  for (let round = 0; round < ROUNDS * 3; round++) {
    const agent = await marketplace.list(builder)
    let status = 0
    // At another moment each time.
    const hired = await race(agent, async () => {
      await new Promise(resolve => setTimeout(resolve, round * 3))
      ;({ status } = await answerOf(round, 'DELETE', `/api/my/agents/${agent.id}`, builder.key!))
    })
    assert.is(status === 200, hired === 0, `${status}, ${hired} hired`)
  }
})

test('a deletion waits for who hires at this moment, and sees the task', async () => {
  const { db, world } = marketplace.market
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyers[0]!, agent)
  const hold = (tx: Tx, cents: number) => tx.runAll(ofAgent({ id, agentId: agent.id }, { held: cents }))
  const order: string[] = []
  let goOn = () => {}
  const held = new Promise<void>(resolve => {
    goOn = resolve
  })
  let begun = () => {}
  const isBegun = new Promise<void>(resolve => {
    begun = resolve
  })
  const hiring = db.write(async tx => {
    await lockedHiringTerms(tx, id)
    await hold(tx, 500)
    begun()
    await held
    order.push('hired')
  })
  await isBegun
  const deletion = db
    .write(async tx => {
      setTimeout(goOn, 50)
      const deleted = await softDelete(tx, agent.id, world.now())
      order.push('deleted')
      return deleted
    })
    .finally(goOn)
  // Where writers go one by one, the deletion has not begun.
  setTimeout(goOn, 200)
  assert.is(await deletion, 0)
  await hiring
  assert.equal(order, ['hired', 'deleted'])
  await db.write(tx => hold(tx, -500))
})

test.run()
