/** One JSON value as other programs write it: between reading a body and signing it they change its bytes. */

/** Tokens of JSON text. White space between them is left out. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s",:[\]{}]+|[,:[\]{}]/gs

type Spelling = (text: string) => string

const hex = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
const upperHex = (character: string) => `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
const asciiOnly = (json: string) => json.replace(/[\u007f-\uffff]/g, hex)

const plain: Spelling = text => JSON.stringify(text)
const ascii: Spelling = text => asciiOnly(JSON.stringify(text))
const slashes: Spelling = text => JSON.stringify(text).replaceAll('/', '\\/')
const asciiSlashes: Spelling = text => ascii(text).replaceAll('/', '\\/')
const html: Spelling = text => JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, hex)
const allButPlain: Spelling = text => {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return `"${inner.replace(/["<>&'+`\u007f-\uffff]/g, upperHex)}"`
}

/** How a program writes JSON. */
interface Writer {
  readonly comma: string
  readonly colon: string
  readonly spelling: Spelling
  /** Of true, false and null. */
  readonly literals?: Readonly<Record<string, string>>
}

const tight = (spelling: Spelling): Writer => ({ comma: ',', colon: ':', spelling })
const spaced = (spelling: Spelling): Writer => ({ comma: ', ', colon: ': ', spelling })

const writers: readonly (readonly [name: string, writer: Writer])[] = [
  ['json.dumps of Python', spaced(ascii)],
  ['json.dumps of Python with ensure_ascii=False', spaced(plain)],
  ["json.dumps of Python with separators=(',', ':')", tight(ascii)],
  ['a program that leaves out white space', tight(plain)],
  ['json.Marshal of Go', tight(html)],
  ['json_encode of PHP', tight(asciiSlashes)],
  ['json_encode of PHP with JSON_UNESCAPED_UNICODE', tight(slashes)],
  ['System.Text.Json of .NET', tight(allButPlain)],
]

const sortingWriters: readonly (readonly [name: string, writer: Writer])[] = [
  ['a program that sorts its keys', tight(plain)],
  ['json.dumps of Python with sort_keys=True', spaced(ascii)],
  ["json.dumps of Python with sort_keys=True and separators=(',', ':')", tight(ascii)],
  ['a program that sorts its keys and writes spaces', spaced(plain)],
  ['json.Marshal of Go with a map', tight(html)],
]

/** Yields the text as each program would write it. Yields nothing if it is no JSON. */
export function* rewritten(text: string): Iterable<readonly [name: string, text: string]> {
  const value = parsed(text)
  if (value === undefined) return
  yield ['JSON.stringify of JavaScript', JSON.stringify(value)]
  for (const [name, writer] of writers) yield [name, write(text, writer)]
  const sorted = JSON.stringify(sortedKeys(value))
  for (const [name, writer] of sortingWriters) yield [name, write(sorted, writer)]
  for (const indent of [2, 4, '\t']) {
    const json = JSON.stringify(value, null, indent)
    const what = indent === '\t' ? 'a tab' : `${indent} spaces`
    yield [`JSON.stringify of JavaScript with an indent of ${what}`, json]
    yield [`json.dumps of Python with an indent of ${what}`, asciiOnly(json)]
  }
}

/** Keeps the spelling of numbers, because not every program has the numbers of JavaScript. */
function write(text: string, { comma, colon, spelling, literals = {} }: Writer): string {
  const tokens = text.match(TOKEN) ?? []
  const written = tokens.map(token => {
    if (token === ',') return comma
    if (token === ':') return colon
    return token.startsWith('"') ? spelling(JSON.parse(token)) : (literals[token] ?? token)
  })
  return written.join('')
}

/** Returns undefined if the text is no JSON, or is nested too deeply for it. */
export function parsed(text: string): unknown {
  try {
    const value = JSON.parse(text)
    sortedKeys(value)
    return value
  } catch {
    return undefined
  }
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, one]) => [key, sortedKeys(one)]))
}

const literals = { true: 'True', false: 'False', null: 'None' }

/** A value as `str()` of Python writes it, such as `{'action': 'accept'}`. */
export const pythonText = (text: string) => write(text, { ...spaced(text => pythonString(text)), literals })

/** Bytes as `str()` of Python writes them: what an f-string makes of a body that was not decoded, `b'…'`. */
export const pythonBytes = (bytes: Uint8Array) =>
  `b${pythonString(Buffer.from(bytes).toString('latin1'), /[^\x20-\x7e]/g)}`

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it escapes
function pythonString(text: string, escaped = /[\x00-\x1f\x7f]/g): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const inner = text.replaceAll('\\', '\\\\').replace(escaped, character => {
    const code = character.charCodeAt(0).toString(16).padStart(2, '0')
    return escapes[character] ?? `\\x${code}`
  })
  return quote + (quote === "'" ? inner.replaceAll("'", "\\'") : inner) + quote
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }
