// engines: embedded; process: shared
/** Which address a request counts for. Source: A-40. */
import type { IncomingMessage } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { memoryCounters } from '../../../src/web/rate-counters.ts'
import { clientAddress } from '../../../src/web/sockets/client-address.ts'

const of = (remoteAddress: string | undefined, hops = 0, forwarded?: string) => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return clientAddress({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, hops)
}

test('IPv4 counts as it is, also when it comes mapped; IPv6 counts by its /64', () => {
  assert.is(of('203.0.113.9'), '203.0.113.9')
  assert.is(of('::ffff:203.0.113.9'), '203.0.113.9')
  assert.is(of('::ffff:cb00:7109'), '203.0.113.9')
  assert.is(of('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.is(of('2001:db8:1:2::1'), of('2001:0db8:0001:0002:ffff:ffff:ffff:ffff'))
  assert.is.not(of('2001:db8:1:2::1'), of('2001:db8:1:3::1'))
  assert.is(of('::1'), '0:0:0:0::/64')
  assert.is(of('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.is(of(undefined), 'unknown')
})

test('behind proxies the entry counts that the outermost of them wrote', () => {
  const proxy = '10.0.0.1'
  assert.is(of(proxy, 0, '203.0.113.1'), proxy)
  assert.is(of(proxy, 1, '203.0.113.1'), '203.0.113.1')
  assert.is(of(proxy, 1, 'spoofed, 203.0.113.1'), '203.0.113.1')
  assert.is(of(proxy, 2, '198.51.100.1, 203.0.113.1, 10.0.0.2'), '203.0.113.1')
  assert.is(of(proxy, 3, '203.0.113.1, 10.0.0.2'), '203.0.113.1')
  assert.is(of(proxy, 1, '2001:db8::5'), '2001:db8:0:0::/64')
  assert.is(of(proxy, 1, '[2001:db8::5]:4711'), '2001:db8:0:0::/64')
  assert.is(of(proxy, 1, '203.0.113.1:4711'), '203.0.113.1')
  for (const nonsense of ['', 'unknown', '300.1.1.1', '1', '127.1', '0x7f000001', "'; DROP", '::g', '_hidden'])
    assert.is(of(proxy, 1, nonsense), proxy, nonsense)
  assert.is(of(proxy, 1), proxy)
})

test('a flood of addresses is kept within bounds, and those whose window is over go first', () => {
  const counters = memoryCounters(100)
  const count = (address: string, now: number) => counters.count('general', address, now) as { count: number }
  count('early', 0)
  for (let i = 0; i < 99; i++) count(`a${i}`, 30_000)
  count('early', 59_999)
  assert.is(counters.size, 100)
  count('late', 60_000)
  assert.is(counters.size, 100)
  assert.is(count('a0', 60_000).count, 2)
  for (let i = 0; i < 10_000; i++) count(`b${i}`, 60_001)
  assert.is(counters.size, 100)
  assert.is(count('b9999', 60_001).count, 2)
  assert.is(count('late', 200_000).count, 1)
  assert.is(counters.size, 1)
})

test.run()
