// Bugs of reading: what is odd about a webhook, and right, breaks the agent. A right agent passes everything on as it is.
import { isServed } from './buyers.mjs'
import { bug } from './switches.mjs'

/** Whether the server lets such a request in at all. */
export function isRefusedUnread({ headers }, body) {
  if (bug('limit-of-16-KB') && body.length > 16 * 1024) return true
  if (bug('limit-of-100-KB') && body.length > 100 * 1024) return true
  return bug('content-type-is-compared') && headers['content-type'] !== 'application/json'
}

/** The bytes that are verified. */
export function verifiedBytes(body) {
  if (bug('reads-latin1')) return Buffer.from(body.toString('latin1'))
  if (bug('strips-direction-marks')) return Buffer.from(body.toString().replace(/[\u202a-\u202e\u2066-\u2069]/g, ''))
  return body
}

/** The text of the event as it is parsed; null: it is taken for none. */
export function readText(body) {
  const text = body.toString('utf8')
  if (bug('expects-key-order') && !/^\{\s*"event"/.test(text)) return null
  if (bug('finds-event-by-pattern') && !/"event":"/.test(text)) return null
  if (bug('finds-title-by-pattern') && !/"title":\s*"[^"\\]*"/.test(text)) return null
  if (bug('finds-price-by-pattern') && !/"agreedPrice":\s*\d+\s*[,}]/.test(text)) return null
  if (bug('splits-lines')) return text.split(/[\u2028\u2029]/)[0]
  return text
}

/** Whether the program takes such an event. */
export function isFit({ data }) {
  if (data.test) return true
  if (!isServed(data)) return false
  if (bug('title-of-letters') && !/^[\x20-\u2fff]+$/u.test(data.title)) return false
  if (bug('refuses-control') && [...data.description].some(character => character < '\t')) return false
  return !(bug('needs-requirements') && !data.requirements)
}

/** What becomes of a text of the buyer on its way into the work. */
export function written(text) {
  if (!bug('runs-templates')) return text
  return text?.replace(/\{\{(.*?)\}\}/g, (_, code) => {
    throw new Error(`The template has ${code}`)
  })
}
