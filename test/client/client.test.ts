// engines: embedded, postgres at length; process: shared
/** The typed client, against a real marketplace and, for what goes over the wire, against a fetch that only listens. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Endpoint } from '../../src/api/endpoint.ts'
import type { CallReply } from '../../src/api/endpoints/calls.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { verify } from '../../src/api/signature.ts'
import { type TransportOptions, UnreachableError } from '../../src/client/transport.ts'
import { createClient, MarketplaceError } from '../../src/client/typed-client.ts'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { checkedFetch } from '../support/contract.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'

interface Heard {
  method: string
  url: string
  headers: Record<string, string>
  body: string | undefined
}

/** A client whose requests are only noted, and answered with this. */
function listening(answer: object = { success: true, data: null }, status = 200) {
  const heard: Heard[] = []
  const client = createClient({
    baseUrl: 'https://marketplace.example/',
    apiKey: 'svc_key',
    session: 'session=cookie',
    fetch: async (url, { method, headers, body }) => {
      heard.push({ method: method!, url, headers: headers as Record<string, string>, body: body as string | undefined })
      return new Response(JSON.stringify(answer), { status, headers: { 'x-request-id': 'abc-1', 'retry-after': '7' } })
    },
  })
  return { client, heard }
}

type AnyMethod = (input: object, options: object) => Promise<unknown>

test('every record is a method that asks for its path with the credential it takes', async () => {
  const { client, heard } = listening()
  for (const [name, record] of Object.entries<Endpoint>(endpoints)) {
    const names = [...record.path.matchAll(/:(\w+)/g)].map(([, param]) => param!)
    const params = Object.fromEntries(names.map(param => [param, 'a/b']))
    await (client[name as 'me'] as unknown as AnyMethod)(params, { secret: 'whsec_x' })
    const { method, url, headers } = heard.pop()!
    const path = record.path.replaceAll(/:\w+/g, 'a%2Fb')
    assert.is(`${method} ${url}`, `${record.method} https://marketplace.example${path}`, name)
    const sent = [headers.authorization && 'key', headers.cookie && 'session', headers['X-Service-Signature'] && 'hmac']
    const signsIn = record.auth === 'public' && record.sets
    const due = record.auth === 'signature' ? 'hmac' : record.auth === 'session' ? 'session' : signsIn ? '' : 'key'
    assert.is(sent.filter(Boolean).join(), due, name)
  }
})

test('no endpoint has a name twice among its path, its query and its body', () => {
  for (const [name, { path, query, body, signed }] of Object.entries<Endpoint>(endpoints)) {
    const shapes = [query, body, signed].map(shape =>
      Object.keys((shape as { shape?: object } | undefined)?.shape ?? {}),
    )
    const names = [...[...path.matchAll(/:(\w+)/g)].map(([, param]) => param), ...shapes.flat()]
    assert.is(new Set(names).size, names.length, name)
  }
})

test('fields go where they belong: into the path, the query and the body', async () => {
  const { client, heard } = listening({ success: true, data: { tasks: [], pagination: { hasMore: false } } })
  await client.updateTask({ id: 'task_1', title: 'A better title' })
  await client.listTasks({ status: 'draft', limit: 5 })
  await client.cancelTask({ id: 'task_1' }, { idempotencyKey: 'once' })
  const [update, list, cancel] = heard
  assert.equal(
    [update!.url, update!.body],
    ['https://marketplace.example/api/tasks/task_1', '{"title":"A better title"}'],
  )
  assert.is(list!.url, 'https://marketplace.example/api/tasks?status=draft&limit=5')
  assert.is(cancel!.headers['idempotency-key'], 'once')
  assert.is(cancel!.body, undefined)
})

/** A client that hears these answers in turn, and what each request sent. */
function hearing(options: Partial<TransportOptions>, ...answers: Response[]) {
  const sent: { headers: Record<string, string>; body: unknown }[] = []
  const client = createClient({
    baseUrl: 'https://marketplace.example//',
    ...options,
    fetch: async (_url, { headers, body }) => {
      sent.push({ headers: headers as Record<string, string>, body })
      return answers.shift() ?? Response.json({ success: true, data: null })
    },
  })
  return { client, sent }
}

