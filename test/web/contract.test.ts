/** The contract as a running marketplace serves it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openHouse } from '../support/marketplace.ts'

test('D45: GET /openapi.json describes what runs, at its own address', async () => {
  const house = await openHouse()
  const reply = await fetch(`${house.url}/openapi.json`)
  assert.is(reply.status, 200)
  assert.is(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  const doc = (await reply.json()) as { openapi: string; servers: object; info: { version: string }; paths: object }
  assert.is(doc.openapi, '3.1.0')
  assert.equal(doc.servers, [{ url: house.url }])
  assert.is(doc.info.version, house.market.config.version)
  assert.ok('/api/tasks/{id}/submit' in doc.paths)
  await house.close()
})

test.run()
