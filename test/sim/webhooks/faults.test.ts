// engines: embedded; process: shared
/** What a fault sends, and how often. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { overtakenUntil } from '../../../src/sim/webhooks/faults.ts'
import type { OutgoingResult } from '../../../src/world/world.ts'
import { until } from '../../support/patience.ts'

const busy: OutgoingResult = { ok: true, status: 503, headers: {}, body: '', durationMs: 0 }

test('one that was overtaken is sent to a busy agent six times, each signed anew', async () => {
  const sent: number[] = []
  const fault = overtakenUntil(
    async () => {},
    (_webhook: number, attempt) => attempt,
  )
  const send = async (attempt: number) => {
    sent.push(attempt)
    return busy
  }
  const result = await fault.play(0, send)
  assert.is(result.ok && result.status, 200)
  await until('the last attempt', () => sent.length === 6)
  assert.equal(sent, [1, 2, 3, 4, 5, 6])
})

test.run()