test('of its two credentials each request sends one, with the name of the program; the session follows the cookies', async () => {
  const setting = (cookie: string) =>
    new Response('{"success":true}', {
      headers: [
        ['set-cookie', 'theme=dark'],
        ['set-cookie', cookie],
      ] as never,
    })
  const { client, sent } = hearing(
    { userAgent: 'mine/1' },
    setting('session=one; Path=/; HttpOnly'),
    setting('__Host-session=two; Path=/'),
    setting('my-session=three'),
    setting('session=; Max-Age=0'),
  )
  const sessions: unknown[] = []
  for (let n = 0; n < 5; n++) {
    await client.me()
    sessions.push(client.credentials.session)
  }
  assert.equal(sessions, ['session=one', '__Host-session=two', '__Host-session=two', undefined, undefined])
  client.credentials.apiKey = 'svc_key'
  await client.me()
  await client.me({}, { by: 'session' })
  client.credentials.session = 'session=mine'
  await client.me({}, { by: 'session' })
  await client.me({}, { by: 'nobody' })
  const agent = { 'user-agent': 'mine/1' }
  assert.equal(
    sent.map(({ headers }) => headers),
    [
      agent,
      { ...agent, cookie: 'session=one' },
      { ...agent, cookie: '__Host-session=two' },
      { ...agent, cookie: '__Host-session=two' },
      agent,
      { ...agent, authorization: 'Bearer svc_key' },
      agent,
      { ...agent, cookie: 'session=mine' },
      agent,
    ],
  )
})

test('a request of any path sends an object as JSON, a text as it is, and the headers that it is given', async () => {
  const { client, sent } = hearing({})
  const own = { 'content-type': 'application/merge-patch+json', 'x-own': '1' }
  assert.equal(
    await client.request('POST', '/any', { body: { a: 1 } }).then(({ status, success }) => [status, success]),
    [200, true],
  )
  await client.request('POST', '/any', { body: '{"a": 1}', headers: own })
  await client.request('GET', '/any')
  assert.equal(sent, [
    { headers: { 'content-type': 'application/json' }, body: '{"a":1}' },
    { headers: own, body: '{"a": 1}' },
    { headers: {}, body: undefined },
  ])
})

test('of a stream the messages are its items, however they are cut; other events and comments are none', async () => {
  const text = [
    ': hello',
    'data: {"n":1}',
    'event: alive\ndata: {"n":0}',
    'event: message\ndata: {"n":\ndata: "ü"}',
    'id: 7',
    'data:{"n":3}',
    'data: {"n":"never ended"}',
  ].join('\n\n')
  const bytes = new TextEncoder().encode(text)
  const cut = (size: number) =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size))
        controller.close()
      },
    })
  for (const size of [1, 7, 1_000]) {
    const { client } = hearing({}, new Response(cut(size)))
    const items: unknown[] = []
    for await (const item of (await client.watchChanges()) as unknown as AsyncIterable<unknown>) items.push(item)
    assert.equal(items, [{ n: 1 }, { n: 'ü' }, { n: 3 }], `in pieces of ${size}`)
  }
})

test('a file has the name that its header tells, in both ways of writing it, and its type', async () => {
  const named = async (headers: Record<string, string>) => {
    const { client } = hearing({}, new Response(new Uint8Array([1, 2]), { headers }))
    return client.downloadFile({ id: 'task_1', fileId: 'file_1' })
  }
  const bytes = new Uint8Array([1, 2])
  for (const [disposition, name] of [
    ['attachment; filename="a b.txt"', 'a b.txt'],
    [`attachment; filename="Gr__en.txt"; filename*=UTF-8''Gr%C3%B6%C3%9Fen.txt; size=2`, 'Größen.txt'],
    ['attachment', ''],
  ])
    assert.equal(await named({ 'content-disposition': disposition!, 'content-type': 'text/plain' }), {
      name,
      mimeType: 'text/plain',
      bytes,
    })
  assert.equal(await named({}), { name: '', mimeType: '', bytes })
})

