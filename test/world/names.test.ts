// engines: embedded; process: own
/** Looking up names: deadlines of our own, shares, what is kept, the hosts file. Source: A-188. */
import { promises as dns } from 'node:dns'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { domainOf, loadDomains } from '../../src/world/egress/addresses.ts'
import { createShares } from '../../src/world/egress/fair-shares.ts'
import { parseHosts } from '../../src/world/egress/hosts-file.ts'
import { createNames, type NamesOptions } from '../../src/world/egress/names.ts'
import { openNameServer, type Said } from '../support/name-server.ts'
import { closeOpened, opened, pause } from '../support/servers.ts'

test.after.each(closeOpened)

const DEADLINE_MS = 2_000
const nowhere = join(tmpdir(), 'no-such-hosts-file')
const range = (count: number) => Array.from({ length: count }, (_, i) => i)

async function open(say: (name: string, type: string) => Said, options: NamesOptions = {}) {
  const server = await opened(openNameServer(say))
  const names = createNames({ servers: [server.address], hostsPath: nowhere, deadlineMs: DEADLINE_MS, ...options })
  const codeOf = (name: string, account?: string) =>
    names.lookup(name, account).then(
      () => 'found',
      error => error.code,
    )
  return { server, names, codeOf }
}

const found = (...addresses: string[]) => addresses.map(address => ({ address, family: 4 }))

test('a name has the addresses that its name server tells; localhost is known without', async () => {
  const { server, names } = await open((_, type) => (type === 'A' ? ['127.0.0.1', '10.0.0.7'] : []))
  assert.equal(await names.lookup('Agent.Example.'), found('127.0.0.1', '10.0.0.7'))
  assert.equal((await names.lookup('agent.localhost'))[0], { address: '127.0.0.1', family: 4 })
  assert.equal(server.asked.sort(), ['agent.example A', 'agent.example AAAA'])
})

test('a family of addresses that is never told of keeps the other waiting for a moment alone', async () => {
  const { names } = await open((_, type) => (type === 'A' ? ['127.0.0.1'] : 'silence'), { deadlineMs: 60_000 })
  assert.equal(await names.lookup('half.example'), found('127.0.0.1'))
})

test('no such name, no answer and a failure of the server are told apart; each ends within its deadline', async () => {
  const { codeOf } = await open(name => name.split('.')[0] as Said)
  const codes = await Promise.all(['absent.x', 'failed.x', 'silence.x'].map(name => codeOf(name)))
  assert.equal(codes, ['ENOTFOUND', 'ESERVFAIL', 'ETIMEOUT'])
})

test('what was found out a moment ago is not asked for again, nor what is being asked for', async () => {
  const { server, names, codeOf } = await open(name => (name === 'here.example' ? ['127.0.0.1'] : 'absent'))
  await Promise.all(range(20).map(() => names.lookup('here.example')))
  await names.lookup('here.example')
  for (const _ of range(3)) assert.is(await codeOf('gone.example'), 'ENOTFOUND')
  assert.is(server.asked.length, 4, server.asked.join())
})

test('names of one account or one domain that nobody answers for leave room for all others', async () => {
  await loadDomains()
  const { names, codeOf } = await open(name => (name.startsWith('never') ? 'silence' : ['127.0.0.1']), {
    deadlineMs: 8_000,
  })
  const slow = [
    ...range(300).map(n => codeOf(`never${n}.a${n}.example`, 'one account')),
    ...range(300).map(n => codeOf(`never${n}.one-domain.example`, `account ${n}`)),
  ]
  let over = 0
  for (const one of slow) void one.then(() => over++)
  for (const n of range(20)) await names.lookup(`h${n}.quick.example`, 'another')
  assert.ok(over < slow.length / 2, 'the others are not even half way through')
  const codes = await Promise.all(slow)
  const [ofAccount, ofDomain] = [codes.slice(0, 300), codes.slice(300)].map(some => [...new Set(some)].sort())
  assert.equal(ofAccount, ['ETIMEOUT'])
  assert.equal(ofDomain, ['EBUSY', 'ETIMEOUT'], 'those who only waited are not to blame')
})

test('an account whose domain is used up by others has met a fault of ours; one that used up its own share has not', async () => {
  await loadDomains()
  const { codeOf } = await open(name => (name.startsWith('never') ? 'silence' : ['127.0.0.1']), { deadlineMs: 3_000 })
  // Eight look-ups run and a thousand wait, so that the next one is told at once.
  const hostile = range(1_008).map(n => codeOf(`never${n}.shared.example`, `hostile ${n}`))
  const honest = codeOf('honest.shared.example', 'honest')
  const own = range(9).map(n => codeOf(`never${n}.apart${n}.example`, 'busy with itself'))
  assert.is(await honest, 'EBUSY')
  assert.equal([...new Set(await Promise.all(own))], ['ETIMEOUT'])
  await Promise.all(hostile)
})

