// engines: embedded, postgres at length; process: shared
/** How soon a webhook is tried again: as the interface says, unless a simulator is asked to be quick. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { quickRetryScheduleMs, retryJitter, retryScheduleMs } from '../../../src/api/limits.ts'
import type { OpenOptions } from '../../../src/open/options.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

/** The waits between all attempts at a webhook that is always refused. */
async function waitsOf(options: Partial<OpenOptions>): Promise<number[]> {
  const marketplace = await openTestMarketplace(options)
  const { market, world } = marketplace
  await marketplace.stopHeartbeat()
  const agent = await marketplace.list(await marketplace.join('builder'))
  const buyer = await marketplace.join('buyer', 5_000)
  agent.sink.status = 503
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  const waits: number[] = []
  for (;;) {
    await market.settled()
    const next = `SELECT next_at AS at FROM deliveries WHERE task_id = $1 AND state = 'pending'`
    const due = await market.db.read(q => q.get<{ at: number }>(next, [id]))
    if (!due) break
    waits.push(due.at - world.now())
    world.advance(due.at)
  }
  assert.is(agent.sink.received.length, waits.length + 1)
  await marketplace.close()
  return waits
}

const fits = (waits: readonly number[], schedule: readonly number[]) =>
  waits.length === schedule.length &&
  waits.every((wait, n) => Math.abs(wait - schedule[n]!) <= schedule[n]! * retryJitter + 1)

test('a simulator keeps the schedule of the interface unless it is asked to be quick', async () => {
  const real = await waitsOf({})
  assert.ok(fits(real, retryScheduleMs), real.join())
  assert.is(quickRetryScheduleMs.length, retryScheduleMs.length)
  const quick = await waitsOf({ retries: 'quick' })
  assert.ok(fits(quick, quickRetryScheduleMs), quick.join())
  assert.ok(quick[0]! + quick[1]! < 5_000, 'the third attempt comes within seconds')
})

test('a deployment is never quick', async () => {
  const marketplace = await openTestMarketplace({ mode: 'serve', retries: 'quick' })
  assert.equal(marketplace.market.config.retryScheduleMs, retryScheduleMs)
  await marketplace.close()
})

test.run()
