/** Reads a request's body and makes an object of it. Source: D17, D41. */
import type { IncomingMessage } from 'node:http'
import { invalid, refuse } from '../api/failures.ts'
import { limits } from '../api/limits.ts'
import { Gone } from './answer.ts'

const NOTHING = Buffer.alloc(0)
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** All bytes of the body. Rejects with `body_too_large` as soon as it is, and leaves the rest unread. */
export function readBody(req: IncomingMessage): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
  if (encoding === undefined && (length === undefined || length === '0')) return Promise.resolve(NOTHING)
  if (Number(length) > limits.jsonBytes) return Promise.reject(refuse('body_too_large', limits.jsonBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= limits.jsonBytes) return
      chunks.length = 0
      req.off('data', take).pause()
      reject(refuse('body_too_large', limits.jsonBytes))
    }
    const gone = () => reject(new Gone('The client left'))
    req
      .on('data', take)
      .once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
      .once('error', gone)
      .once('close', gone)
  })
}

/** The object in the body; an empty one if there is no body. Throws a refusal. */
export function parseBody(bytes: Buffer, type: string | undefined): object {
  if (bytes.length === 0) return {}
  if (!JSON_TYPE.test(type ?? '')) throw refuse('wrong_content_type', 'application/json')
  if (isTooDeep(bytes)) throw refuse('malformed_json', `it is nested deeper than ${limits.jsonDepth} levels`)
  const value = parseJson(decode(bytes))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw invalid({ body: ['must be a JSON object'] })
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
    // A key that sets a prototype when it is copied is dropped; it can also be written with escapes.
    const suspect = text.includes('__proto__') || text.includes('\\u')
    return suspect ? JSON.parse(text, (key, value) => (key === '__proto__' ? undefined : value)) : JSON.parse(text)
  } catch (error) {
    throw refuse('malformed_json', (error as Error).message)
  }
}

/** Counts brackets outside strings, before anything is built from them. */
function isTooDeep(bytes: Buffer): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === 0x22) inString = !inString
    else if (inString) {
      if (byte === 0x5c) i++ // a backslash takes the next byte with it
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > limits.jsonDepth) return true
    } else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return false
}
