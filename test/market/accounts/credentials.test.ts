// engines: embedded, postgres and narrow at length; process: shared
/** What a credential is worth at its end: a key that was deleted, one too many, a signature that was used. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/api/limits.ts'
import { sign } from '../../../src/api/signature.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import { checkedFetch } from '../../support/contract.ts'
import { openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'
import { exchange } from '../../support/wire.ts'

const MINUTE = 60_000

/** Somebody who holds this key and nothing else. */
function holderOf(marketplace: TestMarketplace, key: string) {
  const user = new HttpUser(marketplace.url, checkedFetch)
  user.key = key
  return async () => (await user.ask('GET', '/api/auth/me', undefined, 'key')).status
}

test('a key that was used until now fails on the first request after it was deleted, by whoever deleted it', async () => {
  const marketplace = await openTestMarketplace()
  const ann = await marketplace.join('ann')
  for (const by of ['session', 'key'] as const) {
    const { key, keyInfo } = await ann.client.createKey({ name: 'one more' })
    const use = holderOf(marketplace, key)
    assert.equal([await use(), await use()], [200, 200])
    await ann.client.deleteKey({ id: keyInfo.id }, { by })
    assert.is(await use(), 401)
    assert.is(await holderOf(marketplace, ann.key!)(), 200, 'the others go on')
  }
  const resting = holderOf(marketplace, ann.key!)
  await ann.client.updateMe({ isBuilder: false })
  assert.is(await resting(), 403, 'what the account may do is looked at as it is now')
  await marketplace.close()
})

test('of many keys made at one moment an account gets as many as it may have', async () => {
  const marketplace = await openTestMarketplace()
  const ann = await marketplace.join('ann')
  const { perAccount } = limits.key
  const room = 2
  for (let n = 1; n < perAccount - room; n++) await ann.client.createKey({ name: `key ${n}` })
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => ann.ask('POST', '/api/my/api-keys', { name: `at once ${n}` })),
  )
  assert.is(answers.filter(({ status }) => status === 201).length, room)
  assert.is(answers.filter(({ status }) => status === 400).length, 12 - room)
  assert.is((await ann.client.listKeys()).pagination.total, perAccount)
  await marketplace.close()
})

test('a signed callback that is sent again nine minutes later has no second effect', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 100_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  // As far ahead as clocks may differ, so that it is good for nearly ten minutes.
  const timestamp = String(marketplace.world.realNow() + 5 * MINUTE)
  const body = JSON.stringify({ action: 'message', content: 'Just once.' })
  const signature = sign(agent.secret, Number(timestamp), body)
  const send = async () =>
    exchange(
      marketplace.url,
      'POST',
      `/api/agent/tasks/${id}/callback`,
      [
        ['content-type', 'application/json'],
        ['x-service-timestamp', timestamp],
        ['x-service-signature', signature],
      ],
      body,
    )
  const first = await send()
  assert.is(first.status, 201)
  for (const minutes of [1, 8]) {
    marketplace.world.tick(minutes * MINUTE)
    await marketplace.runDue()
    const again = await send()
    assert.equal([again.status, again.body], [201, first.body])
  }
  assert.is((await buyer.client.listMessages({ id })).pagination.total, 1)
  marketplace.world.tick(2 * MINUTE)
  await marketplace.runDue()
  assert.is((await send()).status, 401, 'by then the signature itself is too old')
  await marketplace.close()
})

test.run()
