// engines: embedded, postgres and narrow at length; process: shared
/** What a banned account has written goes, in many small transactions; money and what others bought stay. Source: A-292. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../src/api/records.ts'
import type { Actor } from '../../src/market/market.ts'
import { purgeVerbs } from '../../src/market/upkeep/purge.ts'
import type { Db } from '../../src/store/db.ts'
import type { SqliteDb } from '../../src/store/embedded/database.ts'
import { checkFile } from '../../src/store/embedded/verify.ts'
import { agents } from '../../src/store/tables/agents/agents.ts'
import { tasks } from '../../src/store/tables/tasks/tasks.ts'
import { engine } from '../support/databases.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace, type TestUser } from '../support/marketplace.ts'

const SECRET = 'zanzibar'
/** Not every text can stand there. */
const READ = ['tags', 'webhookUrl']
const text = (length: number) => `${SECRET} ${'w'.repeat(length)}`

interface Purge {
  rowsRemoved: number
  bytesRemoved: number
  openTasks: number
  done: boolean
  begunBy: string
}

const purge = ({ admin }: TestMarketplace, { id }: TestUser) =>
  admin.ask<Purge>('POST', `/api/admin/users/${id}/purge`, undefined, 'session')

async function hired(marketplace: TestMarketplace, buyer: TestUser, agent: ListedAgent, ...actions: object[]) {
  const fields = { title: 'A task of a test', description: text(3_000) }
  const { id } = await marketplace.draft(buyer, agent, fields)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  for (const action of actions) assert.is((await marketplace.callback(agent, id, action)).status, 200)
  return id
}

const accept = { action: 'accept' }
const deliver = { action: 'deliver', content: text(4_000) }

/** Where the word stands that the hostile account has written, by table. */
async function tablesWith(db: Db, word: string) {
  const found: Record<string, number> = {}
  for (const table of ['agents', 'samples', 'tasks', 'messages', 'reviews', 'deliverables', 'deliveries']) {
    const rows = await db.read(q => q.all<object>(`SELECT * FROM ${table}`))
    const count = rows.filter(row => JSON.stringify(row).includes(word)).length
    if (count > 0) found[table] = count
  }
  return found
}

async function furnished() {
  const marketplace = await openTestMarketplace()
  const [hostile, honest] = [await marketplace.join('hostile', 100_000), await marketplace.join('honest', 100_000)]
  const theirs = await marketplace.list(hostile, { description: text(1_000) })
  const ours = await marketplace.list(honest)
  await hostile.call('POST', `/api/my/agents/${theirs.id}/samples`, { title: 'A sample', output: text(5_000) })
  await marketplace.draft(hostile, ours, { description: text(2_000) })
  const bought = await hired(marketplace, honest, theirs, accept, deliver)
  await honest.call('POST', `/api/tasks/${bought}/approve`)
  const refunded = await hired(marketplace, honest, theirs, accept, deliver)
  await honest.call('POST', `/api/tasks/${refunded}/dispute`, { reason: 'It is not what was asked for' })
  await marketplace.admin.call('POST', `/api/admin/tasks/${refunded}/resolve`, { outcome: 'refund' })
  const theirBuy = await hired(marketplace, hostile, ours, accept, { action: 'deliver', content: 'Honest work.' })
  for (let n = 0; n < 3; n++) await hostile.call('POST', `/api/tasks/${theirBuy}/messages`, { content: text(500) })
  await hostile.call('POST', `/api/tasks/${theirBuy}/approve`)
  await hostile.call('POST', `/api/tasks/${theirBuy}/review`, { rating: 1, comment: text(100) })
  const open = await hired(marketplace, honest, theirs, accept)
  await marketplace.webhooksSent()
  // Every text that may be written there, those of later versions too.
  const { db } = marketplace.market
  for (const [{ name, written }, writer] of [
    [agents, 'builder_id'],
    [tasks, 'buyer_id'],
  ] as const)
    for (const column of written.filter(one => !READ.includes(one))) {
      const snake = column.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
      const values = [text(3_000), hostile.id]
      await db.write(tx => tx.run(`UPDATE ${name} SET ${snake} = $1 WHERE ${writer} = $2`, values))
    }
  return { marketplace, hostile, honest, theirs, ours, bought, refunded, theirBuy, open }
}

