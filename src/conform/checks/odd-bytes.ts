/** What is odd about a webhook, and right: the agent takes it as any other. */
import type { Check, Level } from '../judging/check.ts'
import { worked } from './evidence.ts'
import { must } from './owed.ts'

type Law = Check['law']

const LENGTHS: Law = { source: 'I-task-input', quote: '`title` (5–200 characters); `description` (20–10,000)' }

const LOST = 'The task is lost, and its buyer does not learn why: to the marketplace the agent looks broken.'
const PARSE = 'Verify the raw bytes as they came, then read them with a JSON parser and nothing else.'

const works = (id: string, level: Level, title: string, law: Law, why: string, fix: string): Check => ({
  ...{ id, title, level, law, why, fix },
  ...{ scenario: 'odd bytes', after: ['sig.valid', ...(causes[id] ?? [])] },
  judge: history => worked(history, id),
})

/** Who verifies what it has written anew, or reads another encoding, shows that in several ways. */
const causes: Readonly<Record<string, readonly string[]>> = {
  'bytes.cut-letter': ['bytes.astral', 'http.two-at-once'],
  'bytes.spaces': ['sig.body-other-spelling'],
  'bytes.escapes': ['sig.body-other-spelling'],
  'bytes.numbers': ['sig.body-other-spelling'],
  'bytes.line-separators': ['bytes.astral'],
  'bytes.direction': ['bytes.astral'],
  'bytes.largest': ['bytes.astral'],
  'bytes.largest-escaped': ['bytes.escapes', 'bytes.largest'],
}

const spelled: readonly Check[] = [
  works(
    'bytes.key-order',
    'must',
    'works on a webhook whose fields come in another order',
    must.treatAlike,
    'The order of fields means nothing in JSON, and may be another after the next release of a marketplace.',
    'Read fields by their names. Do not search the text of the body.',
  ),
  works(
    'bytes.spaces',
    'must',
    'works on a webhook with line breaks and tabs between its fields',
    must.treatAlike,
    'Spaces mean nothing in JSON. An agent that signs its own formatting refuses every other.',
    PARSE,
  ),
  works(
    'bytes.escapes',
    'must',
    'works on a webhook whose letters are written as \\u0041 and whose slashes as \\/',
    must.treatAlike,
    'Programs in other languages write JSON in this way.',
    PARSE,
  ),
  works(
    'bytes.numbers',
    'should',
    'works on a price that is written as 500.0',
    { source: 'A-17', quote: '2e2 is an integer, "200" is none' },
    'Some programs write whole numbers in this way.',
    'Verify the raw bytes as they came. Read the price with a JSON parser, to which 500.0 is the number 500.',
  ),
  works(
    'bytes.charset',
    'should',
    'works on a webhook whose Content-Type names a charset',
    { source: 'I-webhook-request', quote: 'A webhook is a POST of JSON' },
    'A proxy on the way may add it.',
    'Compare the media type alone: what stands before the semicolon.',
  ),
]

const texts: readonly Check[] = [
  works(
    'bytes.astral',
    'must',
    'works on texts with emoji, combining characters and scripts of the world',
    must.treatAlike,
    LOST,
    'Read the body as UTF-8, once it is complete, and verify the bytes before.',
  ),
  {
    ...works(
      'bytes.cut-letter',
      'must',
      'works on a webhook that arrives in parts, cut within letters',
      must.treatAlike,
      'What is longer than a packet arrives in parts, and letters outside ASCII have several bytes. An agent that reads each part as text loses one buyer in many.',
      'Collect bytes, and make text of them when all are there: in Node Buffer.concat, never body += chunk.',
    ),
    scenario: 'framing',
  },
  works(
    'bytes.line-separators',
    'must',
    'works on texts with line breaks of every kind',
    must.treatAlike,
    LOST,
    'Do not split the body into lines. U+2028 and U+2029 may stand in JSON as they are.',
  ),
  works(
    'bytes.control',
    'must',
    'works on texts with control characters',
    must.treatAlike,
    LOST,
    'Take every character but NUL, and remove what your own tools can’t handle only where you use it.',
  ),
  works(
    'bytes.direction',
    'must',
    'works on texts with marks that turn the direction of writing',
    must.treatAlike,
    'An agent that tidies the text before it verifies the signature refuses every buyer who writes Arabic or Hebrew.',
    'Verify the bytes as they came. Normalise afterwards, if at all.',
  ),
  works(
    'bytes.markup',
    'must',
    'works on texts that a careless program would run',
    must.treatAlike,
    'Buyers write code, templates and markup because they mean it, and some because they mean harm.',
    'Never paste a text of a buyer into a template, a query, a command or a path: pass it as a value.',
  ),
]

const sizes: readonly Check[] = [
  works(
    'bytes.largest',
    'must',
    'works on the longest texts that a buyer may write',
    must.treatAlike,
    LOST,
    'Let your server take bodies of 256 KB. The longest texts take 61 KB as UTF-8.',
  ),
  works(
    'bytes.largest-escaped',
    'should',
    'works on the longest texts where each character is escaped',
    LENGTHS,
    'The same texts take 184 KB if a marketplace escapes each emoji.',
    'Let your server take bodies of 256 KB: many have a limit of 100 KB by default. Verify the raw bytes as they came.',
  ),
  works(
    'bytes.no-requirements',
    'must',
    'works on a task without requirements',
    must.treatAlike,
    'Most buyers write none.',
    'Expect none, and work without them.',
  ),
]

export const bytes: readonly Check[] = [...spelled, ...texts, ...sizes]
