// engines: embedded; process: shared
/** Bodies: what each request may bring, what its judgement may cost, and who is asked for a credential first. Source. */
import net from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { callbackInput } from '../../src/api/endpoints/tasks.ts'
import { limits } from '../../src/api/limits.ts'
import { inputSchema, type JsonSchema, PARTS } from '../../src/api/openapi/json-schema.ts'
import { signatureHeaders } from '../../src/api/signature.ts'
import { MAX_MESSAGES } from '../../src/web/input.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { checkExchange, exchange, requestBytes, Wire, type WireHeader } from '../support/wire.ts'

const marketplace = await openTestMarketplace()
const buyer = await marketplace.join('buyer', 500_000)
const builder = await marketplace.join('builder')
const agent = await marketplace.list(builder)
const test = suite('bodies')
test.after(() => marketplace.close())

const MEBIBYTE = 1024 * 1024
const JSON_TYPE: WireHeader = ['content-type', 'application/json']
const keyOf = (key: string | undefined): WireHeader => ['authorization', `Bearer ${key}`]
const send = (method: string, path: string, headers: readonly WireHeader[], body: string | Buffer) =>
  exchange(marketplace.url, method, path, headers, body)

async function cookieOf({ email, password }: { email: string; password: string }): Promise<WireHeader> {
  const { headers } = await send('POST', '/api/auth/login', [JSON_TYPE], JSON.stringify({ email, password }))
  return ['cookie', headers['set-cookie']!.split(';')[0]!]
}

const named = Object.entries(endpoints) as [string, Endpoint][]
const parts: Record<string, JsonSchema> = {}
const inputs = named.flatMap(([name, { body, signed, multipart, query }]) =>
  [body, signed, multipart, query].flatMap(shape => (shape ? [[name, inputSchema(shape, parts)] as const] : [])),
)

/** A schema and all that is in it. */
function* within(schema: JsonSchema, where: string): Generator<[string, JsonSchema]> {
  const open = schema.$ref ? (parts[schema.$ref.slice(PARTS.length)] ?? {}) : schema
  yield [where, open]
  for (const [name, one] of Object.entries(open.properties ?? {})) yield* within(one, `${where}.${name}`)
  if (open.items) yield* within(open.items, `${where}[]`)
  for (const one of [...(open.anyOf ?? []), ...(open.oneOf ?? []), ...(open.allOf ?? [])]) yield* within(one, where)
}

test('no list that a request brings is without a maximum', () => {
  const lists = inputs.flatMap(([name, schema]) => [...within(schema, name)]).filter(([, { type }]) => type === 'array')
  assert.ok(lists.length >= 5)
  assert.equal(
    lists.filter(([, { maxItems }]) => maxItems === undefined).map(([where]) => where),
    [],
  )
})

test('a list at its maximum passes, one beyond it is refused', async () => {
  const most = limits.budgetCategories[1]
  const ask = (count: number) => {
    const allowedCategories = Array.from({ length: count }, (_, i) => `cat_${i}`)
    const caps = { maxPerTask: 500, maxDaily: 500, maxMonthly: 500 }
    const body = JSON.stringify({ agentId: agent.id, ...caps, allowedCategories })
    return send('POST', '/api/budget-authorizations', [keyOf(buyer.key), JSON_TYPE], body)
  }
  assert.match((await ask(most + 1)).body, /must have 1 to 100 categories/)
  assert.not.match((await ask(most)).body, /must have 1 to 100 categories/)
})

const wrong = (count: number) => `{"allowedCategories":[${Array(count).fill(0).join()}]}`

const messagesFor = async (count: number) => {
  const { status, body } = await send('POST', '/api/budget-authorizations', [keyOf(buyer.key), JSON_TYPE], wrong(count))
  assert.is(status, 400)
  assert.ok(body.length < 4_000)
  return Object.values(JSON.parse(body).errors as Record<string, string[]>).flat()
}

test('a body of a hundred faults is told the first and how many more there are', async () => {
  const messages = await messagesFor(limits.budgetCategories[1])
  assert.is(messages.length, MAX_MESSAGES + 1)
  assert.match(messages.at(-1)!, /^and 84 more$/)
})

test('a list that is too long is judged by its length, and no item of it', async () => {
  const messages = await messagesFor(9_000)
  assert.ok(messages.some(message => message.startsWith('must have 1 to 100 categories')))
  assert.equal(
    messages.filter(message => message.startsWith('[')),
    [],
  )
})

