// engines: embedded, postgres at length; process: shared
/** What a deployment says and takes at its door: exact paths, https for good, credentials, and who asked. Source. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { LogEntry } from '../../src/market/log.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { exchange, Wire, type WireHeader } from '../support/wire.ts'

const log: LogEntry[] = []
const serve = { mode: 'serve', rateLimits: 'off', payments: 'sandbox', trustProxy: 1 } as const
const marketplace = await openTestMarketplace({ ...serve, log: line => log.push(line) })
const buyer = await marketplace.join('buyer')
const test = suite('door')
test.after(() => marketplace.close())

const ask = (method: string, path: string, headers: readonly WireHeader[] = [], body = '') =>
  exchange(marketplace.url, method, path, headers, body)
const key: WireHeader = ['authorization', `Bearer ${buyer.key}`]
const basic: WireHeader = ['authorization', 'Basic dXNlcjpwYXNz']
const json: WireHeader = ['content-type', 'application/json']

async function cookie(): Promise<WireHeader> {
  const { email, password } = buyer
  const { headers } = await ask('POST', '/api/auth/login', [json], JSON.stringify({ email, password }))
  return ['cookie', headers['set-cookie']!.split(';')[0]!]
}

test('a path is matched letter by letter', async () => {
  assert.is((await ask('GET', '/api/wallet', [key])).status, 200)
  for (const path of ['/api/Wallet', '/API/wallet', '/Healthz', '/api/AGENTS', '/METRICS', '/Docs']) {
    assert.is((await ask('GET', path, [key])).status, 404, path)
  }
  assert.is((await ask('PATCH', '/api/wallet', [key])).status, 405)
  assert.is((await ask('PATCH', '/api/Wallet', [key])).status, 404)
  assert.is((await ask('GET', `/api/agents/SOME-Slug`)).status, 404)
})

test('behind https every answer says that it stays so, what is no HTTP as well', async () => {
  assert.is((await ask('GET', '/api/agents')).headers['strict-transport-security'], undefined)
  const secure = await openTestMarketplace({ ...serve, baseUrl: 'https://market.example' }).catch(
    (error: Error) => error,
  )
  assert.not.instance(secure, Error)
  const { url, close } = secure as typeof marketplace
  for (const path of ['/api/agents', '/api/nothing', '/healthz', '/docs', '/openapi.json']) {
    const { headers } = await exchange(url, 'GET', path)
    assert.is(headers['strict-transport-security'], 'max-age=31536000', path)
  }
  const wire = new Wire(url)
  await wire.write(Buffer.from('hello\r\n\r\n'))
  assert.is((await wire.answer())?.headers['strict-transport-security'], 'max-age=31536000')
  wire.close()
  await close()
})

test('another scheme of authorization is no key, and a good session beside it counts', async () => {
  const session = await cookie()
  assert.is((await ask('GET', '/api/wallet', [basic, session])).status, 200)
  assert.is((await ask('GET', '/api/wallet', [basic])).status, 401)
  assert.is((await ask('GET', '/api/wallet', [['authorization', 'Bearer svc_bad'], session])).status, 401)
  assert.is((await ask('GET', '/api/wallet', [['authorization', 'Bearer'], session])).status, 401)
  assert.is((await ask('GET', '/api/wallet', [['authorization', 'svc_bad'], session])).status, 401)
  assert.is((await ask('GET', '/api/wallet', [['authorization', ''], session])).status, 401)
  assert.is((await ask('GET', '/api/wallet', [['authorization', 'bearer svc_bad'], session])).status, 401)
  // Who comes by session is asked where from, whatever else he brings.
  const foreign: WireHeader = ['sec-fetch-site', 'cross-site']
  assert.is((await ask('PUT', '/api/auth/me', [basic, session, json, foreign], '{}')).status, 403)
})

test('each request in the log names the address of its client, as the proxy in front saw it', async () => {
  await ask('GET', '/api/agents', [['x-forwarded-for', '203.0.113.9, 198.51.100.7']])
  const line = log.filter(({ type }) => type === 'request').at(-1) as Extract<LogEntry, { type: 'request' }>
  assert.is(line.address, '198.51.100.7')
  await ask('GET', '/api/nothing')
  const direct = log.filter(({ type }) => type === 'request').at(-1) as Extract<LogEntry, { type: 'request' }>
  assert.is(direct.address, '127.0.0.1')
})

test.run()
