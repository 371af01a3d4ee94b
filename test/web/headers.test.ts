// engines: embedded; process: shared
/** The status and all headers of each kind of response, in the order in which they are sent. `npm run goldens` writes them anew. */
import { resolve } from 'node:path'
import { suite } from 'uvu'
import { signatureHeaders } from '../../src/api/signature.ts'
import { sameAsKept } from '../support/golden.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'
import { Masked } from '../support/masked.ts'
import { requestBytes, Wire, type WireAnswer, type WireHeader } from '../support/wire.ts'

const marketplace = await openTestMarketplace({ rateLimits: 'warn' })
const buyer = await marketplace.join('buyer', 10_000)
const builder = await marketplace.join('builder')
const agent = await marketplace.list(builder)
const { id } = await marketplace.draft(buyer, agent, taskFields)
await buyer.client.submitTask({ id })
await marketplace.callback(agent, id, { action: 'accept' })

const test = suite('headers')
test.after(() => marketplace.close(0))

const masked = new Masked()

/** What differs each time is left out, and so is Node's own date. */
const shown = ({ text }: WireAnswer) =>
  masked
    .in(text.slice(0, text.indexOf('\r\n\r\n')).replaceAll('\r', ''))
    .replace(/^Date: .*$\n?/m, '')
    .trimEnd()
    .replace(/(?<=^(?:x-request-id|etag|content-length|x-service-instance): ).*/gm, '…')
    .replace(/(?<=^(?:set-cookie): session=)\w+/gm, '…')
    .replace(/(?<=^ratelimit.*;[qrtw]=)\d+/gm, '…')

const keyOf = ({ key }: { key?: string | undefined }): WireHeader => ['authorization', `Bearer ${key}`]
const JSON_TYPE: WireHeader = ['content-type', 'application/json']
const FORM: WireHeader = ['content-type', 'application/x-www-form-urlencoded']

async function bytesAnswered(bytes: Buffer | string, toHead = false): Promise<WireAnswer> {
  const wire = new Wire(marketplace.url)
  await wire.write(Buffer.from(bytes))
  const answer = await wire.answer(toHead)
  wire.close()
  return answer!
}

const ask = (method: string, path: string, headers: readonly WireHeader[] = [], body = '') =>
  bytesAnswered(requestBytes(method, path, [['host', 'localhost'], ...headers], body), method === 'HEAD')

const delivery = [
  ['--b', 'content-disposition: form-data; name="files"; filename="d\u00e9j\u00e0 \'vu\' (1).csv"', '', 'a,b', ''],
  ['--b--', ''],
]
  .flat()
  .join('\r\n')
const login = JSON.stringify({ email: buyer.email, password: buyer.password })
const origin: WireHeader[] = [
  ['origin', marketplace.url],
  ['sec-fetch-site', 'same-origin'],
]
let file = ''

