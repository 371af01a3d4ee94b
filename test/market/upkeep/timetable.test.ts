// engines: embedded; process: shared
/** What falls due next. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ClockFollowers } from '../../../src/market/upkeep/clock-followers.ts'
import { nextMoment } from '../../../src/market/upkeep/timetable.ts'
import { openBareMarket } from '../../support/bare-market.ts'

test('the next moment is one after the given one, with all that falls due at it', async () => {
  const { market, world, close } = await openBareMarket()
  const at = world.now() + 60_000
  await market.db.write(async tx => {
    for (const [name, nextAt] of [
      ['one', at],
      ['two', at],
      ['later', at + 1],
    ])
      await tx.run('INSERT INTO jobs (name, next_at) VALUES ($1, $2)', [name!, nextAt!])
  })
  const next = (after: number) => market.db.read(q => nextMoment(q, market, after, 10))
  const ids = async (after: number) => (await next(after))?.things.map(({ id }) => id)
  assert.equal([(await next(world.now()))!.at, await ids(world.now())], [at, ['one', 'two']])
  assert.equal(await ids(at - 1), ['one', 'two'])
  assert.equal(await ids(at), ['later'])
  assert.is((await next(at - 1))!.total, 2)
  assert.is(await next(at + 1), null)
  const follower = { act: async () => {}, planned: () => [{ at: at + 2, id: 'buyer 1', about: 'usr_1' }] }
  market.memory.of(ClockFollowers).add(follower)
  const things = [{ kind: 'buyer', id: 'buyer 1', about: 'usr_1' }]
  assert.equal(await next(at + 1), { at: at + 2, things, total: 1 }, 'also where no row falls due')
  await close()
})

test.run()
