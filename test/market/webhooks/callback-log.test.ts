// engines: embedded; process: shared
/** What the log says of a callback. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { LogEntry } from '../../../src/market/log.ts'
import { logCallback } from '../../../src/market/webhooks/callback-log.ts'
import { createVirtualWorld } from '../../../src/world/virtual.ts'

test('it says how long a callback took, and never less than no time', () => {
  const world = createVirtualWorld()
  const entries: LogEntry[] = []
  const log = (entry: LogEntry) => entries.push(entry)
  const callback = {
    taskId: 't',
    agentId: 'a',
    action: 'accept',
    via: 'key',
    status: 200,
    error: null,
    taskStatus: 'in_progress',
  } as const
  logCallback({ log, world }, { ...callback, since: world.realNow() - 25 })
  logCallback({ log, world }, { ...callback, since: world.realNow() + 3_600_000 })
  assert.equal(entries, [
    { type: 'callback', ...callback, ms: 25 },
    { type: 'callback', ...callback, ms: 0 },
  ])
})

test.run()
