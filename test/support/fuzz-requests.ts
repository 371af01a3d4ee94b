/** Requests that nobody should send: half right after the endpoint's own record, then broken in one or more ways. */
import { z } from 'zod'
import type { Endpoint } from '../../src/api/endpoint.ts'
import type { Chance } from '../../src/world/chance.ts'
import { multipartMaker } from './fuzz-multipart.ts'
import { requestBytes, type WireHeader } from './wire.ts'

export interface FuzzRequest {
  /** What it is, in words. */
  name: string
  bytes: Buffer
  isHead: boolean
  /** Needs a connection of its own, as what follows on it can't be understood. */
  alone: boolean
  /** Ends before it is complete, so that no answer is due. */
  cut: boolean
}

/** What a half-right request is made of. */
export interface Pool {
  host: string
  /** Real ids of every kind. */
  ids: readonly string[]
  /** Header values of credentials that work. */
  credentials: readonly WireHeader[]
  /** Works too, but not for what moves time or ends its own session. */
  admin: readonly WireHeader[]
  /** The headers of a right signature over this body, for tasks of the pool. */
  sign(body: string | Buffer): WireHeader[]
}

interface Shape {
  type?: string
  enum?: unknown[]
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  items?: Shape
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}

const odd: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    -0,
    -1,
    1.5,
    1e21,
    2 ** 53 + 1,
    Number.MAX_VALUE,
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\u202e',
    '200',
  ],
  ...[
    [],
    [[]],
    {},
    { $ne: 1 },
    [null],
    'x'.repeat(60_000),
    '😀'.repeat(6_000),
    "' OR 1=1 --",
    '../../etc/passwd',
    '%00',
  ],
]
const oddSegments = [
  ...[
    '%00',
    '%E0%A4%A',
    '%',
    '%zz',
    '..',
    '.',
    '%2e%2e%2f',
    'a%2Fb',
    '',
    '%20',
    '😀',
    '%F0%9F%98%80',
    'x'.repeat(300),
    'null',
  ],
  ...['__proto__', 'constructor', "'", '%27%20OR%201=1', ';', '*', '%0d%0aX-Injected:%201', '%ff', '-1', 'task_0'],
]
const oddTargets = [
  ...[
    '//',
    '///',
    '/',
    '/api',
    '/api/',
    '/api//agents',
    '/api/agents/',
    '/API/AGENTS',
    '/api/agents?%',
    '/api/agents?q=%E0%A4%A',
  ],
  ...[
    '/api/agents?page=1&page=2',
    '/api/agents?q[]=1&q[a]=2',
    '/api/agents?__proto__[x]=1',
    `/api/agents?q=${'a'.repeat(9_000)}`,
  ],
  ...[
    '/api/agents?limit=1e2',
    '/api/agents?page=-1',
    '/api/agents?q=%00',
    '/%00',
    '/%E0%A4%A',
    '/..;/api/agents',
    '/api/./agents',
  ],
  ...[
    'http://elsewhere.example/api/agents',
    'https://127.0.0.1/',
    'http://',
    '*',
    '/api/agents#x',
    '/\\',
    '/api\\agents',
    '/?',
    '/%2F%2F',
  ],
]
const oddCookies = [
  'session',
  'session=',
  '=',
  ';;;',
  'session=%',
  'session=%00',
  'session=a; session=b',
  '__proto__=1',
  'a'.repeat(8_000),
]
const oddKeys = [
  'Bearer',
  'Bearer ',
  'bearer svc_',
  'Basic eDp5',
  'svc_x',
  'Bearer svc_\u00e9',
  `Bearer svc_${'a'.repeat(5_000)}`,
  ' ',
]
const oddHeaders: readonly WireHeader[] = [
  ...(['text/plain', 'application/json; charset=utf-16', 'multipart/form-data', 'application/jsonp', ''] as const).map(
    type => ['content-type', type] as const,
  ),
  ['content-encoding', 'gzip'],
  ['origin', 'https://elsewhere.example'],
  ['origin', 'null'],
  ['sec-fetch-site', 'cross-site'],
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-for', '1.2.3.4, , '],
  ['expect', '100-continue'],
  ['expect', 'the unexpected'],
  ['x-service-signature', 'f'.repeat(64)],
  ['x-service-timestamp', '1767225600000'],
  ['range', 'bytes=0-'],
  ['if-none-match', '*'],
  ['idempotency-key', 'x'.repeat(3_000)],
  ['connection', 'upgrade, close'],
  ['te', 'trailers'],
]
const repeatKeys = ['one', 'two', 'three', '"quoted"', 'x'.repeat(255), 'x'.repeat(256), '', 'é', 'a b', '\t']
const oddMethods = ['PATCH', 'OPTIONS', 'TRACE', 'HEAD', 'PROPFIND', 'DELETE', 'PUT', 'GET', 'POST', 'CONNECT', 'PURGE']

