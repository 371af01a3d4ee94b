// engines: postgres; process: shared; lengths: short, long
/** The delays of an account are one for all instances on a database. Source: A-193. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { guessing } from '../../../src/api/limits.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import { lockedGuesses } from '../../../src/store/tables/accounts/guesses.ts'
import { openInstances } from '../../support/instances.ts'
import { amount, isLong } from '../../support/length.ts'
import { tenNetworksGuess } from './ten-networks.ts'

test('guesses at one account count at every instance, however many arrive at one moment', async () => {
  const instances = await openInstances({ rateLimits: 'strict', trustProxy: 1 })
  const urls = [instances.marketplace.url, (await instances.join()).url]
  const { email } = await instances.marketplace.join('ann')
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const from = { 'x-forwarded-for': `203.0.${n}.1` }
      const body = { email, password: `guess ${n}` }
      return (await new HttpUser(urls[n % 2]!).ask('POST', '/api/auth/login', body, 'nobody', from)).status
    }),
  )
  const { free } = guessing.rules.newcomers
  assert.is(statuses.filter(status => status === 401).length, free)
  assert.is(statuses.filter(status => status === 429).length, 100 - free)
  await instances.close()
})

if (isLong)
  test('ten networks that guess at every instance do not keep the owner out who comes from new addresses', async () => {
    const instances = await openInstances({ rateLimits: 'strict', trustProxy: 1 })
    const urls = [instances.marketplace.url, (await instances.join()).url]
    await tenNetworksGuess(instances.marketplace, urls)
    await instances.close()
  })

test('a guess finds its row though retention removes what was forgotten at the same moment', async () => {
  const instances = await openInstances()
  const { db } = instances.marketplace.market
  const [ROUNDS, SUBJECT] = [amount({ short: 50, long: 200 }), 'forgotten']
  let isOver = false
  const remove = async () => {
    while (!isOver) await db.write(tx => tx.run('DELETE FROM guesses WHERE subject = $1', [SUBJECT]))
  }
  const removing = Promise.all([remove(), remove()])
  const guess = async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const row = await db.write(tx => lockedGuesses(tx, SUBJECT))
      assert.equal(row, { count: 0, nextAt: 0, endsAt: 0 })
    }
  }
  await Promise.all([guess(), guess()]).finally(() => {
    isOver = true
  })
  await removing
  await instances.close()
})

test.run()
