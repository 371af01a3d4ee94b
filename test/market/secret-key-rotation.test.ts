// engines: embedded, postgres and narrow at length; process: shared
/** The key that seals secrets is rotated while everything goes on, and a rotation that is cut off goes on. Source: A-8. */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER, verify } from '../../src/api/signature.ts'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { keyId } from '../../src/market/sealing.ts'
import { inFolder } from '../store/folder.ts'
import { engine, freshDatabase } from '../support/databases.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestMarketplaceOptions,
  TestUser,
} from '../support/marketplace.ts'
import { sameNames } from '../support/same-names.ts'

const newKey = () => randomBytes(32).toString('base64')
const idOf = (key: string) => keyId(Buffer.from(key.trim(), 'base64'))

/** What every part of a rotation must leave as it was: webhooks are signed with the agent's secret, and codes are taken. */
interface Kept {
  agent: ListedAgent
  buyer: TestUser
  /** Has a second factor. */
  ann: TestUser
  totp: string
}

async function furnish(marketplace: TestMarketplace): Promise<Kept> {
  const [buyer, builder, ann] = [
    await marketplace.join('buyer', 500_000),
    await marketplace.join('builder'),
    await marketplace.join('ann'),
  ]
  const agent = await marketplace.list(builder)
  const { secret: totp } = await ann.client.beginTotp({ password: ann.password })
  await ann.client.confirmTotp({ code: totpCode(totp, marketplace.world.realNow()) })
  return { agent, buyer, ann, totp }
}

async function assertKept(marketplace: TestMarketplace, { agent, buyer, ann, totp }: Kept): Promise<void> {
  const by = new TestUser(marketplace.url)
  await by.client.login(buyer)
  await marketplace.freshen({ ...agent, builder: await signedIn(marketplace, agent.builder) })
  const before = agent.sink.received.length
  const task = await marketplace.draft(Object.assign(by, { key: buyer.key }), agent)
  await by.call('POST', `/api/tasks/${task.id}/submit`)
  await marketplace.webhooksSent()
  assert.is(agent.sink.received.length, before + 1)
  const { headers, ...webhook } = agent.sink.received.at(-1)!
  const { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signature } = headers
  const { secret } = agent
  assert.equal(verify({ secret, timestamp, signature, body: JSON.stringify(webhook), now: Number(timestamp) }), {
    ok: true,
  })
  assert.is((await marketplace.callback(agent, task.id, { action: 'accept' })).status, 200)
  marketplace.world.tick(60_000)
  await new TestUser(marketplace.url).client.login({ ...ann, totp: totpCode(totp, marketplace.world.realNow()) })
}

async function signedIn(marketplace: TestMarketplace, user: TestUser): Promise<TestUser> {
  const again = Object.assign(new TestUser(marketplace.url), { key: user.key })
  await again.client.login(user)
  return again
}

let starts = 0
/** Opens it again: with ids of its own, and the agent where it was. */
async function again(
  options: TestMarketplaceOptions,
  from: TestMarketplace,
  { agent }: Kept,
): Promise<TestMarketplace> {
  const marketplace = await openTestMarketplace({
    ...options,
    startMs: from.world.now() + 60_000,
    worldSeed: `${++starts}`,
  })
  agent.sink = Object.assign(marketplace.sink(), { secret: agent.secret })
  return marketplace
}

const rotate = ({ admin }: TestMarketplace) => admin.client.rotateSecretKey()
const seals = async ({ market }: TestMarketplace): Promise<string[]> =>
  market.db.read(async q => {
    const rows = await q.all<{ sealed: string }>(
      `SELECT secret AS sealed FROM agents WHERE secret IS NOT NULL UNION ALL SELECT secret FROM second_factors
       UNION ALL SELECT value FROM settings WHERE name = 'secret_key_check'`,
    )
    return [...new Set(rows.map(({ sealed }) => sealed.split('.')[0]!))]
  })

test(
  'a database file gets another key while webhooks and callbacks go on; the old one is set aside, for backups',
  inFolder(async file => {
    if (engine === 'postgres') return
    const marketplace = await openTestMarketplace({ file })
    const kept = await furnish(marketplace)
    const old = readFileSync(`${file}.key`, 'utf8')
    assert.equal((await marketplace.admin.client.adminSecretKey()).keys, [
      { id: idOf(old), seals: true, known: true, sealed: 2, canGo: false },
    ])
    const going = Promise.all([assertKept(marketplace, kept), rotate(marketplace)])
    const [, { done, resealed, keys }] = await going
    assert.is(done, true)
    assert.is(resealed, 2)
    const now = readFileSync(`${file}.key`, 'utf8')
    assert.is.not(now, old)
    assert.equal(keys, [{ id: idOf(now), seals: true, known: true, sealed: 2, canGo: false }])
    assert.equal(await seals(marketplace), [idOf(now)])
    assert.is(readFileSync(`${file}.key.old`, 'utf8'), old)
    await assertKept(marketplace, kept)
    // What nobody can open keeps the other key for as long as it is there.
    const { db } = marketplace.market
    await db.write(tx => tx.run(`UPDATE agents SET old_secret = 'deadbeef.of.nobody.here'`))
    const left = await rotate(marketplace)
    assert.equal([left.done, left.resealed], [false, 2])
    assert.ok(left.keys.some(({ id, known, sealed }) => id === 'deadbeef' && !known && sealed === 1))
    assert.is(readFileSync(`${file}.key`, 'utf8').trim().split('\n').length, 2)
    await db.write(tx => tx.run('UPDATE agents SET old_secret = NULL'))
    assert.equal(await rotate(marketplace).then(({ done, resealed }) => [done, resealed]), [true, 0])
    await marketplace.close()
    const later = await again({ file }, marketplace, kept)
    await assertKept(later, kept)
    await later.close()
  }),
)

