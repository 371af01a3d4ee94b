/** Reports, as programs that others have written for them read them. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { XMLParser } from 'fast-xml-parser'
import { Parser as TapParser } from 'tap-parser'
import * as assert from 'uvu/assert'
import { validateXML } from 'xmllint-wasm'
import * as z from 'zod'

const schema = (name: string) => readFileSync(`test/conform/schemas/${name}`, 'utf8')

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
/** What the xUnit plug-in of Jenkins takes today, as far as reports have it: any other attribute is refused there. */
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

/** Since the schema was published a reason for leaving out may be an attribute; before it was the text. */
const asPublished = (document: string) => document.replace(/<skipped message=("[^"]*")\/>/g, '<skipped>$1</skipped>')

/** What a valid document tells. */
export async function junitSuites(document: string): Promise<z.infer<typeof junitShape>> {
  const { valid, rawOutput } = await validateXML({ xml: asPublished(document), schema: schema('jenkins-junit-4.xsd') })
  assert.ok(valid, rawOutput)
  const parser = new XMLParser({ ignoreAttributes: false, isArray: name => /^test(?:suite|case)$/.test(name) })
  return junitShape.parse(parser.parse(document).testsuites)
}

const ajv = new Ajv2020({ strict: false, unicodeRegExp: false })
ajvFormats.default(ajv)
const validateSarif = ajv.compile(JSON.parse(schema('sarif-2.1.0.json')))

/** What a valid log tells. */
export function sarifRun(text: string) {
  const log = JSON.parse(text)
  assert.ok(validateSarif(log) as boolean, JSON.stringify(validateSarif.errors))
  return log.runs[0]
}