test('a body that holds more values than any could need is refused before it is built', async () => {
  const body = `{"x":[${Array(limits.jsonCommas + 2)
    .fill(0)
    .join()}]}`
  const over = await send('POST', '/api/tasks', [keyOf(buyer.key), JSON_TYPE], body)
  assert.match(over.body, /more than 10000 values/)
  const within = `{"x":[${Array(limits.jsonCommas).fill(0).join()}],"y":",,,${','.repeat(20_000)}"}`
  assert.match((await send('POST', '/api/tasks', [keyOf(buyer.key), JSON_TYPE], within)).body, /"agentId"/)
})

test('whoever may not call is told so, whatever the body', async () => {
  const open = named.filter(([, { method, auth }]) => method !== 'GET' && auth !== 'public' && auth !== 'signature')
  const large = wrong(9_000)
  for (const [name, { method, path, auth }] of open) {
    const target = path.replaceAll(/:\w+/g, 'none')
    for (const body of ['{', large]) {
      for (const credential of [[], [keyOf('svc_nobody')]]) {
        const answer = await send(method, target, [...credential, JSON_TYPE], body)
        assert.is(answer.status, 401, `${name} ${auth}: ${answer.body}`)
      }
    }
  }
})

test('a body of a stranger is not understood at all', async () => {
  const parse = JSON.parse
  let parsed = 0
  JSON.parse = (text, reviver) => {
    if (text.includes('"a stranger"')) parsed++
    return parse(text, reviver)
  }
  try {
    const body = '{"title":"a stranger"}'
    assert.is((await send('POST', '/api/tasks', [keyOf('svc_nobody'), JSON_TYPE], body)).status, 401)
    assert.is(parsed, 0)
    assert.is((await send('POST', '/api/tasks', [keyOf(buyer.key), JSON_TYPE], body)).status, 400)
    assert.is(parsed, 1)
  } finally {
    JSON.parse = parse
  }
})

/** A connection that has sent this much of a body, and not its end. */
async function begun(headers: string, body: Buffer) {
  const { hostname, port } = new URL(marketplace.url)
  const socket = net.connect(Number(port), hostname).on('error', () => {})
  const answer = new Promise<string>(resolve => socket.once('data', data => resolve(String(data))))
  const head = `POST /api/agent/tasks/none/callback HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n\r\n`
  socket.write(head)
  socket.write(body)
  while (socket.writableLength > 0 && !socket.destroyed) await pause(5)
  return { socket, answer }
}

test('a body that comes byte by byte takes no more memory than its bytes', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const pieces = Buffer.from('1\r\nx\r\n'.repeat(400_000))
  collect()
  const before = process.memoryUsage().heapUsed
  const { socket, answer } = await begun('transfer-encoding: chunked', pieces)
  await pause(500)
  collect()
  const taken = process.memoryUsage().heapUsed - before
  socket.write('0\r\n\r\n')
  assert.match(await answer, /^HTTP\/1\.1 401 /)
  socket.destroy()
  assert.ok(taken < 10 * MEBIBYTE, `${taken} bytes`)
})

test('bodies that one address never ends are bounded in bytes', async () => {
  const most = Buffer.alloc(MEBIBYTE - 1, ' ')
  const all: Awaited<ReturnType<typeof begun>>[] = []
  for (let i = 0; i < 12; i++) all.push(await begun(`content-length: ${MEBIBYTE}`, most))
  const refused: string[] = []
  for (const { answer } of all) void answer.then(text => refused.push(text))
  await until('four are refused', () => refused.length >= 4)
  assert.is(refused.length, 4)
  for (const text of refused) assert.match(text, /^HTTP\/1\.1 429 [\s\S]*retry-after: 5\r\n[\s\S]*still on their way/i)
  assert.is((await send('GET', '/api/agents', [], '')).status, 200)
  for (const { socket } of all) socket.destroy()
  const whole = Buffer.alloc(MEBIBYTE, ' ')
  const room = async () => (await send('POST', '/api/agent/tasks/none/callback', [], whole)).status === 401
  await until('room for another', room)
})

const bodyless = named.filter(([, { body, auth, multipart }]) => !body && !multipart && auth !== 'signature')

/** A request that waits to be invited before it sends its body. */
async function waiting(method: string, path: string, headers: readonly WireHeader[], body: string) {
  const wire = new Wire(marketplace.url)
  const bytes = Buffer.from(body)
  const told = headers.some(([name]) => name === 'content-length')
  const length: WireHeader[] = told ? [] : [['content-length', String(bytes.length)]]
  const head: WireHeader[] = [['host', wire.host], ['expect', '100-continue'], ...length, ...headers]
  await wire.write(requestBytes(method, path, head))
  const answered = wire.answer()
  while (wire.invitations === 0 && !(await Promise.race([answered, pause(5)])));
  if (wire.invitations > 0) await wire.write(bytes)
  const answer = (await answered)!
  wire.close()
  checkExchange(requestBytes(method, path, []), answer)
  return [answer.status, wire.invitations, answer.headers.connection]
}