test(
  'cut off behind any of its writes, it goes on behind the next start, and everything opens at each moment',
  inFolder(async file => {
    if (engine === 'postgres') return
    let marketplace = await openTestMarketplace({ file })
    const kept = await furnish(marketplace)
    const cutOff = () => Promise.reject(new Error('cut off'))
    // Before it has sealed anything, behind the first slice, behind the last, and when only the file is to be written.
    for (const writes of [0, 1, 1, null]) {
      const { db, keyFile } = marketplace.market
      const { write } = db
      let left = writes ?? 0
      if (writes === null) Object.assign(keyFile!, { end: cutOff })
      else
        Object.assign(db, {
          write: (...given: Parameters<typeof write>) => (left-- > 0 ? write(...given) : cutOff()),
        })
      const end = await rotate(marketplace).catch((error: Error) => error)
      Object.assign(db, { write })
      assert.instance(end, Error)
      await assertKept(marketplace, kept)
      await marketplace.close()
      assert.is(readFileSync(`${file}.key`, 'utf8').trim().split('\n').length, 2, 'both keys are there')
      marketplace = await again({ file }, marketplace, kept)
      await assertKept(marketplace, kept)
    }
    assert.is((await rotate(marketplace)).done, true)
    assert.is((await seals(marketplace)).length, 1)
    assert.is(readFileSync(`${file}.key`, 'utf8').trim().split('\n').length, 1)
    await assertKept(marketplace, kept)
    const names = readdirSync(dirname(file)).filter(name => name.includes('.key'))
    sameNames(names, ['market.db.key', 'market.db.key.old'])
    await marketplace.close()
  }),
)

test('given keys: the first seals and all open, none is dropped while something is sealed with it', async () => {
  const database = engine === 'postgres' ? await freshDatabase({ migrated: true }) : null
  await inFolder(async file => {
    const place = database ? { file: null, postgres: { url: database.url } } : { file }
    const [old, next] = [newKey(), newKey()]
    let marketplace = await openTestMarketplace({ ...place, secretKey: old })
    const kept = await furnish(marketplace)
    const alone = await rotate(marketplace).catch((error: Error) => error)
    assert.match(
      (alone as Error).message,
      /is given one key.*MARKETPLACE_SECRET_KEY=old,new, then every one with new,old/,
    )
    const restart = async (secretKey: string) => {
      await marketplace.close()
      marketplace = await again({ ...place, secretKey }, marketplace, kept)
    }
    await restart(`${old},${next}`)
    await assertKept(marketplace, kept)
    assert.equal(await seals(marketplace), [idOf(old)])
    await restart(`${next}, ${old}`)
    // Sealed with the new key from now on, beside what the old one has sealed.
    const { secret } = await (await signedIn(marketplace, kept.agent.builder)).client.rotateSecret({
      id: kept.agent.id,
    })
    kept.agent.secret = secret
    kept.agent.sink.secret = secret
    await assertKept(marketplace, kept)
    sameNames(await seals(marketplace), [idOf(old), idOf(next)])
    const { done, resealed, keys } = await rotate(marketplace)
    assert.is(done, true)
    assert.ok(resealed >= 1)
    assert.equal(
      keys.map(({ id, seals, canGo }) => [id, seals, canGo]),
      [
        [idOf(next), true, false],
        [idOf(old), false, true],
      ],
    )
    await restart(next)
    await assertKept(marketplace, kept)
    // Somebody seals with the old one again: an instance that was forgotten.
    await restart(`${next},${old}`)
    Object.assign(marketplace.market.config, {
      secretKey: Buffer.from(old, 'base64'),
      otherSecretKeys: [Buffer.from(next, 'base64')],
    })
    const ben = await marketplace.join('ben')
    await ben.client.beginTotp({ password: ben.password })
    const left = await restart(next).catch((error: Error) => error)
    assert.match((left as Error).message, `1 secrets of this database are sealed with the key ${idOf(old)}`)
    assert.match((left as Error).message, 'MARKETPLACE_SECRET_KEY=new,old')
    marketplace = await again({ ...place, secretKey: `${next},${old}` }, marketplace, kept)
    assert.is((await rotate(marketplace)).resealed, 1)
    await restart(next)
    await marketplace.close()
  })()
  await database?.drop()
})

test.run()