test('whoever has used up a share keeps nobody else from a name that both ask for', async () => {
  const { codeOf } = await open(name => (name.startsWith('never') ? 'silence' : ['127.0.0.1']))
  const slow = range(20).map(n => codeOf(`never${n}.a${n}.example`, 'hostile'))
  const hostile = codeOf('agent.other.example', 'hostile')
  assert.is(await codeOf('agent.other.example', 'its owner'), 'found')
  await Promise.all([...slow, hostile])
})

test('name servers that answer anything are there; silence, or nobody at their place, is a fault of our own', async () => {
  for (const [said, expected] of [
    [[], true],
    ['absent', true],
    ['failed', false],
    ['silence', false],
  ] as [Said, boolean][]) {
    const { names } = await open(() => said)
    assert.is(await names.answer(), expected, String(said))
  }
  const { server } = await open(() => [])
  server.close()
  const names = createNames({ servers: [server.address], hostsPath: nowhere })
  assert.is(await names.answer(), false)
})

test('the hosts file comes first, and a change of it is seen', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hosts-'))
  const hostsPath = join(folder, 'hosts')
  const { names } = await open(() => ['9.9.9.9'], { hostsPath })
  assert.equal(await names.lookup('later.example'), found('9.9.9.9'))
  writeFileSync(hostsPath, '127.0.0.5 later.example\n')
  await pause(2_100)
  assert.equal(await names.lookup('LATER.example'), found('127.0.0.5'))
  rmSync(folder, { recursive: true })
})

test('a hosts file: comments, several names, several addresses, and lines that are none', () => {
  const names = parseHosts(
    '# all\n127.0.0.1\tone.example Two.example # here\r\n::1 one.example\nnonsense x.example\n\n7\n',
  )
  assert.equal([...names.keys()], ['one.example', 'two.example'])
  assert.equal(names.get('one.example'), [...found('127.0.0.1'), { address: '::1', family: 6 }])
})

test('places: nobody gets more than a share, who waits too long is sent away, and so is who comes when too many wait', async () => {
  const shares = createShares({ total: 3, each: 2, waiting: 2, waitMs: 500 })
  const first = await shares.acquire(['a'])
  await shares.acquire(['a'])
  const third = shares.acquire(['a'])
  await shares.acquire(['b'])
  const late = shares.acquire(['b']).catch(error => `late ${error.exhausted}`)
  assert.is(await shares.acquire(['c']).catch(error => `full ${error.exhausted}`), 'full ')
  first()
  first()
  await third
  assert.is(await late, 'late ')
})

test('places: who waits for a used-up share keeps nobody behind from what is free', async () => {
  const shares = createShares({ total: 2, each: 1, waiting: 2, waitMs: 60_000 })
  const [leaveA, leaveB] = [await shares.acquire(['a']), await shares.acquire(['b'])]
  const came: string[] = []
  const first = shares.acquire(['a']).then(() => came.push('first'))
  const second = shares.acquire(['c']).then(() => came.push('second'))
  leaveB()
  await new Promise(setImmediate)
  assert.equal(came, ['second'])
  leaveA()
  await Promise.all([first, second])
})

test('what this machine had no descriptors for is no fault of the name: it is asked for again at once', async () => {
  const names = createNames({ resolver: 'system', hostsPath: nowhere })
  const { lookup } = dns
  try {
    const failing = (code: string) => (() => Promise.reject(Object.assign(new Error(code), { code }))) as never
    for (const [code, after] of [
      ['EMFILE', 'found'],
      ['ENFILE', 'found'],
      ['ENOTFOUND', 'ENOTFOUND'],
    ] as const) {
      const ask = () =>
        names.lookup(`${code}.example`).then(
          () => 'found',
          error => error.code,
        )
      dns.lookup = failing(code)
      assert.is(await ask(), code)
      dns.lookup = (async () => found('192.0.2.1')) as never
      assert.is(await ask(), after)
    }
  } finally {
    dns.lookup = lookup
  }
})

test('a domain is what somebody has registered; customers of one platform are apart', async () => {
  await loadDomains()
  const domains = ['a.b.example.co.uk', 'one.github.io', 'two.github.io', 'localhost', '127.0.0.1'].map(domainOf)
  assert.equal(domains, ['example.co.uk', 'one.github.io', 'two.github.io', 'localhost', '127.0.0.1'])
})

test.run()