const pause = (ms: number) => new Promise<null>(resolve => setTimeout(resolve, ms, null))

test('a client that waits with its body is told to send it only when it may, and only what is not too large', async () => {
  const path = '/api/tasks'
  const words = { title: 'A task of a test', description: 'Something that is asked for' }
  const body = JSON.stringify({ ...words, agentId: agent.id, agreedPrice: 200 })
  const good = keyOf(buyer.key)
  const none: WireHeader = ['authorization', 'Bearer svc_of_nobody']
  const huge: WireHeader = ['content-length', String(limits.jsonBytes + 1)]
  assert.equal(await waiting('POST', path, [JSON_TYPE, good], body), [201, 1, 'keep-alive'])
  assert.equal(await waiting('POST', path, [JSON_TYPE, none], body), [401, 0, 'close'])
  assert.equal(await waiting('POST', path, [JSON_TYPE], body), [401, 0, 'close'])
  assert.equal(await waiting('POST', path, [JSON_TYPE, good, huge], body), [400, 0, 'close'])
  assert.equal(await waiting('POST', '/api/nowhere', [JSON_TYPE, good], body), [404, 0, 'close'])
  const form: WireHeader = ['content-type', 'multipart/form-data; boundary=x']
  const upload = '/api/agent/tasks/task_none/deliver'
  assert.equal(await waiting('POST', upload, [form, keyOf(builder.key)], '--x--'), [404, 0, 'close'])
  const signed = signatureHeaders('whsec_x', Date.now(), body)
  const callback = '/api/agent/tasks/task_none/callback'
  assert.equal((await waiting('POST', callback, [JSON_TYPE, ...Object.entries(signed)], body)).slice(0, 2), [401, 1])
})

test('a request without a body of its own takes nothing but JSON, and does nothing where it gets something else', async () => {
  assert.ok(bodyless.filter(([, { method }]) => method !== 'GET').length >= 20)
  const session = await cookieOf(marketplace.admin)
  const key = keyOf(marketplace.admin.key)
  const before = await marketplace.contents()
  for (const [name, { method, path, auth }] of bodyless) {
    const target = path.replaceAll(/:\w+/g, 'none')
    const credential = auth === 'session' ? session : key
    const bad: [string, WireHeader, string | Buffer][] = [
      ['malformed', JSON_TYPE, '{'],
      ['another type', ['content-type', 'text/plain'], 'x'],
      ['a form', ['content-type', 'multipart/form-data; boundary=b'], '--b--'],
      ['no UTF-8', JSON_TYPE, Buffer.from([0x22, 0xff, 0x22])],
      ['too large', ['content-length', String(limits.jsonBytes + 1)], ''],
    ]
    for (const [what, type, body] of bad) {
      const answer = await send(method, target, [credential, type], body)
      assert.is(answer.status, 400, `${name}, ${what}: ${answer.text}`)
    }
  }
  assert.equal(await marketplace.contents(), before)
  await marketplace.checkLedger()
})

test('a request without a body of its own takes {} and unknown fields', async () => {
  const session = await cookieOf(marketplace.admin)
  for (const [name, { method, path, auth }] of bodyless.filter(([, { sets }]) => !sets)) {
    const target = path.replaceAll(/:\w+/g, 'none')
    const credential = auth === 'session' ? session : keyOf(marketplace.admin.key)
    for (const body of ['{}', '{"unknown":[1]}']) {
      const { status } = await send(method, target, [credential, JSON_TYPE], body)
      // 409: what it would change is not to be changed here.
      assert.ok([200, 404, 409].includes(status), `${name}: ${status}`)
    }
  }
})

test('submit and approve with a broken body leave task and money as they were', async () => {
  const { id } = await marketplace.draft(buyer, agent)
  const before = await marketplace.balances(buyer.id)
  const ask = (step: string, body: string) =>
    send('POST', `/api/tasks/${id}/${step}`, [keyOf(buyer.key), JSON_TYPE], body)
  assert.is((await ask('submit', '{')).status, 400)
  assert.equal(await marketplace.balances(buyer.id), before)
  assert.is((await ask('submit', '{}')).status, 200)
  await marketplace.callback(agent, id, { action: 'accept' })
  await marketplace.callback(agent, id, { action: 'deliver', content: 'Done' })
  const held = await marketplace.balances(buyer.id)
  assert.is((await ask('approve', '{')).status, 400)
  assert.equal(await marketplace.balances(buyer.id), held)
  assert.is((await ask('approve', '')).status, 200)
})

