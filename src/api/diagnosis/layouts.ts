/** Which time people sign, and how they join it with the body. */
import { TIMESTAMP_HEADER } from '../signature.ts'
import { type Flaw, type Form, type Forms, right, wrong } from './causes.ts'

/** What is signed before and behind the body. */
export interface Layout {
  readonly head: string
  readonly tail: string
}

export interface Stamp {
  /** The header as it came. */
  readonly text: string
  /** The time it stands for; null if it can't be read. */
  readonly ms: number | null
  readonly flaws: readonly Flaw[]
}

/** Reads the value of the timestamp header as kindly as possible. */
export function readStamp(text: string): Stamp {
  const plain = text.trim().replace(/^(["'])(.*)\1$/, '$2')
  const found = (cause: Flaw['cause'], what: string, ms: number): Stamp => ({
    text,
    ms,
    flaws: [{ cause, text: `${TIMESTAMP_HEADER} is ${what}.` }],
  })
  if (/^\d{13}$/.test(text)) return { text, ms: Number(text), flaws: [] }
  if (/^\d{13}$/.test(plain)) return found('malformed_timestamp', 'in quotes or has white space', Number(plain))
  if (/^\d{9,10}(?:\.\d+)?$/.test(plain)) return found('seconds', 'in seconds', Math.round(Number(plain) * 1000))
  if (/^\d{13}\.\d+$/.test(plain))
    return found('other_unit', 'in milliseconds with a fraction', Math.floor(Number(plain)))
  if (/^\d{16}$/.test(plain)) return found('other_unit', 'in microseconds', Number(plain.slice(0, 13)))
  if (/^\d{19}$/.test(plain)) return found('other_unit', 'in nanoseconds', Number(plain.slice(0, 13)))
  const ms = /[-:]/.test(plain) ? Date.parse(plain) : Number.NaN
  if (!Number.isNaN(ms)) return found('iso_timestamp', 'a date as text', ms)
  return {
    text,
    ms: null,
    flaws: [{ cause: 'malformed_timestamp', text: `${TIMESTAMP_HEADER} is no Unix time.` }],
  }
}

/** How far from the header's time another reading of the clock is looked for. */
const NEAR_MS = 100

/** `given`: other texts of the request that may have been signed: its ids, and times within the body. */
export function layoutsOf({ text, ms }: Stamp, given: Given): Forms<Layout> {
  const times = [right(text), ...otherTimes(text, ms, given.times)]
  const all = times.flatMap(time =>
    arrangements.map(({ value, flaws }) => ({
      value: value(time.value),
      flaws: [...time.flaws, ...flaws],
    })),
  )
  const unique = [...firstOfEach(all)]
  const ids = given.ids.map(id =>
    wrong('other_order', 'An id was signed too, as Standard Webhooks does.', { head: `${id}.${text}.`, tail: '' }),
  )
  const near = ms === null ? [] : nearTimes(ms)
  return {
    right: unique.filter(({ flaws }) => flaws.length === 0),
    wrong: [...unique.filter(({ flaws }) => flaws.length === 1), ...ids],
    rare: [...unique.filter(({ flaws }) => flaws.length === 2), ...near],
  }
}

export interface Given {
  readonly ids: readonly string[]
  readonly times: readonly string[]
}

type Arrangement = Form<(time: string) => Layout>

const before =
  (separator: string) =>
  (time: string): Layout => ({ head: time + separator, tail: '' })

const arrangements: readonly Arrangement[] = [
  right(before('.')),
  wrong('body_alone', 'The body was signed alone, without the timestamp.', () => ({ head: '', tail: '' })),
  wrong('no_dot', 'There was no dot between timestamp and body.', before('')),
  ...[':', ',', '|', '-', '_', '/', '+', '&', ';', ' ', '\n', '. ', '\\n', '..'].map(separator =>
    wrong('other_separator', `${nameOf(separator)} stood between timestamp and body, not a dot.`, before(separator)),
  ),
  wrong('other_order', 'The body was signed before the timestamp.', time => ({ head: '', tail: `.${time}` })),
  wrong('other_order', 'The body was signed before the timestamp, and without a dot.', time => ({
    head: '',
    tail: time,
  })),
]

function nameOf(separator: string): string {
  const names: Record<string, string> = { ' ': 'A space', '\n': 'A line break', '. ': 'A dot and a space' }
  return names[separator] ?? `“${separator}”`
}

/** The same moment in other words. */
function* otherTimes(text: string, ms: number | null, inBody: readonly string[]): Iterable<Form<string>> {
  const seen = new Set([text])
  const others = [...(ms === null ? [] : spellings(ms)), ...inBody.map(time => [`the time in the body`, time] as const)]
  for (const [what, time] of others) {
    if (seen.has(time)) continue
    seen.add(time)
    yield wrong('other_timestamp_signed', `What was signed begins with ${what}, not with ${TIMESTAMP_HEADER}.`, time)
  }
}

function spellings(ms: number): (readonly [what: string, time: string])[] {
  const iso = isoOf(ms)
  if (iso === null) return []
  const seconds = Math.floor(ms / 1000)
  const [date, time = ''] = iso.slice(0, -1).split('T')
  const whole = time.slice(0, 8)
  const micro = time.endsWith('.000') ? whole : `${time}000`
  return [
    ['the time in milliseconds', String(ms)],
    ['the time in seconds', String(seconds)],
    ['the time in seconds with a fraction', String(ms / 1000)],
    ['the time in seconds with a fraction', `${seconds}.0`],
    ['the time in milliseconds with a fraction', `${ms}.0`],
    ['the time in microseconds', `${ms}000`],
    ['the time in nanoseconds', `${ms}000000`],
    ['the time as an ISO text', iso],
    ['the time as an ISO text', `${date}T${whole}Z`],
    ['the time as an ISO text of Python', `${date}T${micro}+00:00`],
    ['the time as an ISO text of Python', `${date}T${micro}`],
    ['the time as a text of Python', `${date} ${micro}`],
    ['the time as a text of Python', `${date} ${micro}+00:00`],
    ['the time as an HTTP date', new Date(ms).toUTCString()],
    ['the time as Java prints a double', `${String(ms)[0]}.${String(ms).slice(1).replace(/0+$/, '') || '0'}E12`],
  ]
}

function isoOf(ms: number): string | null {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

function* nearTimes(ms: number): Iterable<Form<Layout>> {
  for (let away = 1; away <= NEAR_MS; away++) {
    for (const [other, word] of [
      [ms + away, 'later'],
      [ms - away, 'earlier'],
    ] as const) {
      const text = `The time that was signed is ${away} ms ${word} than ${TIMESTAMP_HEADER}.`
      yield wrong('clock_read_twice', text, { head: `${other}.`, tail: '' })
    }
  }
}

/** Without the timestamp all times are alike. The first form of each has the fewest flaws. */
function* firstOfEach(forms: readonly Form<Layout>[]): Iterable<Form<Layout>> {
  const seen = new Set<string>()
  for (const form of forms) {
    const mark = JSON.stringify(form.value)
    if (!seen.has(mark)) yield form
    seen.add(mark)
  }
}
