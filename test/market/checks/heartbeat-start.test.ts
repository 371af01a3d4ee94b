// engines: embedded; process: shared
/** The timers of the heartbeat go on when the database is away. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { heartbeat } from '../../../src/api/limits.ts'
import { planHeartbeat, startHeartbeat } from '../../../src/market/checks/heartbeat.ts'
import { StoreError } from '../../../src/store/db.ts'
import { openBareMarket } from '../../support/bare-market.ts'

test('a heartbeat that finds no database is told of, and the next one is run', async () => {
  const { market, world, logged, settled, close } = await openBareMarket()
  await planHeartbeat(market)
  const read = market.db.read.bind(market.db)
  let reads = 0
  const { stop } = startHeartbeat(market)
  market.db.read = () => Promise.reject(new StoreError('made by a test'))
  world.tick(heartbeat.afterStartMs)
  await settled()
  assert.equal(logged, [{ type: 'error', message: 'The heartbeat could not be run: made by a test' }])
  market.db.read = work => {
    reads++
    return read(work)
  }
  world.tick(heartbeat.lookMs)
  await settled()
  assert.equal([reads, logged.length], [1, 1])
  await stop()
  await close()
})

test.run()