test('the compiler refuses what the records do not take', () => {
  const { client } = listening()
  const wrong = [
    // @ts-expect-error a path parameter is missing
    () => client.getTask({}),
    // @ts-expect-error a price is a number
    () => client.createTask({ ...taskFields, agentId: 'agt_1', agreedPrice: '500' }),
    // @ts-expect-error there is no such status
    () => client.listTasks({ status: 'done' }),
    // @ts-expect-error a callback needs the secret it is signed with
    () => client.agentCallback({ id: 'task_1', action: 'accept' }),
    // @ts-expect-error a message has words
    () => client.agentCallback({ id: 'task_1', action: 'message' }, { secret: 'whsec_x' }),
    // @ts-expect-error a single record is no list
    () => client.getTask({ id: 'task_1' })[Symbol.asyncIterator],
  ]
  assert.is(wrong.length, 6)
})

test('a missing part of the path is refused before anything is sent', async () => {
  const { client, heard } = listening()
  for (const id of ['', undefined as unknown as string]) {
    const error = await client.getTask({ id }).catch(caught => caught)
    assert.instance(error, TypeError)
    assert.is(error.message, 'getTask needs id')
  }
  assert.is(heard.length, 0)
})

test('a callback is signed over the bytes that are sent', async () => {
  const { client, heard } = listening()
  const now = 1_767_225_600_000
  await client.agentCallback(
    { id: 'task_1', action: 'message', content: 'Grüße' },
    { secret: 'whsec_x', timestampMs: now },
  )
  const { headers, body } = heard[0]!
  assert.equal(JSON.parse(body!), { action: 'message', content: 'Grüße' })
  const { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': signature } = headers
  assert.equal(verify({ secret: 'whsec_x', timestamp, signature, body: body!, now }), { ok: true })
})

test('a refusal is an error with its status, words, fields and request id, and is not tried again', async () => {
  const errors = { title: ['is required'] }
  const { client, heard } = listening({ success: false, error: 'Validation failed', errors }, 400)
  const error = await client.createTask({ ...taskFields, agentId: 'agt_1' }).catch(caught => caught)
  assert.instance(error, MarketplaceError)
  assert.is(error.message, 'Validation failed')
  assert.equal([error.status, error.errors, error.requestId, error.retryAfterMs], [400, errors, 'abc-1', 7_000])
  assert.is(heard.length, 1)
})

test("what is not the marketplace's answer, and no answer at all, are told apart", async () => {
  const proxy = createClient({
    baseUrl: 'http://x',
    fetch: async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
  })
  const strange = await proxy.listCategories().catch(caught => caught)
  const { name, status, message, errors, requestId, retryAfterMs } = strange
  assert.equal(
    { name, status, message, errors, requestId, retryAfterMs },
    {
      name: 'MarketplaceError',
      status: 502,
      message: "The answer 502 is not the marketplace's: <h1>Bad gateway</h1>",
      errors: undefined,
      requestId: undefined,
      retryAfterMs: undefined,
    },
  )
  const wordless = hearing({}, Response.json({ success: false }, { status: 503 })).client
  assert.is((await wordless.me().catch(caught => caught)).message, 'The marketplace answered 503')
  const nobody = await createClient({ baseUrl: 'http://127.0.0.1:9' })
    .listCategories()
    .catch(caught => caught)
  assert.instance(nobody, UnreachableError)
  assert.equal(
    [nobody.name, nobody.message, nobody.cause.name],
    ['UnreachableError', 'http://127.0.0.1:9 does not answer: bad port', 'TypeError'],
  )
  const dead = `http://127.0.0.1:${await freePort()}`
  const refused = await createClient({ baseUrl: dead })
    .listCategories()
    .catch(caught => caught)
  assert.is(refused.message, `${dead} does not answer: ECONNREFUSED`)
})

test('an aborted request ends with the reason of its signal', async () => {
  const signal = AbortSignal.abort(new Error('Enough'))
  const error = await createClient({ baseUrl: 'http://127.0.0.1:9' })
    .me({}, { signal })
    .catch(caught => caught)
  assert.is(error.message, 'Enough')
})

test('a whole life with the typed client; a list gives its later pages as they are wanted', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  const buyer = createClient({ baseUrl: marketplace.url, fetch: checkedFetch })
  const password = 'correct horse battery'
  await buyer.register({ email: 'ada@example.com', password, name: 'Ada', isBuilder: true })
  assert.match(buyer.credentials.session!, /^session=.{20}/)
  await buyer.deposit({ amount: 5_000 })
  const { key } = await buyer.createKey({ name: 'program' })
  const program = createClient({ baseUrl: marketplace.url, apiKey: key, fetch: checkedFetch })
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push((await program.createTask({ ...taskFields, agentId: agent.id })).id)
  const task: CallReply<'submitTask'> = await program.submitTask({ id: ids[0]! })
  assert.is(task.status, 'pending')
  const signed = { secret: agent.secret, timestampMs: marketplace.world.realNow() }
  await program.agentCallback({ id: task.id, action: 'accept' }, signed)
  await builder.client.deliverTask({ id: task.id, content: 'Done.' })
  assert.is((await program.approveTask({ id: task.id })).status, 'completed')
  const pages: string[][] = []
  for await (const { tasks } of program.listTasks({ limit: 2 })) pages.push(tasks.map(({ id }) => id))
  assert.equal(
    pages.map(page => page.length),
    [2, 2, 1],
  )
  assert.equal(pages.flat().sort(), ids.sort())
  const { tasks, pagination } = await program.listTasks({ limit: 2, page: 3 })
  assert.equal([tasks.length, pagination.total, pagination.hasMore], [1, 5, false])
  const error = await program.deposit({ amount: 500 }, { by: 'key' }).catch(caught => caught)
  assert.equal([error.status, error.name], [403, 'MarketplaceError'])
  await buyer.logout()
  assert.is(buyer.credentials.session, undefined)
  await marketplace.close()
})

