/** Parses the bytes of a JSON body. Source. */
import { invalid, refuse } from './failures.ts'
import { limits } from './limits.ts'

const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns the object in the body, an empty one if there is no body. Throws a refusal. */
export function parseBody(bytes: Buffer, type: string | undefined): Record<string, unknown> {
  if (bytes.length === 0) return {}
  const value = parsed(bytes, type)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalid({ body: ['must be a JSON object'] })
}

const FORM_TYPE = /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i
/** No form of these pages has as many fields. */
const MOST_FIELDS = 32

/** Returns the fields of an HTML form. Throws a refusal. */
export function parseForm(bytes: Buffer, type: string | undefined): Record<string, string> {
  if (!FORM_TYPE.test(type ?? '')) throw refuse('wrong_content_type', 'application/x-www-form-urlencoded')
  const fields: Record<string, string> = Object.create(null)
  const text = bytes.toString()
  if (text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS)
    throw refuse('bad_request', `A form has at most ${MOST_FIELDS} fields`)
  // A browser ends lines as mails do; what people type is stored as they see it.
  for (const [name, value] of new URLSearchParams(text)) fields[name] = value.replaceAll('\r\n', '\n')
  return fields
}

/** Checks the body of a request that needs none: it may have any valid JSON. Throws a refusal. Source: A-48. */
export function proveJson(bytes: Buffer, type: string | undefined): void {
  if (bytes.length > 0) parsed(bytes, type)
}

function parsed(bytes: Buffer, type: string | undefined): unknown {
  if (!JSON_TYPE.test(type ?? '')) throw refuse('wrong_content_type', 'application/json')
  const fault = bulkFault(bytes)
  if (fault) throw refuse('malformed_json', fault)
  return parseJson(decode(bytes))
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw refuse('malformed_json', 'it is not UTF-8')
  }
}

function parseJson(text: string): unknown {
  try {
    // Drops keys that would set a prototype when they are copied. They can also be written with escapes.
    const suspect = text.includes('__proto__') || text.includes('\\u')
    return suspect ? JSON.parse(text, (key, value) => (key === '__proto__' ? undefined : value)) : JSON.parse(text)
  } catch (error) {
    throw refuse('malformed_json', (error as Error).message.toWellFormed()) // its excerpt may end within a character
  }
}

/**
 * Counts brackets and commas outside strings before parsing, because parsed values cost far more memory than their bytes.
 */
function bulkFault(bytes: Buffer): string | null {
  let depth = 0
  let commas = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === 0x22) inString = !inString
    else if (inString) {
      if (byte === 0x5c) i++ // the byte after a backslash is escaped
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > limits.jsonDepth) return `it is nested deeper than ${limits.jsonDepth} levels`
    } else if (byte === 0x7d || byte === 0x5d) depth--
    else if (byte === 0x2c && ++commas > limits.jsonCommas) return `it holds more than ${limits.jsonCommas} values`
  }
  return null
}
