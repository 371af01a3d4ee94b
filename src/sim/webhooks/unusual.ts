/** Webhooks that look unusual and are genuine all the same. A right agent accepts each. Source: I-webhook-body, A-17, A-37. */
import { durations, limits, retryScheduleMs } from '../../api/limits.ts'
import { type WebhookContent, webhookBody } from '../../api/webhook-request.ts'

export interface Dress {
  readonly name: string
  /** What is unusual about the webhook. */
  readonly does: string
  dress(content: WebhookContent): Dressed
}

/** What the marketplace signs and sends. */
interface Dressed {
  body: string
  /** How long before it is sent it was signed, in ms. */
  signedBeforeMs?: number
  /** The number of the attempt; 1 unless given. */
  attempt?: number
  contentType?: string
}

type Data = Record<string, unknown>

const spelled = (name: string, does: string, spell: (content: WebhookContent) => string): Dress => ({
  name,
  does,
  dress: content => ({ body: spell(content) }),
})

/** Replaces texts that a buyer writes. */
const worded = (name: string, does: string, words: Data): Dress =>
  spelled(name, does, content => webhookBody({ ...content, data: { ...content.data, ...words } }))

const reversed = (value: object) => Object.fromEntries(Object.entries(value).reverse())

/** Writes every character of every text as a Unicode escape, and slashes as `\/`. Names of fields stay as they are. */
function escaped(value: unknown): string {
  if (typeof value === 'string') return `"${value.replace(/[\s\S]/g, escapedUnit)}"`
  if (Array.isArray(value)) return `[${value.map(escaped).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}:${escaped(inner)}`)
    .join()}}`
}

const escapedUnit = (unit: string) => (unit === '/' ? '\\/' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const longest = (character: string): Data => ({
  title: character.repeat(limits.task.title[1]),
  description: character.repeat(limits.task.description[1]),
  requirements: character.repeat(limits.task.requirements[1]),
})

const lastAttempt = retryScheduleMs.length + 1
const scheduleMs = retryScheduleMs.reduce((sum, step) => sum + step, 0)

export const dresses: readonly Dress[] = [
  spelled('unknown-field', 'has fields that this version does not name', content =>
    JSON.stringify({ ...content, version: 2, data: { ...content.data, labels: ['new'], audit: { by: null } } }),
  ),
  spelled('key-order', 'has its fields in reverse order', ({ event, timestamp, data }) =>
    JSON.stringify({ data: reversed(data), timestamp, event }),
  ),
  spelled('whitespace', 'has line breaks and tabs between its fields', content =>
    JSON.stringify(content, null, '\t').replaceAll('\n', '\r\n'),
  ),
  spelled('escapes', 'writes letters as \\u0041 and slashes as \\/', content => escaped(content)),
  spelled('numbers', 'writes a price of 500 as 500.0', content =>
    webhookBody(content).replace(/("agreedPrice":)(\d+)/, '$1$2.0'),
  ),
  worded('astral', 'has emoji, joined and combining characters', {
    title: 'Übersetze 👩‍👩‍👧 e\u0301 𝒜 漢字',
    description: 'Ein Text mit 🏳️‍🌈, 𝔘𝔫𝔦𝔠𝔬𝔡𝔢, Z\u0351\u0346a\u0316lgo und العربية, alles in einer Beschreibung.',
  }),
  worded('line-separators', 'has line breaks of every kind in its texts', {
    description: 'First line\r\nsecond\u2028third\u2029fourth\tand a tab, as people paste them from somewhere.',
  }),
  worded('control', 'has control characters in its texts', {
    description: 'A bell \u0007, an escape \u001b[31m and a \u0001: every character but NUL is lawful here.',
  }),
  worded('direction', 'has marks that turn the direction of writing', {
    title: 'Bill \u202egpj.exe\u202c for \u2066review\u2069',
  }),
  worded('markup', 'has texts that a careless program runs', {
    title: `<script>alert(1)</script>' OR 1=1; --`,
    description: '$(id) `id` {{7*7}} #{7*7} %s %n ../../etc/passwd <img src=x onerror=alert(1)> "quoted" \\back',
  }),
  worded('large', 'has the longest texts that a buyer may write', longest('😀')),
  spelled('large-escaped', 'has the longest texts, each character escaped', content =>
    escaped({ ...content, data: { ...content.data, ...longest('\u00e9') } }),
  ),
  {
    name: 'charset',
    does: 'names its encoding in Content-Type',
    dress: content => ({ body: webhookBody(content), contentType: 'application/json; charset=utf-8' }),
  },
  {
    name: 'slow-wire',
    does: 'is signed 4 minutes before it comes',
    dress: content => ({ body: webhookBody(content), signedBeforeMs: durations.signatureToleranceMs - 60_000 }),
  },
  {
    name: 'late-retry',
    does: 'is the last attempt: its body is more than a day old, its signature new',
    dress: ({ event, timestamp, data }) => {
      const since = new Date(Date.parse(timestamp) - scheduleMs).toISOString()
      return { body: webhookBody({ event, timestamp: since, data }), attempt: lastAttempt }
    },
  },
]
