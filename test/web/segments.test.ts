// engines: embedded; process: shared
/** Which router a request goes to. */
import type { IncomingMessage } from 'node:http'
import polka from 'polka'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { locationOf, segmentsIn } from '../../src/web/server.ts'

test('segments are counted as a router sees them: without the query, and without a slash at the end', () => {
  const counts = { '/': 1, '': 0, '*': 0, '/healthz': 1, '/healthz/': 1, '/api/tasks/x': 3, '/api/tasks/x/?a=/b/c': 3 }
  for (const [target, count] of Object.entries(counts)) assert.is(segmentsIn(target), count, target)
  assert.is(segmentsIn('/api//tasks'), 3)
  assert.is(segmentsIn('/a?/'), 1)
})

test('a target is taken apart as polka does it, and its query is left to others', () => {
  const { parse } = polka()
  const targets = ['/', '', '*', '/a', '/a?', '/a?b=c', '/a?b=c#d?e', '/a#d?e', '?a', '#a', '/?#', '/a?b#', '/a?b?c']
  for (const url of targets) {
    const request = () => ({ url }) as IncomingMessage
    assert.equal(locationOf(request()), { ...parse(request()), query: undefined }, url)
  }
})

test.run()
