// engines: embedded; process: shared
/** Credentials go to the marketplace that made them, and to nobody who does not say that it is that one. Source: A-198. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { proveInstance } from '../../src/cli/connection/instance-check.ts'
import type { Target } from '../../src/cli/connection/target.ts'
import type { Transport } from '../../src/client/transport.ts'

const transport = (headers: Record<string, string>) =>
  ({ send: async () => new Response('', { headers }) }) as unknown as Transport

const proven = (headers: Record<string, string>, by: 'dev' | 'login') =>
  proveInstance(transport(headers), { url: 'http://localhost:1', madeFor: { instance: 'one', by } } as Target).then(
    () => 'sent',
    (error: Error) => error.message,
  )

test('a server that names another instance, or none, gets no credential', async () => {
  assert.is(await proven({ 'x-service-instance': 'one' }, 'dev'), 'sent')
  for (const headers of [{}, { 'x-service-instance': '' }, { 'x-service-instance': 'two' }]) {
    for (const by of ['dev', 'login'] as const) assert.match(await proven(headers, by), 'so nothing was sent')
  }
})

test.run()