const ban = ({ admin }: TestMarketplace, { id }: TestUser) => admin.client.adminUpdateUser({ id, banned: true })

test('what a banned account has written goes; money, the work of others and what they bought stay', async () => {
  const { marketplace, hostile, honest, theirs, bought, refunded, theirBuy, open } = await furnished()
  const { db } = marketplace.market
  const early = await purge(marketplace, hostile)
  assert.is(early.status, 409)
  assert.match(early.error!, 'Only what a banned account has written is purged')
  await ban(marketplace, hostile)
  const before = [await marketplace.balances(hostile.id), await marketplace.balances(honest.id)]
  const first = (await purge(marketplace, hostile)).data!
  assert.equal([first.done, first.openTasks, first.begunBy], [true, 1, (await marketplace.admin.client.me()).user.id])
  assert.ok(first.rowsRemoved >= 12 && first.bytesRemoved > 20_000, JSON.stringify(first))
  assert.equal([await marketplace.balances(hostile.id), await marketplace.balances(honest.id)], before)
  await marketplace.checkLedger()
  const seen = (id: string) => honest.call<TaskRecord>('GET', `/api/tasks/${id}`)
  assert.match((await seen(bought)).deliverable!.content!, SECRET)
  assert.is((await seen(refunded)).deliverable, null)
  assert.match((await seen(theirBuy)).description, 'Removed by an administrator')
  assert.match((await seen(theirBuy)).deliverable!.content!, 'Honest work')
  assert.is((await honest.ask('GET', `/api/agents/${theirs.id}`)).status, 404)
  assert.is((await tablesWith(db, SECRET)).agents, 1, 'the agent waits for its open task')
  await marketplace.admin.call('POST', `/api/admin/tasks/${open}/resolve`, { outcome: 'refund' })
  await marketplace.webhooksSent()
  const second = (await purge(marketplace, hostile)).data!
  assert.equal([second.done, second.openTasks], [true, 0])
  const left = await tablesWith(db, SECRET)
  // Three descriptions are those of the honest account, and one deliverable it has bought.
  assert.equal(left, { tasks: 3, deliverables: 1, ...(left.deliveries && { deliveries: left.deliveries }) })
  const third = (await purge(marketplace, hostile)).data!
  assert.equal([third.done, third.rowsRemoved, third.bytesRemoved], [true, 0, 0], 'again removes nothing')
  await marketplace.checkLedger()
  await marketplace.close()
})

test('a purge that is cut off at any transaction goes on where it was, and removes the same', async () => {
  const whole = await furnished()
  await ban(whole.marketplace, whole.hostile)
  const expected = (await purge(whole.marketplace, whole.hostile)).data!
  await whole.marketplace.close()
  const { marketplace, hostile } = await furnished()
  await ban(marketplace, hostile)
  const { market } = marketplace
  const actor = { user: { id: 'usr_admin' }, via: 'session', credential: '' } as Actor
  let cut = 0
  for (;;) {
    let writes = 0
    const db = {
      ...market.db,
      read: market.db.read.bind(market.db),
      write: (<T>(work: Parameters<Db['write']>[0]) =>
        market.db.write(async tx => {
          const value = await work(tx)
          // The process ends before the commit of its third transaction.
          if (++writes === 3) throw new Error('cut off')
          return value as T
        })) as Db['write'],
    } as Db
    try {
      const input = { params: { id: hostile.id }, query: {}, body: {} }
      const ended = await purgeVerbs.purgeUser({ ...market, db, actor }, input as never)
      assert.equal([ended.done, ended.rowsRemoved, ended.openTasks], [true, expected.rowsRemoved, expected.openTasks])
      break
    } catch (error) {
      assert.match((error as Error).message, 'cut off')
      cut++
    }
  }
  assert.ok(cut > 8, `${cut} times cut off`)
  await marketplace.checkLedger()
  await marketplace.close()
})

