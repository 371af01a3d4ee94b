// engines: embedded, postgres and narrow at length; process: shared
/** Where an account is signed in: listed, ended, bounded, and never longer than its password. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/api/limits.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import { checkedFetch } from '../../support/contract.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../../support/marketplace.ts'

/** Signs in at another place. */
async function signIn(
  marketplace: TestMarketplace,
  { email, password }: TestUser,
  headers: Record<string, string> = {},
) {
  const user = new HttpUser(marketplace.url, checkedFetch)
  const { status } = await user.ask('POST', '/api/auth/login', { email, password }, 'nobody', headers)
  assert.is(status, 200)
  return user
}

const isSignedIn = async (user: HttpUser) => (await user.ask('GET', '/api/auth/me')).status === 200

test('sessions are listed with where they began, newest first, and one ends alone', async () => {
  const marketplace = await openTestMarketplace({ trustProxy: 1 })
  const ann = await marketplace.join('ann')
  marketplace.world.tick(1000)
  const phone = await signIn(marketplace, ann, { 'x-forwarded-for': '198.51.100.7', 'user-agent': 'A phone' })
  marketplace.world.tick(1000)
  const tablet = await signIn(marketplace, ann, { 'x-forwarded-for': '2001:db8::1', 'user-agent': 'x'.repeat(5_000) })
  const { items, pagination } = await ann.client.listSessions()
  assert.is(pagination.total, 3)
  assert.equal(
    items.map(({ address, userAgent, current }) => [address, userAgent, current]),
    [
      ['2001:db8:0:0::/64', 'x'.repeat(limits.session.userAgent), false],
      ['198.51.100.7', 'A phone', false],
      ['127.0.0.1', items[2]!.userAgent, true],
    ],
  )
  const second = await ann.client.listSessions({ page: 2, limit: 1 })
  assert.equal(second.items, [items[1]])
  assert.equal(await ann.client.endSession({ id: items[1]!.id }), { id: items[1]!.id })
  assert.equal([await isSignedIn(phone), await isSignedIn(tablet), await isSignedIn(ann)], [false, true, true])
  assert.equal(await ann.client.endOtherSessions(), { ended: 1 })
  assert.equal([await isSignedIn(tablet), await isSignedIn(ann)], [false, true])
  await marketplace.close()
})

test('a password that is changed while it is verified signs nobody in', async () => {
  const marketplace = await openTestMarketplace()
  const { email, password, id } = await marketplace.join('ann')
  const { db } = marketplace.market
  const write = db.write.bind(db)
  // As the change would that is committed just before the sign-in has the row.
  db.write = work =>
    write(tx => {
      const lock: typeof tx.lock = async (table, row) => {
        await tx.lock(table, row)
        if (table === 'users') await tx.run(`UPDATE users SET password_hash = 'another' WHERE id = $1`, [row])
      }
      const get = (real: typeof tx, name: string) => {
        const found = name === 'lock' ? lock : Reflect.get(real, name, real)
        return typeof found === 'function' ? found.bind(real) : found
      }
      return work(new Proxy(tx, { get: get as never }))
    })
  const { status } = await new HttpUser(marketplace.url, checkedFetch).ask(
    'POST',
    '/api/auth/login',
    { email, password },
    'nobody',
  )
  db.write = write
  assert.is(status, 401)
  const { count } = (await db.read(q =>
    q.get<{ count: number }>('SELECT COUNT(*) AS count FROM sessions WHERE user_id = $1', [id]),
  ))!
  assert.is(count, 1)
  await marketplace.close()
})

test("somebody else's session can't be ended, and a key ends none", async () => {
  const marketplace = await openTestMarketplace()
  const [ann, bob] = [await marketplace.join('ann'), await marketplace.join('bob')]
  const { id } = (await ann.client.listSessions()).items[0]!
  assert.is((await bob.ask('DELETE', `/api/auth/sessions/${id}`)).status, 403)
  assert.is((await ann.ask('DELETE', '/api/auth/sessions', undefined, 'key')).status, 403)
  assert.ok(await isSignedIn(ann))
  await marketplace.close()
})

test('a new login ends the session that the browser came with, so that a planted one is worth nothing', async () => {
  const marketplace = await openTestMarketplace()
  const ann = await marketplace.join('ann')
  const before = ann.client.credentials.session!
  const planted = new HttpUser(marketplace.url, checkedFetch)
  planted.client.credentials.session = before
  const { email, password } = ann
  assert.is((await ann.ask('POST', '/api/auth/login', { email, password }, 'session')).status, 200)
  assert.is.not(ann.client.credentials.session, before)
  assert.equal([await isSignedIn(planted), await isSignedIn(ann)], [false, true])
  await marketplace.close()
})

test('an account keeps a bounded number of sessions, and the one seen longest ago gives way', async () => {
  const marketplace = await openTestMarketplace()
  const ann = await marketplace.join('ann')
  const parties: HttpUser[] = []
  for (let n = 0; n < limits.session.perAccount; n++) {
    marketplace.world.tick(1)
    parties.push(await signIn(marketplace, ann))
  }
  assert.not(await isSignedIn(ann))
  assert.ok(await isSignedIn(parties[0]!))
  assert.is((await parties[0]!.client.listSessions({ limit: 1 })).pagination.total, limits.session.perAccount)
  await marketplace.close()
})

test.run()
