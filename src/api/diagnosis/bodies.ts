/** What people sign instead of the bytes of the body. */
import { limits } from '../limits.ts'
import { type Cause, type Form, type Forms, right, wrong } from './causes.ts'
import { parsed, pythonBytes, pythonText, rewritten } from './json-writers.ts'

type Change = readonly [cause: Cause, text: string, signed: Buffer | string]

/** Bodies that are longer than the interface allows are compared as they are. */
export function bodiesOf(body: Buffer): Forms<Buffer> {
  let made: Form<Buffer>[] | undefined
  return {
    right: [right(body)],
    // Made when the first is needed: they take thirty times the memory of the body.
    get wrong() {
      made ??= body.length > limits.jsonBytes ? [] : [...different(body, [...textChanges(body), ...jsonChanges(body)])]
      return made
    },
    rare: [],
  }
}

function* different(body: Buffer, changes: readonly Change[]): Iterable<Form<Buffer>> {
  const seen = new Set([body.toString('latin1')])
  for (const [cause, text, signed] of changes) {
    const bytes = Buffer.from(signed as string)
    const mark = bytes.toString('latin1')
    if (seen.has(mark)) continue
    seen.add(mark)
    yield wrong(cause, text, bytes)
  }
}

function* jsonChanges(body: Buffer): Iterable<Change> {
  const text = body.toString()
  for (const [name, written] of rewritten(text.replace(/^\ufeff/, ''))) {
    yield ['parsed_body', `What was signed is the body as ${name} writes it anew.`, written]
    if (name.includes(' of Go')) {
      yield ['parsed_body', `What was signed is the body as json.Encoder of Go writes it anew.`, `${written}\n`]
    }
  }
  const value = parsed(text)
  if (typeof value === 'object' && value !== null) {
    const signed = Array.isArray(value) ? listText(value) : '[object Object]'
    const name = Array.isArray(value) ? 'String(array)' : signed
    yield ['stringified_body', `What was signed in the place of the body is ${name}: it was an object.`, signed]
    yield ['stringified_body', 'What was signed is the body as str() of Python writes a dictionary.', pythonText(text)]
  }
  // The body may have been stringified before it was sent.
  if (typeof value === 'string') {
    yield ['stringified_body', 'What was sent is the text that was signed, as JSON once more.', value]
  }
}

/** Like String(), which throws if a value of the body is called toString. */
function listText(list: readonly unknown[]): string {
  const texts = list.map(one => {
    if (Array.isArray(one)) return listText(one)
    return typeof one === 'object' && one !== null ? '[object Object]' : String(one ?? '')
  })
  return texts.join(',')
}

function* textChanges(body: Buffer): Iterable<Change> {
  const text = body.toString()
  const latin1 = body.toString('latin1')
  yield ['bom', 'What was signed lacks the byte order mark of the body.', text.replace(/^\ufeff/, '')]
  yield ['bom', 'What was signed begins with a byte order mark that the body has not.', `\ufeff${text}`]
  yield ['line_break', 'What was signed ends with a line break that the body has not.', `${text}\n`]
  yield ['line_break', 'What was signed ends with a line break of Windows that the body has not.', `${text}\r\n`]
  yield ['line_break', 'What was signed lacks the line break at the end of the body.', text.replace(/\r?\n$/, '')]
  yield ['line_break', 'What was signed lacks the white space around the body.', text.trim()]
  yield ['line_ends', 'What was signed has LF where the body has CRLF.', text.replaceAll('\r\n', '\n')]
  yield ['line_ends', 'What was signed has CRLF where the body has LF.', text.replace(/\r?\n/g, '\r\n')]
  yield ['encoding', 'What was signed is the body in Latin-1, not in UTF-8.', Buffer.from(text, 'latin1')]
  yield ['encoding', 'What was signed is the body read as Latin-1 and written as UTF-8.', latin1]
  yield ['encoding', 'What was signed is the body in UTF-16.', Buffer.from(text, 'utf16le')]
  yield ['encoding', 'What was signed has a replacement character for each byte that is not UTF-8.', text]
  yield ['encoding', 'What was signed has question marks for letters beyond ASCII.', text.replace(/[^\0-\x7f]/gu, '?')]
  for (const form of ['NFC', 'NFD']) {
    yield ['encoding', `What was signed has its accents in another form (${form}).`, text.normalize(form)]
  }
  yield ['body_not_signed', 'The timestamp was signed with no body at all.', '']
  for (const word of ['undefined', 'null', 'None', '{}', '""']) {
    yield ['body_not_signed', `The text ${word} was signed in the place of the body.`, word]
  }
  yield ['stringified_body', 'What was signed is the body as JSON once more, in quotes.', JSON.stringify(text)]
  yield ['stringified_body', "What was signed is b'…', the text of Python's bytes.", pythonBytes(body)]
  yield [
    'stringified_body',
    'What was signed is the list of the body’s bytes, as Go prints it.',
    `[${[...body].join(' ')}]`,
  ]
  yield ['stringified_body', 'What was signed is the JSON of a Buffer.', JSON.stringify(body)]
  yield ['stringified_body', 'What was signed is the body in base64.', body.toString('base64')]
  yield ['stringified_body', 'What was signed is the body in hex digits.', body.toString('hex')]
}

/** A body that has a time of its own invites to sign that one. */
export function timesIn(body: Buffer): string[] {
  const { timestamp } = (parsed(body.toString()) ?? {}) as { timestamp?: unknown }
  return typeof timestamp === 'string' || typeof timestamp === 'number' ? [String(timestamp)] : []
}