const responses: Readonly<Record<string, () => Promise<WireAnswer>>> = {
  'a record': () => ask('GET', '/api/auth/me', [keyOf(buyer)]),
  'a record, to HEAD': () => ask('HEAD', '/api/auth/me', [keyOf(buyer)]),
  'a list, to HEAD': () => ask('HEAD', '/api/tasks', [keyOf(buyer)]),
  'what was made': () =>
    ask('POST', '/api/tasks', [keyOf(buyer), JSON_TYPE, ['idempotency-key', 'once']], taskOf(agent.id)),
  'the same again': () =>
    ask('POST', '/api/tasks', [keyOf(buyer), JSON_TYPE, ['idempotency-key', 'once']], taskOf(agent.id)),
  'other words under the same key': () =>
    ask('POST', '/api/tasks', [keyOf(buyer), JSON_TYPE, ['idempotency-key', 'once']], '{}'),
  'a session': () => ask('POST', '/api/auth/login', [JSON_TYPE], login),
  'no session any more': async () => {
    const { headers } = await ask('POST', '/api/auth/login', [JSON_TYPE], login)
    return ask('POST', '/api/auth/logout', [['cookie', headers['set-cookie']!.split(';')[0]!]])
  },
  'a body that is wrong': () => ask('POST', '/api/tasks', [keyOf(buyer), JSON_TYPE], '{'),
  'a body that is too large': () =>
    bytesAnswered(
      `POST /api/tasks HTTP/1.1\r\nhost: localhost\r\n${keyOf(buyer).join(': ')}\r\ncontent-length: 2000000\r\n\r\n`,
    ),
  'nobody’s request': () => ask('GET', '/api/auth/me'),
  'what is not there': () => ask('GET', '/api/tasks/none', [keyOf(buyer)]),
  'no such path': () => ask('GET', '/nothing'),
  'no such method': () => ask('DELETE', '/api/tasks', [keyOf(buyer)]),
  'no such method, in a tunnel': () => bytesAnswered('CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  'no HTTP': () => bytesAnswered('hello\r\n\r\n'),
  'headers that are too large': () => bytesAnswered(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
  'another host': () => bytesAnswered('GET /docs HTTP/1.1\r\nHost: evil.example\r\n\r\n'),
  'a callback': () => {
    const body = JSON.stringify({ action: 'message', content: 'Soon.' })
    const signed = Object.entries(signatureHeaders(agent.secret, marketplace.world.realNow(), body))
    return ask('POST', `/api/agent/tasks/${id}/callback`, [JSON_TYPE, ...signed], body)
  },
  'a callback that is not signed': () => ask('POST', `/api/agent/tasks/${id}/callback`, [JSON_TYPE], '{}'),
  'an upload': async () => {
    const type: WireHeader = ['content-type', 'multipart/form-data; boundary=b']
    const answer = await ask('POST', `/api/agent/tasks/${id}/deliver`, [keyOf(builder), type], delivery)
    file = JSON.parse(answer.body).data.task.deliverable.files[0].url
    return answer
  },
  'a file': () => ask('GET', file, [keyOf(buyer)]),
  'a file, to HEAD': () => ask('HEAD', file, [keyOf(buyer)]),
  'a stream': () => ask('GET', '/api/stream', [keyOf(buyer)]),
  'a stream, to HEAD': () => ask('HEAD', '/api/stream', [keyOf(buyer)]),
  'a page': () => ask('GET', '/agents'),
  'a page, to HEAD': () => ask('HEAD', '/agents'),
  'a page that is still the same': async () =>
    ask('GET', '/agents', [['if-none-match', (await ask('GET', '/agents')).headers.etag!]]),
  'a page instead of a refusal': () => ask('GET', '/agents/none'),
  'a form that is refused': () => ask('POST', '/sign-in', [FORM, ...origin], 'email=a%40b.cd&password=x'),
  'a form that leads on': () => ask('POST', '/sign-out', [FORM, ...origin], 'a=1'),
  'the way in': () => ask('GET', '/'),
  'the reference': () => ask('GET', '/docs'),
  'the description': () => ask('GET', '/openapi.json'),
  'a style, by its name': async () =>
    ask('GET', /\/assets\/style\.css\?v=\w+/.exec((await ask('GET', '/agents')).body)![0]),
  'a style': () => ask('GET', '/assets/style.css', [['accept-encoding', 'gzip']]),
  'the logo': () => ask('GET', '/assets/logo'),
  'the console': () => ask('GET', '/console'),
  'a part of the console, packed': async () =>
    ask('GET', /\/console\/[\w.-]+\.js/.exec((await ask('GET', '/console')).body)![0], [['accept-encoding', 'gzip']]),
  figures: () => ask('GET', '/metrics'),
  'that it lives': () => ask('GET', '/healthz'),
  'that it is ready': () => ask('GET', '/readyz'),
}

const taskOf = (agentId: string) => JSON.stringify({ ...taskFields, agentId })

test('each kind of response has these headers', async () => {
  const all: string[] = []
  for (const [name, answered] of Object.entries(responses)) all.push(`${name}\n${shown(await answered())}\n`)
  sameAsKept(resolve('test/web/headers.txt'), all.join('\n'))
})

test.run()