test('an agent with more webhooks than one transaction empties: every one loses its body', async () => {
  const marketplace = await openTestMarketplace()
  const { db } = marketplace.market
  const [hostile, honest] = [await marketplace.join('hostile'), await marketplace.join('honest', 10_000)]
  const agent = await marketplace.list(hostile)
  const task = await marketplace.draft(honest, agent)
  await db.write(tx =>
    tx.run(
      `INSERT INTO deliveries (id, agent_id, task_id, event, body, state, attempts, next_at, created_at, ended_at)
       WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < 250)
       SELECT 'dlv_' || n, $1, $2, 'task.message', 'zanzibar', 'delivered', 1, 1, 1, 1 FROM series`,
      [agent.id, task.id],
    ),
  )
  await ban(marketplace, hostile)
  assert.is((await purge(marketplace, hostile)).data!.done, true)
  assert.equal(await tablesWith(db, SECRET), {})
  await marketplace.close()
})

// Postgres makes room for new rows by itself, and gives some of it back to the system.
if (engine === 'embedded') {
  test('the next snapshot gives the room of what was purged back to the file system', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purged-'))
    const file = join(folder, 'market.db')
    const marketplace = await openTestMarketplace({ file })
    const [hostile, honest] = [await marketplace.join('hostile', 10_000), await marketplace.join('honest')]
    const { id } = await marketplace.draft(hostile, await marketplace.list(honest), { title: 'A task to talk of' })
    await hostile.call('POST', `/api/tasks/${id}/submit`)
    for (let n = 0; n < 200; n++) {
      // Nothing that can be packed.
      await hostile.call('POST', `/api/tasks/${id}/messages`, { content: randomBytes(3_000).toString('base64') })
    }
    await hostile.call('POST', `/api/tasks/${id}/cancel`)
    await marketplace.webhooksSent()
    const size = async () => {
      await (marketplace.market.db as SqliteDb).snapshot()
      return statSync(file).size
    }
    const full = await size()
    await ban(marketplace, hostile)
    const { done, bytesRemoved } = (await purge(marketplace, hostile)).data!
    assert.ok(done && bytesRemoved > 200 * 4_000, `${bytesRemoved}`)
    const left = await size()
    assert.ok(left < full - bytesRemoved / 2, `${left} bytes of ${full}, of which ${bytesRemoved} were removed`)
    await marketplace.close()
    assert.equal((await checkFile(file)).problems, [])
    rmSync(folder, { recursive: true })
  })
}

test('the operator sees how full it is, and who fills it', async () => {
  const { marketplace, hostile, honest } = await furnished()
  const { admin, market } = marketplace
  await market.db.write(tx => tx.run('INSERT INTO file_usage (user_id, bytes) VALUES ($1, 5000)', [honest.id]))
  const whole = await admin.client.adminUsage()
  assert.equal(whole.files.limit, 51_200 * 1024 * 1024)
  assert.is(whole.database === null, market.db.fill === null)
  const { items, pagination } = await admin.client.adminListUsage({})
  assert.equal(
    items.map(({ name, textBytes }) => [name, textBytes > 20_000]),
    [
      ['hostile', true],
      ['honest', true],
    ].sort(() => (items[0]!.name === 'hostile' ? 0 : 1)),
  )
  assert.ok(items[0]!.textBytes >= items[1]!.textBytes)
  assert.is(pagination.total, 2)
  const byFiles = await admin.client.adminListUsage({ by: 'files' })
  assert.equal(
    byFiles.items.map(({ id, fileBytes, banned }) => [id, fileBytes, banned]),
    [[honest.id, 5_000, false]],
  )
  await ban(marketplace, hostile)
  const texts = async () =>
    (await admin.client.adminListUsage({})).items.find(({ id }) => id === hostile.id)?.textBytes ?? 0
  const before = await texts()
  await purge(marketplace, hostile)
  assert.ok((await texts()) < before - 30_000, `${await texts()} of ${before}`)
  await marketplace.close()
})

test.run()
