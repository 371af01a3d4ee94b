// engines: embedded; process: shared
/** No text costs more than its length, whatever is in it. Source: A-49. */
import { createContext, Script } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type * as z from 'zod'
import type { Endpoint } from '../../../src/api/endpoint.ts'
import { endpoints } from '../../../src/api/endpoints/index.ts'
import { inputSchema } from '../../../src/api/openapi/json-schema.ts'
import { PATIENCE_MS } from '../../support/patience.ts'

const bodies = (Object.values(endpoints) as Endpoint[]).flatMap(({ body }) => (body ? [body] : []))

const parsing = new Script('parse()')
const inside = createContext({ parse: () => {} })

/** Throws where it does not end, also within a regular expression. */
function parseInTime(body: z.ZodType, input: object): void {
  inside.parse = () => body.safeParse(input)
  parsing.runInContext(inside, { timeout: PATIENCE_MS })
}

test('no text takes more than its length: one of a megabyte comes to an end', async () => {
  assert.ok(bodies.length > 30)
  const texts = [' ', 'a', 'a.', '@', 'a@a.', 'https://', '://', '\ud800', 'é'].map(one =>
    one.repeat(1_000_000 / one.length),
  )
  for (const body of bodies) {
    const { properties = {} } = inputSchema(body, {})
    for (const text of texts) {
      // A million steps for each character would take longer than anybody waits.
      parseInTime(body, Object.fromEntries(Object.keys(properties).map(field => [field, text])))
    }
  }
})

test.run()