/** A stream would go on for ever. */
const forAnAnswerOf = ({ stream }: Endpoint) => (stream ? { follow: 'false' } : {})

test('everything that can be read without an id answers as its record promises, to those who may', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  await buyer.client.submitTask({ id: (await marketplace.draft(buyer, agent)).id })
  const readable = Object.entries<Endpoint>(endpoints).filter(
    ([, { method, path, role }]) => method === 'GET' && !path.includes('/:') && role !== 'admin',
  )
  for (const { client } of [buyer, builder, marketplace.admin]) {
    for (const [name, record] of readable)
      await (client[name as 'me'] as unknown as AnyMethod)(forAnAnswerOf(record), {})
  }
  const forAdmins = Object.entries<Endpoint>(endpoints).filter(
    ([, { method, path, role }]) => method === 'GET' && !path.includes('/:') && role === 'admin',
  )
  for (const [name, record] of forAdmins) {
    await (marketplace.admin.client[name as 'me'] as unknown as AnyMethod)(forAnAnswerOf(record), {})
    const refused = await (buyer.client[name as 'me'] as unknown as AnyMethod)({}, {}).catch(
      (caught: unknown) => caught,
    )
    assert.is((refused as MarketplaceError).status, 403, name)
  }
  assert.ok(readable.length > 10 && forAdmins.length > 5)
  await marketplace.close()
})

test('files go out as a form and come back as the same bytes', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const { id } = await marketplace.draft(buyer, await marketplace.list(builder))
  await buyer.client.submitTask({ id })
  await builder.client.agentAccept({ id })
  const content = new TextEncoder().encode('a,b\n1,2\n')
  const files = [{ name: 'Größen.csv', content }]
  const { task } = await builder.client.agentDeliver({ id, notes: 'See the file', files })
  const [file] = task.deliverable!.files
  assert.equal([task.deliverable!.content, file!.name, file!.size], [null, 'Größen.csv', content.length])
  const received = await buyer.client.downloadFile({ id, fileId: file!.id })
  assert.equal([received.name, Buffer.from(received.bytes).toString()], ['Größen.csv', 'a,b\n1,2\n'])
  assert.match(received.mimeType, 'text/csv')
  const missing = await buyer.client.downloadFile({ id, fileId: 'file_none' }).catch(caught => caught)
  assert.is(missing.status, 404)
  await marketplace.close()
})

test.run()
