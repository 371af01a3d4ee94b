// engines: embedded; process: shared
/** Forbidden addresses in every spelling, tried for real against canaries on this machine. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addressFault, isLoopback } from '../../src/world/egress/addresses.ts'
import { createWorld } from '../../src/world/real.ts'
import { addresses, canaries } from '../support/forbidden.ts'

const post = { body: '{}', headers: {}, timeoutMs: 2000, maxResponseBytes: 100 }

test(`serve: ${addresses.length} spellings of forbidden addresses are refused and no canary sees a connection`, async () => {
  const canary = await canaries()
  const { egress } = createWorld({ allowLoopback: false, requireHttps: true })
  for (const { url, reason } of addresses) {
    const result = await egress.post({ ...post, url: url.replaceAll('{port}', String(canary.port)) })
    assert.is(result.ok ? 'called' : result.reason, reason, url)
    if (!result.ok) assert.match(result.message, /^[A-Z].*\.$/, `${url}: a whole sentence`)
  }
  assert.is(canary.seen(), 0)
  await egress.close()
  canary.close()
})

test('serve: plain http to a forbidden address is refused by the address as well, when https is not asked for', async () => {
  const canary = await canaries()
  const { egress } = createWorld({ allowLoopback: false, requireHttps: false })
  for (const { url, kind, reason } of addresses) {
    if (reason !== 'private_address') continue
    const plain = url.replace(/https:/i, 'http:').replaceAll('{port}', String(canary.port))
    const result = await egress.post({ ...post, url: plain })
    assert.is(result.ok ? 'called' : result.reason, 'private_address', `${kind} ${plain}`)
  }
  assert.is(canary.seen(), 0)
  await egress.close()
  canary.close()
})

test('dev: loopback is called in any spelling, nothing else private is', async () => {
  const canary = await canaries()
  const { egress } = createWorld({ allowLoopback: true, requireHttps: false })
  const loopback = ['127.0.0.1', '127.1', '2130706433', '0x7f000001', 'localhost', 'agent.localhost', 'LOCALHOST.']
  for (const host of [...loopback, '[::ffff:127.0.0.1]']) {
    const result = await egress.post({ ...post, url: `http://${host}:${canary.port}/` })
    assert.is(result.ok ? result.status : result.message, 200, host)
  }
  const before = canary.seen()
  for (const { url, kind, reason } of addresses) {
    if (reason !== 'private_address' || /^(?:loopback|mapped)/.test(kind)) continue
    const result = await egress.post({ ...post, url: url.replaceAll('{port}', String(canary.port)) })
    assert.is(result.ok ? 'called' : result.reason, 'private_address', url)
  }
  assert.is(canary.seen(), before)
  await egress.close()
  canary.close()
})

test('the sentence names the address and the rule', async () => {
  const { egress } = createWorld({ allowLoopback: false, requireHttps: true })
  const said = async (url: string) => {
    const result = await egress.post({ ...post, url })
    return result.ok ? '' : result.message
  }
  assert.is(
    await said('https://10.0.0.7/hook'),
    'The address 10.0.0.7 is private; webhooks go to public addresses only.',
  )
  assert.is(
    await said('https://0x7f.1/'),
    'The address 127.0.0.1 is this machine itself; webhooks go to public addresses only.',
  )
  assert.is(
    await said('https://localhost/'),
    'An address of localhost is this machine itself; webhooks go to public addresses only.',
  )
  assert.is(await said('http://example.com/'), 'The URL begins with http://; webhooks go to https:// only.')
  await egress.close()
})

test('public unicast addresses pass', () => {
  const open = ['1.1.1.1', '8.8.8.8', '93.184.216.34', '100.63.255.255', '172.32.0.1', '192.0.3.1', '223.255.255.254']
  const open6 = ['2606:4700::1111', '2001:4860:4860::8888', '2a00:1450::1', '::ffff:8.8.8.8', '2003::1']
  for (const address of [...open, ...open6]) assert.is(addressFault(address, { allowLoopback: false }), null, address)
  for (const odd of ['', 'localhost', '1.2.3', '2606:4700::1111%eth0', '1.1.1.1/8', '::1%lo']) {
    assert.ok(addressFault(odd, { allowLoopback: true }), odd)
  }
})

test('of each kind of address it is told why none may call it', () => {
  const kinds: [why: string, ...addresses: string[]][] = [
    ['private', '10.0.0.7', '172.16.0.1', '192.168.1.1', 'fd00::1', '::ffff:10.0.0.7', 'fec0::1'],
    ['this machine itself', '127.0.0.1', '::1'],
    ['link-local', '169.254.169.254', 'fe80::1'],
    ['private to a carrier', '100.64.0.1'],
    ['not the address of one machine', '0.0.0.0', '::'],
    ['a broadcast address', '255.255.255.255'],
    ['a multicast address', '224.0.0.1', 'ff02::1'],
    ['a translated address (NAT64)', '64:ff9b::a00:7'],
    ['a translated address', '::ffff:0:10.0.0.7'],
    ['a tunnel (6to4)', '2002:a00:7::1'],
    ['a tunnel (Teredo)', '2001::1'],
    ['reserved', '192.0.2.1', '240.0.0.1', '2001:db8::1', '3fff::1', '::7f00:1', '4000::1'],
    ['the platform that a machine of a cloud runs on', '168.63.129.16'],
    ['not a plain address', 'agent.example', '1.1.1.1%lo'],
  ]
  for (const [why, ...some] of kinds)
    for (const address of some) assert.is(addressFault(address, { allowLoopback: false }), why, address)
  const asked: string[] = []
  const isOwn = (address: string) => asked.push(address) > 1
  const faults = ['::ffff:8.8.8.8', '2606:4700::1'].map(one => addressFault(one, { allowLoopback: true, isOwn }))
  assert.equal(
    [faults, asked],
    [
      [null, 'this machine itself'],
      ['8.8.8.8', '2606:4700:0:0:0:0:0:1'],
    ],
  )
})

test('isLoopback: names and addresses of this machine', () => {
  for (const host of ['localhost', 'a.localhost', 'localhost.', '127.0.0.1', '127.9.9.9', '::1', '[::1]']) {
    assert.ok(isLoopback(host), host)
  }
  for (const host of ['localhost.example.com', 'notlocalhost', '10.0.0.1', '0.0.0.0', '::', 'example.com', '']) {
    assert.not(isLoopback(host), host)
  }
})

test.run()
