// engines: embedded, postgres at length; process: shared
/** The simulator's clock over the wire: forward, within years that have four digits, with words of its own. Source: A-44. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lastClockMs } from '../../../src/api/limits.ts'
import { openWorld } from '../../../src/open/world.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

interface Clock {
  now: string
  offsetMs: number
}

test('the clock goes no further than the year 9000, whatever the way, so that no date has a fifth digit', async () => {
  const marketplace = await openTestMarketplace()
  await marketplace.stopHeartbeat()
  const move = (body: object) => marketplace.admin.ask<Clock>('POST', '/api/dev/clock', body, 'key')
  const refused = async (body: object, why: RegExp) => {
    const answer = await move(body)
    assert.is(answer.status, 400, JSON.stringify(body))
    assert.match(JSON.stringify(answer.errors ?? answer.error), why)
  }
  const before = (await marketplace.admin.call<Clock>('GET', '/api/dev/clock', undefined, 'key')).now
  await refused({ to: '9999-12-31T23:59:59Z' }, /no further than 9000-01-01T00:00:00.000Z/)
  await refused({ to: new Date(lastClockMs + 1).toISOString() }, /no further/)
  await refused({ to: '2020-01-01T00:00:00Z' }, /only goes forward/)
  await refused({ to: 'tomorrow' }, /must be a time like 2030-01-31T12:00:00Z/)
  await refused({ to: '+010000-01-01T00:00:00Z' }, /must be a time like/)
  await refused({ advanceMs: -1 }, /must not be negative/)
  await refused({ advanceMs: 1.5 }, /whole number of milliseconds/)
  await refused({ advanceMs: 315_360_000_001 }, /ten years/)
  await refused({}, /either advanceMs or to/)
  assert.is((await marketplace.admin.call<Clock>('GET', '/api/dev/clock', undefined, 'key')).now, before)
  assert.is((await move({ to: new Date(lastClockMs).toISOString() })).data!.now, '9000-01-01T00:00:00.000Z')
  await refused({ advanceMs: 1 }, /no further/)
  assert.is((await move({ advanceMs: 0 })).status, 200)
  await marketplace.close()
})

test('a clock that is moved by more than a day answers when the agents are listed again', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  for (let i = 0; i < 23; i++) await marketplace.list(builder)
  const listed = async () => (await marketplace.visitor.client.listAgents({ limit: 50 })).pagination.total
  assert.is(await listed(), 23)
  await marketplace.admin.call('POST', '/api/dev/clock', { advanceMs: 2 * 86_400_000 }, 'key')
  assert.is(await listed(), 23)
  await marketplace.admin.call('POST', '/api/dev/clock', { advanceMs: 40 * 86_400_000, jump: true }, 'key')
  assert.is(await listed(), 23)
  await marketplace.close()
})

test('how far the clock was moved is known to the next start of a simulator, and a deployment heeds none of it', async () => {
  const marketplace = await openTestMarketplace()
  await marketplace.stopHeartbeat()
  const hoursAhead = async (mode: 'dev' | 'serve') => {
    const world = await openWorld({ mode } as Parameters<typeof openWorld>[0], marketplace.market.db)
    return Math.round((world.now() - world.realNow()) / 3_600_000)
  }
  assert.equal([await hoursAhead('dev'), await hoursAhead('serve')], [0, 0])
  for (const _ of [1, 2]) await marketplace.admin.call('POST', '/api/dev/clock', { advanceMs: 36_000_000 }, 'key')
  assert.equal([await hoursAhead('dev'), await hoursAhead('serve')], [20, 0])
  await marketplace.close()
})

test.run()
