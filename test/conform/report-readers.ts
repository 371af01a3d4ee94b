/** Reports, as programs that others have written for them read them. */
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { Parser as TapParser } from 'tap-parser'
import * as assert from 'uvu/assert'
import * as z from 'zod'

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

const text = z.string()
const count = text.regex(/^\d+$/)
const seconds = text.regex(/^\d+(\.\d+)?$/)
const outcome = z.strictObject({ '@_type': text.optional(), '@_message': text.optional(), '#text': text.optional() })
const counts = { '@_tests': count, '@_failures': count, '@_errors': count }
/** What the xUnit plug-in of Jenkins takes, by its junit-10.xsd, as far as reports have it: any other attribute is refused there. */
const junitShape = z.strictObject({
  '@_name': text,
  ...counts,
  '@_time': seconds,
  testsuite: z.array(
    z.strictObject({
      ...{ '@_name': text, ...counts, '@_skipped': count, '@_time': seconds, '@_timestamp': text },
      testcase: z.array(
        z.strictObject({
          ...{ '@_classname': text, '@_name': text, '@_time': seconds },
          ...{ failure: outcome.optional(), error: outcome.optional(), skipped: outcome.optional() },
          ...{ 'system-out': text.optional(), 'system-err': text.optional() },
        }),
      ),
    }),
  ),
})

/** What a valid document tells. */
export function junitSuites(document: string): z.infer<typeof junitShape> {
  assert.is(XMLValidator.validate(document), true)
  const parser = new XMLParser({ ignoreAttributes: false, isArray: name => /^test(?:suite|case)$/.test(name) })
  return junitShape.parse(parser.parse(document).testsuites)
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
