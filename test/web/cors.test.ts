// engines: embedded; process: shared
/** No other site's page may read or send: CORS is closed everywhere. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

const pages = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/agents', '/sign-in', '/assets/logo']

const corsOf = (headers: Headers) => [...headers.keys()].filter(name => name.startsWith('access-control-'))

test('a preflight is answered 405 in the envelope, and no answer has an Access-Control header', async () => {
  const marketplace = await openTestMarketplace()
  const user = await marketplace.join('ann')
  const paths = [...new Set(Object.values(endpoints).map(({ path }) => path.replace(/:\w+/g, 'some_id')))]
  assert.ok(paths.length > 40)
  const origins = ['https://evil.example', 'null', marketplace.url]
  for (const path of [...paths, ...pages]) {
    for (const origin of origins) {
      const asked = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      }
      const preflight = await fetch(marketplace.url + path, { method: 'OPTIONS', headers: asked })
      assert.is(preflight.status, 405, path)
      assert.equal(corsOf(preflight.headers), [], path)
      const { success, error } = (await preflight.json()) as { success: boolean; error: string }
      assert.is(success, false)
      assert.match(error, 'OPTIONS is not possible here')
      assert.not(preflight.headers.get('allow')!.includes('OPTIONS'))
    }
    const simple = await fetch(marketplace.url + path, {
      headers: { origin: origins[0]!, authorization: `Bearer ${user.key}` },
    })
    assert.equal(corsOf(simple.headers), [], path)
    // A stream would go on.
    await simple.body?.cancel()
  }
  await marketplace.close()
})

test('a page of another site can use no session, whatever it asks for', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer')
  const before = await marketplace.contents()
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${marketplace.url}.evil.example` },
    { origin: marketplace.url.replace('http:', 'https:') },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: marketplace.url },
  ]
  const unsafe = Object.values(endpoints).filter(({ method, auth }) => method !== 'GET' && auth !== 'signature')
  for (const { method, path } of unsafe) {
    for (const headers of foreign) {
      const answer = await buyer.ask(method, path.replace(/:\w+/g, 'some_id'), {}, 'session', headers as never)
      assert.is(answer.status, 403, `${method} ${path} ${JSON.stringify(headers)}`)
    }
  }
  assert.equal(await marketplace.contents(), before)
  const own = { origin: marketplace.url, 'sec-fetch-site': 'same-origin' }
  assert.is((await buyer.ask('POST', '/api/wallet/deposit', { amount: 300 }, 'session', own)).status, 201)
  assert.is(
    (await buyer.ask('GET', '/api/wallet', undefined, 'session', { origin: 'https://evil.example' })).status,
    200,
  )
  await marketplace.close()
})

test.run()
