// engines: embedded; process: shared
/** A proxy that nobody has told the marketplace of is told in its log. */
import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Config } from '../../../src/settings/config.ts'
import { warnOfUntrustedProxy } from '../../../src/web/sockets/untrusted-proxy.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

function told(
  config: Pick<Config, 'trustProxy' | 'mode'>,
  requests: readonly (readonly [address: string | undefined, header?: string])[],
) {
  const server = new EventEmitter()
  const messages: string[] = []
  warnOfUntrustedProxy(server as Server, config as Config, entry => {
    if (entry.type === 'warning') messages.push(entry.message)
  })
  for (const [remoteAddress, header] of requests)
    server.emit('request', {
      socket: { remoteAddress },
      headers: header === undefined ? {} : { 'x-forwarded-for': header },
    })
  return messages
}

const SERVE = { mode: 'serve', trustProxy: 0 } as const

test('a proxy near by is told once, with the setting that helps', () => {
  for (const address of ['127.0.0.1', '::1', '::ffff:10.0.0.7', '172.18.0.1', 'fd00::7', '100.64.0.9']) {
    const messages = told(SERVE, [
      [address, '203.0.113.9'],
      [address, '203.0.113.8'],
      ['10.0.0.8', '203.0.113.8'],
    ])
    assert.is(messages.length, 1, address)
    assert.match(messages[0]!, `through a proxy at ${address}, and no proxy is trusted`)
    assert.match(messages[0]!, 'MARKETPLACE_TRUST_PROXY=1 (--trust-proxy 1)')
  }
})

test('nothing is told of who has made the header up, of requests without it, of a trusted proxy and in dev', () => {
  assert.equal(
    told(SERVE, [
      ['203.0.113.9', '10.0.0.1'],
      ['2001:db8::1', '10.0.0.1'],
      ['127.0.0.1'],
      [undefined, '10.0.0.1'],
      ['fe80::1%eth0'],
    ]),
    [],
  )
  assert.equal(told({ mode: 'serve', trustProxy: 1 }, [['127.0.0.1', '203.0.113.9']]), [])
  assert.equal(told({ mode: 'dev', trustProxy: 0 }, [['127.0.0.1', '203.0.113.9']]), [])
})

test('a server says it at the first such request', async () => {
  const messages: string[] = []
  const { url, close } = await openTestMarketplace({
    mode: 'serve',
    trustProxy: 0,
    log: entry => void (entry.type === 'warning' && messages.push(entry.message)),
  })
  const ask = (headers = {}) => fetch(`${url}/readyz`, { headers })
  await ask()
  assert.not.ok(messages.some(message => message.includes('proxy')))
  for (const _ of [1, 2]) assert.is((await ask({ 'x-forwarded-for': '203.0.113.9' })).status, 200)
  assert.is(messages.filter(message => message.includes('through a proxy at 127.0.0.1')).length, 1)
  await close()
})

test.run()