/** With a hash: nobody is ever shown it again. */
const onlyCompared = /^(?:password|currentPassword|token|code|totp|recoveryCode)$/

/** The fields of an endpoint that take words, and whether a list of them. */
function wordsOf({ path, body, signed }: Endpoint): { field: string; isList: boolean }[] {
  const shape = body ?? signed
  if (!shape) return []
  return [...within(inputSchema(shape, parts), '')].flatMap(([where, { type, enum: values, const: one }]) => {
    const [, field, list] = /^\.(\w+)(\[\])?$/.exec(where) ?? []
    if (field === undefined || type !== 'string' || values || one !== undefined) return []
    return path.startsWith('/api/auth/') && onlyCompared.test(field) ? [] : [{ field, isList: list !== undefined }]
  })
}

test('half a surrogate pair is refused in every field that takes words', async () => {
  const session = await cookieOf(marketplace.admin)
  const half = `https://example.com/${'half '.repeat(12)}\ud800`
  let fields = 0
  for (const [name, record] of named) {
    // Whoever asks for a letter is never told what is wrong with the address. Source: A-9.
    if (name === 'requestPasswordReset') continue
    const { method, path, auth, signed, body } = record
    const callback = signed ?? (body === callbackInput ? body : undefined)
    for (const { field, isList } of wordsOf(record)) {
      fields++
      if (callback) {
        assert.is(callback.safeParse({ action: 'reject', reason: half }).success, false)
        continue
      }
      const credential = auth === 'session' ? session : keyOf(marketplace.admin.key)
      const text = JSON.stringify({ [field]: isList ? [half] : half })
      const answer = await send(method, path.replaceAll(/:\w+/g, 'none'), [credential, JSON_TYPE], text)
      assert.is(answer.status, 400, `${name}.${field}: ${answer.body}`)
      assert.ok(JSON.parse(answer.body).errors[field], `${name}.${field}: ${answer.body}`)
    }
  }
  assert.ok(fields > 30, String(fields))
})

test('a signed half of a surrogate pair is refused, and no answer ever holds one', async () => {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  for (const body of [
    { action: 'message', content: 'a\ud800' },
    { action: 'reject', reason: '\udc00' },
  ]) {
    assert.is((await marketplace.callback(agent, id, body)).status, 400)
  }
  // An excerpt of what is no JSON ends where the parser cuts it.
  for (let at = 0; at < 24; at++) {
    const text = `${'x'.repeat(at)}${'😀'.repeat(40)}`
    const { status, body } = await send('POST', '/api/tasks', [keyOf(buyer.key), JSON_TYPE], `{"a":${text}`)
    assert.is(status, 400)
    assert.ok(JSON.parse(body).error.isWellFormed(), body)
  }
  const headers = Object.entries(signatureHeaders(agent.secret, marketplace.world.realNow() - 1, '{"action":"\ud800"}'))
  assert.is((await send('POST', `/api/agent/tasks/${id}/callback`, headers, '{')).status, 401)
})

test('an address of the web holds no line feed, no space and no empty user', async () => {
  const bad = [
    ...[
      'https://a.example/\n',
      'https://a.example/\tx',
      ' https://a.example/',
      'https://a.example/ ',
      'https://a.example/x y',
    ],
    ...[
      'https://@a.example/',
      'https://:@a.example/',
      'https:///@a.example/',
      'https:\\\\@a.example',
      'https://a.example/\u0085',
    ],
    ...['https://a.example/\ud800', 'https://u:p@a.example/', 'ftp://a.example/'],
  ]
  const put = (fields: object) =>
    send('PUT', `/api/my/agents/${agent.id}`, [keyOf(builder.key), JSON_TYPE], JSON.stringify(fields))
  for (const field of ['webhookUrl', 'avatarUrl']) {
    for (const url of bad) {
      const answer = await put({ [field]: url })
      assert.is(answer.status, 400, JSON.stringify(url))
      assert.ok(JSON.parse(answer.body).errors[field], JSON.stringify(url))
    }
  }
  const good = ['https://a.example/x@y', 'https://a.example/?q=@', 'https://a.example/#@', 'https://ä.example/ü']
  for (const url of good) assert.is((await put({ avatarUrl: url })).status, 200, url)
})

test.run()
