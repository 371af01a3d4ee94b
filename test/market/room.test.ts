// engines: embedded, postgres and narrow at length; process: shared; lengths: short, long
/** What an account may store: what it has proven, and how full the whole is. Source: A-291. */
import pg from 'pg'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { room } from '../../src/api/limits.ts'
import { roomOf } from '../../src/market/room.ts'
import type { Usage } from '../../src/store/tables/upkeep/usage.ts'
import { engine, freshDatabase } from '../support/databases.ts'
import { isLong } from '../support/length.ts'
import { openTestMarketplace, type TestMarketplace, TestUser } from '../support/marketplace.ts'

const MIB = 1024 * 1024
const TEXT = 'w'.repeat(5_000)

const agentFields = {
  name: 'An agent of a newcomer',
  tagline: 'Written to see whether there is room',
  description: TEXT,
  pricingModel: 'fixed',
  basePrice: 200,
  categoryIds: ['cat_writing'],
}

/** An account as anybody may have one: nothing of it is verified. */
async function newcomer({ url }: TestMarketplace, name: string): Promise<TestUser> {
  const user = new TestUser(url)
  user.email = `${name}@example.com`
  const { user: account } = await user.client.register({
    email: user.email,
    password: `${name} of a test`,
    name,
    isBuilder: true,
  })
  user.id = account.id
  user.key = (await user.client.createKey({ name: 'of a test' })).key
  return user
}

const writeAgent = (user: TestUser) => user.ask('POST', '/api/my/agents', agentFields)

const shareOf = ({ market }: TestMarketplace, usage: Usage, { id }: TestUser) =>
  market.db.read(q => roomOf({ ...market, tx: q }, usage, id))

/** Fills a database up to a part of its limit, without an account. */
async function fillTo({ market: { db } }: TestMarketplace, part: number) {
  const { bytes, limit } = db.fill!
  const values = [`filling ${part}`, 'x'.repeat(Math.max(0, part * limit - bytes))]
  await db.write(tx => tx.run('INSERT INTO settings (name, value) VALUES ($1, $2)', values))
}

/** A marketplace whose database is filled to this part. A server tells its size only now and then, so there the limit is set by it. */
async function openFilledTo(part: number) {
  if (engine === 'embedded') {
    const marketplace = await openTestMarketplace({ dbLimit: 12 * MIB })
    return { marketplace, fill: () => fillTo(marketplace, part), close: () => marketplace.close() }
  }
  const { url, drop } = await freshDatabase({ migrated: true })
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query('SELECT pg_database_size(current_database()) AS bytes')
  await client.end()
  const dbLimit = Math.floor(Number(rows[0].bytes) / part)
  const secretKey = Buffer.alloc(32).toString('base64')
  const marketplace = await openTestMarketplace({ postgres: { url }, secretKey, dbLimit })
  const close = async () => {
    await marketplace.close()
    await drop()
  }
  return { marketplace, fill: async () => {}, close }
}

test('an account begins with a part of its quota and earns the rest by money that comes in and by paid work', async () => {
  const marketplace = await openTestMarketplace({ keeping: { textMiB: 16, fileMiB: 32 } })
  const ann = await newcomer(marketplace, 'ann')
  const rooms = async (user: TestUser) =>
    [await shareOf(marketplace, 'text_usage', user), await shareOf(marketplace, 'file_usage', user)].map(
      bytes => bytes / MIB,
    )
  assert.equal(await rooms(ann), [1, 2])
  await ann.client.deposit({ amount: room.wholeAtCents / 4 })
  assert.equal(await rooms(ann), [5, 10])
  const bob = await newcomer(marketplace, 'bob')
  const agent = await marketplace.list(bob)
  const { id } = await marketplace.draft(ann, agent, { agreedPrice: room.wholeAtCents / 8 })
  await ann.call('POST', `/api/tasks/${id}/submit`)
  for (const action of [{ action: 'accept' }, { action: 'deliver', content: 'Done.' }])
    await marketplace.callback(agent, id, action)
  await ann.call('POST', `/api/tasks/${id}/approve`)
  assert.equal(await rooms(bob), [1, 2], 'what is not cleared is not paid')
  await marketplace.pass(49 * 3_600_000)
  assert.equal(await rooms(bob), [3, 6])
  assert.equal(await rooms(await marketplace.join('verified')), [16, 32])
  await marketplace.close()
})

test('beyond its room an account is told what it may have now, and why', async () => {
  const marketplace = await openTestMarketplace({ keeping: { textMiB: 1 } })
  const ann = await newcomer(marketplace, 'ann')
  const answers = []
  do answers.push(await writeAgent(ann))
  while (answers.at(-1)!.status === 201)
  assert.is(answers.length, 12, 'of 64 KiB')
  assert.match(
    answers.at(-1)!.error!,
    /^What one account writes, .* take at most 64 KiB now \(of 1 MiB: more with money that comes in and tasks that are paid, less as the marketplace fills\), and yours take 1 MiB/,
  )
  await ann.client.deposit({ amount: 5_000 })
  assert.is((await writeAgent(ann)).status, 201)
  await marketplace.close()
})