export function fuzzer(endpoints: readonly Endpoint[], pool: Pool, chance: Pick<Chance, 'fraction'>) {
  const below = (count: number) => Math.floor(chance.fraction() * count)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
  const maybe = (share: number) => chance.fraction() < share
  const shapes = new Map(endpoints.map(record => [record, record.body ? shapeOf(record.body) : undefined]))
  const queries = new Map(endpoints.map(record => [record, record.query ? shapeOf(record.query) : undefined]))

  function fitting(name: string, shape: Shape): unknown {
    if (shape.enum) return pick(shape.enum)
    if (shape.anyOf) return fitting(name, pick(shape.anyOf))
    if (/id$/i.test(name)) return pick(pool.ids)
    if (shape.type === 'object') return objectOf(shape)
    if (shape.type === 'array') return Array.from({ length: 1 + below(3) }, () => fitting(name, shape.items ?? {}))
    if (shape.type === 'boolean') return maybe(0.5)
    if (shape.type === 'integer' || shape.type === 'number') {
      const { minimum = 0, maximum = 1_000 } = shape
      const inside = [minimum, minimum + 1, Math.min(maximum, minimum + 500), maximum]
      return pick(sound ? inside : [...inside, minimum - 1, maximum + 1])
    }
    const { minLength = 1, maxLength = 40 } = shape
    return pick(['a', 'é', '😀']).repeat(
      pick([minLength, maxLength, minLength, Math.min(maxLength, minLength + 20), sound ? minLength : maxLength + 1]),
    )
  }

  const multipart = multipartMaker(chance)
  const takingFiles = endpoints.filter(record => record.multipart)
  // Some requests are right in all that their record says, or few would get anywhere.
  let sound = false

  const objectOf = (shape: Shape) =>
    Object.fromEntries(Object.entries(shape.properties ?? {}).map(([name, one]) => [name, fitting(name, one)]))

  /** JSON that fits its shape, then maybe does not, then maybe is no JSON any more. */
  function body(shape: Shape | undefined): string | Buffer {
    const value: Record<string, unknown> = shape ? objectOf(shape) : {}
    if (sound) return JSON.stringify(value)
    const names = Object.keys(value)
    for (let i = below(3); i > 0 && names.length > 0; i--) value[pick(names)] = pick(odd)
    if (maybe(0.15) && names.length > 0) delete value[pick(names)]
    if (maybe(0.1))
      value[pick(['unknown', 'id', 'isAdmin', 'status', 'constructor', 'toString', '']) as string] = pick(odd)
    const text = JSON.stringify(value)
    if (maybe(0.75)) return text
    return pick<() => string | Buffer>([
      () => text.slice(0, below(text.length)),
      () => `\ufeff${text}`,
      () => `${text}${text}`,
      () => text.replace('{', '{"__proto__":{"isAdmin":true},'),
      () => text.replace('{', '{"a":1,"a":2,'),
      () => text.replace(/:\s*\d+/, ':1e400'),
      () => text.replace(/"/g, "'"),
      () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
      () => `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
      () => pick(['null', '[]', '"text"', '7', 'NaN', '', '{', '\0', '{"a":\u2028}', '[1,]', '{}x']),
      () => Buffer.concat([Buffer.from('{"title":"'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}')]),
      () => JSON.stringify({ ...value, padding: 'x'.repeat(1_048_577) }),
    ])()
  }

  function target(record: Endpoint): string {
    if (!sound && maybe(0.06)) return pick(oddTargets)
    const path = record.path.replace(/:\w+/g, () => (sound || maybe(0.7) ? pick(pool.ids) : pick(oddSegments)))
    const query = queries.get(record)
    if (!query && !maybe(0.05)) return path
    const pairs = Object.entries(query ? objectOf(query) : { a: 1 }).filter(() => maybe(0.5))
    return `${path}?${pairs.map(([name, value]) => `${name}=${maybe(0.7) ? encodeURIComponent(String(value)) : pick(oddSegments)}`).join('&')}`
  }

  function credential(record: Endpoint): WireHeader[] {
    const endsItself = record.only === 'dev' || /\/(?:logout|password)$/.test(record.path)
    if (maybe(0.1)) return []
    if (maybe(0.08)) return [['cookie', pick(oddCookies)]]
    if (maybe(0.08)) return [['authorization', pick(oddKeys)]]
    if (endsItself) return [['authorization', 'Bearer svc_unknown']]
    const wanted = record.role === 'admin' && maybe(0.8) ? pool.admin : pool.credentials
    const one = pick(wanted)
    return maybe(0.05)
      ? [one, pick([...wanted, ['authorization', pick(oddKeys)], ['cookie', pick(oddCookies)]])]
      : [one]
  }

  function contentOf(record: Endpoint): { content: string | Buffer; type?: string; isForm?: true } {
    const hasBody = record.body !== undefined || record.auth === 'signature' || maybe(0.1)
    const content = hasBody ? body(shapes.get(record)) : ''
    if ((record.multipart && maybe(0.6)) || maybe(0.02)) {
      const form = multipart(objectOf(shapes.get(record) ?? {}), sound)
      return { content: form.body, type: form.type, isForm: true }
    }
    return maybe(0.9) ? { content, type: 'application/json' } : { content }
  }

  function signatureOf(record: Endpoint, content: string | Buffer): WireHeader[] {
    const isSigned = record.auth === 'signature'
    if (isSigned && maybe(0.6)) return pool.sign(content)
    if (!isSigned && !maybe(0.02)) return []
    return ['x-service-timestamp', 'x-service-signature'].flatMap(name =>
      Array.from(
        { length: pick([0, 1, 1, 2]) },
        (): WireHeader => [name, pick(['1767225600000', 'f'.repeat(64), '', 'é'])],
      ),
    )
  }

  function fromRecord(): FuzzRequest {
    // Of a hundred endpoints one takes files, and few of its requests name a task that waits for them.
    const record = maybe(0.08) ? pick(takingFiles) : pick(endpoints)
    sound = maybe(0.35)
    const method = maybe(0.93) ? record.method : pick(oddMethods)
    const headers: WireHeader[] = [['host', pool.host], ...credential(record)]
    const { content, type, isForm } = contentOf(record)
    if (type !== undefined) headers.push(['content-type', type])
    headers.push(...signatureOf(record, content))
    if (maybe(0.3)) headers.splice(1, 0, ['idempotency-key', pick(repeatKeys)])
    for (let i = pick([0, 0, 0, 1, 2]); i > 0; i--) headers.push(pick(oddHeaders))
    const bytes = requestBytes(method, target(record), headers, content)
    const alone = method === 'CONNECT' || headers.some(([name]) => name === 'expect' || name === 'connection')
    const name = `${method} ${record.path}${isForm ? ' as multipart' : ''}`
    return { name, bytes, isHead: method === 'HEAD', alone, cut: false }
  }

  function raw(): FuzzRequest {
    const record = pick(endpoints)
    const { method } = record
    const text = String(shapes.get(record) ? JSON.stringify(objectOf(shapes.get(record)!)) : '{}')
    const send = (headers: readonly WireHeader[], content = text, one = method) =>
      requestBytes(
        one,
        target(record),
        [['host', pool.host], ['content-type', 'application/json'], ...headers],
        content,
      )
    const length = String(Buffer.byteLength(text))
    const cut = (bytes: Buffer) => bytes.subarray(0, 1 + below(bytes.length - 1))
    const forms: Record<string, () => Buffer> = {
      'two content-lengths': () =>
        send([
          ['content-length', length],
          ['content-length', pick([length, '0', '7'])],
        ]),
      'a content-length that is none': () =>
        send([['content-length', pick(['-1', '1e2', '0x10', '', '9'.repeat(30), '1,1'])]]),
      'chunked and a length': () =>
        send(
          [
            ['transfer-encoding', 'chunked'],
            ['content-length', length],
          ],
          `0\r\n\r\n${text}`,
        ),
      'a coding nobody knows': () =>
        send([['transfer-encoding', pick(['gzip', 'chunked, identity', 'xchunked', ''])]], '0\r\n\r\n'),
      'broken chunks': () =>
        send([['transfer-encoding', 'chunked']], pick(['zz\r\n', '-1\r\n', 'ffffffffffffffffff\r\n', '1\r\nab\r\n'])),
      'good chunks': () =>
        send([['transfer-encoding', 'chunked']], `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`),
      'two hosts': () => send([['host', 'elsewhere.example']]),
      'a header without a colon': () => Buffer.from(`GET / HTTP/1.1\r\nhost: ${pool.host}\r\nnonsense\r\n\r\n`),
      'a header with NUL': () => Buffer.from(`GET / HTTP/1.1\r\nhost: ${pool.host}\r\nx: a\0b\r\n\r\n`),
      'a folded header': () => Buffer.from(`GET / HTTP/1.1\r\nhost: ${pool.host}\r\nx: a\r\n b\r\n\r\n`),
      'a blank before the colon': () => Buffer.from(`GET / HTTP/1.1\r\nhost : ${pool.host}\r\n\r\n`),
      'no host': () => Buffer.from(`${method} ${target(record)} HTTP/1.1\r\ncontent-length: 0\r\n\r\n`),
      'old HTTP': () => Buffer.from(`GET /api/agents HTTP/${pick(['1.0', '0.9', '2.0', '1.2', '9.9', 'x'])}\r\n\r\n`),
      'no version': () => Buffer.from('GET /api/agents\r\n\r\n'),
      'a method in lower case': () => Buffer.from(`get /api/agents HTTP/1.1\r\nhost: ${pool.host}\r\n\r\n`),
      'no method': () => Buffer.from(` / HTTP/1.1\r\nhost: ${pool.host}\r\n\r\n`),
      'a blank in the path': () => Buffer.from(`GET /api/a gents HTTP/1.1\r\nhost: ${pool.host}\r\n\r\n`),
      'bytes in the path': () => Buffer.from(`GET /api/\xff\xfe\x01 HTTP/1.1\r\nhost: ${pool.host}\r\n\r\n`, 'latin1'),
      'the preface of HTTP/2': () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      'a TLS hello': () =>
        Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, ...Array<number>(40).fill(7), 13, 10, 13, 10]),
      noise: () => Buffer.concat([Buffer.from(Array.from({ length: 200 }, () => below(256))), Buffer.from('\r\n\r\n')]),
      'too long a header': () => send([['x', 'y'.repeat(20_000)]]),
      'too many headers': () => send(Array.from({ length: 3_000 }, (_, i) => [`x${i}`, 'y'] as const)),
      'a path of 20,000 characters': () =>
        Buffer.from(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: ${pool.host}\r\n\r\n`),
      'a tunnel': () =>
        Buffer.from(`CONNECT ${pick(['127.0.0.1:22', 'x', '/'])} HTTP/1.1\r\nhost: ${pool.host}\r\n\r\n`),
      'another protocol': () =>
        send([
          ['connection', 'Upgrade'],
          ['upgrade', pick(['websocket', 'h2c', 'TLS/1.0'])],
        ]),
      'half a request': () => cut(send(credential(record))),
    }
    const name = pick(Object.keys(forms))
    return { name, bytes: forms[name]!(), isHead: false, alone: true, cut: name === 'half a request' }
  }

  // Sent again byte by byte: repeats of what has an Idempotency-Key, or a signature that was seen.
  const earlier: FuzzRequest[] = []

  return (): FuzzRequest => {
    if (maybe(0.08) && earlier.length > 0) return pick(earlier)
    if (maybe(0.15)) return raw()
    const request = fromRecord()
    if (/^(?:idempotency-key|x-service-signature): /im.test(request.bytes.toString('latin1', 0, 1_000)))
      earlier.push(request)
    if (earlier.length > 30) earlier.shift()
    return request
  }
}

const shapeOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape
