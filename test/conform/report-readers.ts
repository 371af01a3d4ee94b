/** Reports, as programs that others have written for them read them. */
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import { Parser as TapParser } from 'tap-parser'
import * as assert from 'uvu/assert'

/** The names of the points that are red, as a reader of TAP sees them. */
export async function tapFailures(text: string): Promise<string> {
  const parser = new TapParser()
  const complete = new Promise<{ failures: { name: string }[]; plan: { end: number }; count: number }>(resolve =>
    parser.on('complete', resolve),
  )
  parser.end(text)
  const { failures, plan, count } = await complete
  assert.is(count, plan.end)
  return failures.map(({ name }) => name).join()
}

/** What a valid log tells. */
export function sarifRun(text: string) {
  const require = createRequire(import.meta.url)
  const ajv = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false })
  // It is of a draft whose words mean the same here.
  const { $schema: _, id: _id, ...schema } = require('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json')
  const validate = ajv.compile(schema)
  const log = JSON.parse(text)
  assert.ok(validate(log) as boolean, JSON.stringify(validate.errors))
  return log.runs[0]
}