test('where seven tenths are full, newcomers come, pay, hire and are delivered to; what nobody has paid for waits', async () => {
  const { marketplace, fill, close } = await openFilledTo(0.7)
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  await fill()
  const ann = await newcomer(marketplace, 'ann')
  assert.is((await writeAgent(ann)).status, 400)
  await ann.client.deposit({ amount: 20_000 })
  assert.is((await writeAgent(ann)).status, 201)
  const { id } = await marketplace.draft(ann, agent)
  await ann.call('POST', `/api/tasks/${id}/submit`)
  for (const action of [{ action: 'accept' }, { action: 'deliver', content: TEXT }])
    assert.is((await marketplace.callback(agent, id, action)).status, 200)
  await ann.call('POST', `/api/tasks/${id}/approve`)
  await marketplace.checkLedger()
  await close()
})

test('of the last fifth only those have a share who have work open', async () => {
  const { marketplace, fill, close } = await openFilledTo(0.85)
  await fill()
  const ann = await newcomer(marketplace, 'ann')
  await ann.client.deposit({ amount: 50_000 })
  assert.is(await shareOf(marketplace, 'text_usage', ann), 0)
  const { market } = marketplace
  await market.db.write(tx => tx.run('UPDATE accounts SET balance = 200 WHERE id = $1', [`held:${ann.id}`]))
  assert.ok((await shareOf(marketplace, 'text_usage', ann)) > 32 * 1024)
  await market.db.write(tx => tx.run('UPDATE accounts SET balance = 0 WHERE id = $1', [`held:${ann.id}`]))
  await close()
})

test('files of all accounts together have a limit, and shares of what is left', async () => {
  const marketplace = await openTestMarketplace({ keeping: { allFilesMiB: 100 } })
  const [ann, bob] = [await newcomer(marketplace, 'ann'), await marketplace.join('bob')]
  const { db, world } = marketplace.market
  const part = (mark: number, used: number) => Math.floor((mark * 100 - used) * MIB * room.part)
  assert.is(await shareOf(marketplace, 'file_usage', ann), part(room.marks.unproven, 0))
  await db.write(tx => tx.run('INSERT INTO file_usage (user_id, bytes) VALUES ($1, $2)', [bob.id, 70 * MIB]))
  assert.is(await shareOf(marketplace, 'file_usage', ann), part(room.marks.unproven, 0), 'asked for now and then')
  marketplace.world.tick(room.lookMs)
  assert.ok(world.realNow() > 0)
  assert.is(await shareOf(marketplace, 'file_usage', ann), 0)
  assert.is(await shareOf(marketplace, 'file_usage', bob), part(room.marks.earned, 70))
  await marketplace.close()
})

if (isLong)
  test('fifty accounts that write all they may leave a newcomer room to register, pay, hire and be delivered to; purged, they leave all of it', async () => {
    if (engine === 'postgres') return // a server tells its size every ten seconds; how shares follow it is one function
    const marketplace = await openTestMarketplace({ dbLimit: 12 * MIB })
    const agent = await marketplace.list(await marketplace.join('builder'))
    let paid = 0
    const fifty: TestUser[] = []
    const greedy = async (n: number) => {
      const user = await newcomer(marketplace, `greedy-${n}`)
      fifty.push(user)
      // Every fifth one pays for more.
      if (n % 5 === 0) await user.client.deposit({ amount: 50_000 })
      while ((await writeAgent(user)).status === 201) paid++
    }
    for (let n = 0; n < 50; n++) await greedy(n)
    const { bytes, limit } = marketplace.market.db.fill!
    assert.ok(paid > 200 && bytes > 0.5 * limit && bytes < room.marks.earned * limit, `${paid} agents, ${bytes} bytes`)
    const sixth = await newcomer(marketplace, 'sixth')
    await sixth.client.deposit({ amount: 5_000 })
    const { id } = await marketplace.draft(sixth, agent)
    await sixth.call('POST', `/api/tasks/${id}/submit`)
    for (const action of [{ action: 'accept' }, { action: 'deliver', content: TEXT }])
      assert.is((await marketplace.callback(agent, id, action)).status, 200)
    await sixth.call('POST', `/api/tasks/${id}/approve`)
    const { admin } = marketplace
    for (const user of fifty) {
      await admin.client.adminUpdateUser({ id: user.id, banned: true })
      const purged = await admin.ask<{ done: boolean }>(
        'POST',
        `/api/admin/users/${user.id}/purge`,
        undefined,
        'session',
      )
      assert.ok(purged.data?.done, user.email)
    }
    assert.ok(
      marketplace.market.db.fill!.bytes < bytes / 2,
      `${marketplace.market.db.fill!.bytes} bytes are left of ${bytes}`,
    )
    await marketplace.checkLedger()
    await marketplace.close()
  })

test.run()
