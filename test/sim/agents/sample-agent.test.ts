// engines: embedded; process: own
/** The simulator's own agent, before a marketplace that has closed. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Front } from '../../../src/sim/agents/https-front.ts'
import { startSampleAgent } from '../../../src/sim/agents/sample-agent.ts'
import { callbackSink, makeEvent, SECRET, send } from '../../client/toolkit.ts'
import { inTime, until } from '../../support/patience.ts'

/** No HTTPS before it. */
const front = { route: (_name: string, target: string) => target } as Front

/** Timers that keep the process alive. */
const timers = () => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length

test('a sample agent that is closed gives up the callback that it would send again, and keeps the process alive no longer', async () => {
  const marketplace = await callbackSink(503)
  const errors: string[] = []
  const agent = await startSampleAgent(front, error => errors.push(error.message))
  agent.use(SECRET)
  const before = timers()
  assert.is((await send(agent.url, makeEvent('task.submitted', marketplace.url))).status, 200)
  await inTime('a callback', marketplace.arrived(1))
  await until('the wait for its next attempt', () => timers() > before)
  await agent.close()
  const sent = marketplace.received.length
  await new Promise(resolve => setImmediate(resolve))
  assert.is(timers(), before, 'no timer is left that would send it again')
  assert.is(marketplace.received.length, sent)
  assert.equal(errors, [])
  marketplace.close()
})

test.run()
