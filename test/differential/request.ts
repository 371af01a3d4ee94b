/** A plan as it goes over the wire, still in names. */
import type { Endpoint } from '../../src/api/endpoint.ts'
import type { Request } from './pair.ts'
import type { Part, Plan } from './plan.ts'

export interface Sending {
  /** Whose allowance the request counts against. */
  address: string
  idempotencyKey?: string | undefined
}

export function requestOf(record: Endpoint, plan: Plan, { address, idempotencyKey }: Sending): Request {
  const headers: Request['headers'] = [...credentialOf(record, plan), ['x-forwarded-for', address]]
  if (idempotencyKey !== undefined) headers.push(['idempotency-key', idempotencyKey])
  const path = record.path.replaceAll(/:(\w+)/g, (_, param) => pathWord(plan.at?.[param] ?? 'none'))
  const { signed, form, query = {} } = plan
  const base = { method: record.method, target: `${path}${queryOf(query)}`, headers, ...(signed && { signed }) }
  if (form) return { ...base, headers: [...headers, ['content-type', MULTIPART]], body: multipart(form) }
  if (plan.body === undefined) return base
  return { ...base, headers: [...headers, ['content-type', 'application/json']], body: JSON.stringify(plan.body) }
}

/** For the message of a failure. */
export function toldRequest({ method, target, headers, body, signed }: Request): string {
  const lines = [`${method} ${target}`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  if (signed) lines.push(`(signed with ${signed.secret}, ${signed.ageMs} ms old)`)
  return [...lines, Buffer.isBuffer(body) ? `(${body.length} bytes)` : (body ?? '').slice(0, 4_000)].join('\n')
}

function* credentialOf({ auth }: Endpoint, { by, via }: Plan): Iterable<Request['headers'][number]> {
  if (!by) return
  const isSession = via ? via === 'session' : auth === 'session'
  const key = by.keys.at(-1)?.key
  const session = by.sessions.at(-1)
  if (!isSession && key) yield ['authorization', `Bearer ${key}`]
  else if (session) yield ['cookie', session]
}

/** Names stay as they are: what they stand for needs no encoding. */
const pathWord = (word: string) => (word.startsWith('‹') ? word : encodeURIComponent(word.toWellFormed()))

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${pathWord(String(value))}`)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

const BOUNDARY = 'a-boundary-of-parts'
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`

function multipart(parts: readonly Part[]): Buffer {
  const bytes = parts.flatMap(({ name, fileName, content }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"\r\ncontent-type: application/octet-stream`
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`
    return [Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')]
  })
  return Buffer.concat([...bytes, Buffer.from(`--${BOUNDARY}--\r\n`)])
}
