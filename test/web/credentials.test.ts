// engines: embedded; process: shared
/** Whose a request is, and where it comes from, as its headers tell. Source. */
import type { IncomingMessage } from 'node:http'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Config } from '../../src/settings/config.ts'
import {
  isCrossSite,
  isLoopbackHost,
  isNear,
  isSameSite,
  onlyHeader,
  readCredential,
  sessionCookie,
} from '../../src/web/credentials.ts'

const test = suite('credentials')

const dev = { mode: 'dev', baseUrl: 'http://127.0.0.1:3000' } as Config
const serve = { mode: 'serve', baseUrl: 'https://market.example' } as Config

type Given = Readonly<Record<string, string>>

const requestOf = (headers: Given, socket: object = {}) =>
  ({ headers, rawHeaders: Object.entries(headers).flat(), socket }) as unknown as IncomingMessage

test('a key is read from its header, a session from its cookie, and another scheme is none', () => {
  const read = (headers: Given, config = dev) => readCredential(requestOf(headers), config)
  const bad = { kind: 'key', value: null }
  assert.equal(read({ authorization: 'Bearer svc_a' }), { kind: 'key', value: 'svc_a' })
  assert.equal(read({ authorization: 'bearer   svc_a' }), { kind: 'key', value: 'svc_a' })
  for (const authorization of [
    'Bearer',
    'Bearer x',
    'Bearer SVC_a',
    'svc_a',
    `Bearer svc_${'a'.repeat(251)}`,
    'Bearer svc_a b',
    '',
  ])
    assert.equal(read({ authorization, cookie: 'session=s' }), bad, authorization)
  assert.equal(read({ authorization: 'Basic abc', cookie: 'a=1; session=s' }), { kind: 'session', value: 's' })
  assert.is(read({ authorization: 'Basic abc' }), null)
  assert.is(read({}), null)
  assert.is(read({ cookie: 'session=' }), null)
  assert.is(read({ cookie: 'session=s' }, serve), null, 'behind https it has a name that no other host can set')
  assert.equal(read({ cookie: '__Host-session=s' }, serve), { kind: 'session', value: 's' })
})

test('a header counts if it came once', () => {
  const only = (...rawHeaders: string[]) => onlyHeader({ rawHeaders } as unknown as IncomingMessage, 'x-one')
  assert.is(only('X-Two', 'a', 'X-One', 'b'), 'b')
  assert.is(only('x-one', 'a', 'X-ONE', 'a'), undefined)
  assert.is(only('x-ones', 'a', 'a', 'x-one'), undefined)
})

test('only a name of this machine is one', () => {
  for (const host of [
    'localhost',
    'LOCALHOST:80',
    'a.b-c.localhost:1',
    '127.0.0.1',
    '127.0.0.1:65535',
    '[::1]',
    '[::1]:8',
  ])
    assert.is(isLoopbackHost(host), true, host)
  for (const host of [
    '',
    'localhost.example',
    'xlocalhost',
    '127.0.0.2',
    '127.0.0.1:123456',
    '::1',
    'localhost:',
    '.localhost',
  ])
    assert.is(isLoopbackHost(host), host === 'localhost:', host)
})

/** By headers: whether a page of another site has sent it, and whether a page of this one surely has. */
const sites: readonly (readonly [Given, crossInServe: boolean, crossInDev: boolean])[] = [
  [{}, false, false],
  [{ 'sec-fetch-site': 'same-origin' }, false, false],
  [{ 'sec-fetch-site': 'none' }, false, false],
  [{ 'sec-fetch-site': 'same-site' }, true, true],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://market.example' }, true, true],
  [{ origin: 'https://market.example' }, false, true],
  [{ origin: 'https://market.example.evil' }, true, true],
  [{ origin: 'null' }, true, true],
  [{ origin: 'http://127.0.0.1:3000' }, true, false],
  [{ origin: 'http://localhost:4000' }, true, false],
  [{ origin: 'http://localhost:4001' }, true, true],
  [{ origin: 'https://localhost:4000' }, true, true],
  [{ origin: 'http://localhost' }, true, true],
]

test('where a form comes from is what the browser says, and in a simulator any name of this machine with its port', () => {
  for (const [headers, inServe, inDev] of sites) {
    const request = requestOf(headers, { localPort: 4000 })
    const isTold = Object.keys(headers).length > 0
    const said = JSON.stringify(headers)
    assert.equal([isCrossSite(request, serve), isCrossSite(request, dev)], [inServe, inDev], said)
    assert.equal([isSameSite(request, serve), isSameSite(request, dev)], [isTold && !inServe, isTold && !inDev], said)
  }
  assert.is(isCrossSite(requestOf({ origin: 'http://localhost' }, { localPort: 80 }), dev), false)
})

test('near is a program of this machine that asks by itself', () => {
  const near = (remoteAddress: string | undefined, headers: Given = {}) =>
    isNear(requestOf(headers, { remoteAddress }), dev)
  for (const here of ['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1']) assert.is(near(here), true, here)
  for (const away of [undefined, '10.0.0.1', '::2', '::1:1', '128.0.0.1']) assert.is(near(away), false, away)
  for (const passed of ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'])
    assert.is(near('127.0.0.1', { [passed]: '' }), false, passed)
  assert.is(near('127.0.0.1', { origin: 'https://evil.example' }), false)
})

test('a session is kept by a cookie that scripts and other sites do not get, and ends with an empty one', () => {
  const kept = 'Path=/; HttpOnly'
  assert.match(sessionCookie(dev, 'abc'), new RegExp(`^session=abc; Max-Age=[1-9]\\d+; ${kept}; SameSite=Lax$`))
  assert.is(sessionCookie(dev, null), `session=; Max-Age=0; ${kept}; SameSite=Lax`)
  assert.match(
    sessionCookie(serve, 'abc'),
    new RegExp(`^__Host-session=abc; Max-Age=[1-9]\\d+; ${kept}; Secure; SameSite=Lax$`),
  )
})

test.run()
