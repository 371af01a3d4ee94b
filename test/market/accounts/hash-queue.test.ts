// engines: embedded; process: shared
/** The queue before the hashing of passwords: bounded, fair between addresses, left by those who have gone. */
import net from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Refusal } from '../../../src/api/failures.ts'
import { HashQueue } from '../../../src/market/accounts/hash-queue.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'
import { requestBytes } from '../../support/wire.ts'

/** A queue whose work ends when the test says so, and what became of each that was asked for. */
function slowQueue(options: { atOnce: number; most: number }) {
  const queue = new HashQueue(options)
  const begun: string[] = []
  const refused: string[] = []
  const ends: (() => void)[] = []
  const ask = (name: string, address = name, gone?: AbortSignal) =>
    queue
      .run({ address, ...(gone && { gone }) }, () => {
        begun.push(name)
        return new Promise<void>(resolve => ends.push(resolve))
      })
      .catch(error => {
        refused.push(error instanceof Refusal ? `${name}: ${error.code}` : `${name}: ${error.message}`)
      })
  /** Ends the oldest that runs. */
  const end = async () => {
    ends.shift()?.()
    await wait(0)
  }
  return { queue, begun, refused, ask, end }
}

test('so many wait and no more: the next is told when to come back', async () => {
  const { queue, begun, refused, ask } = slowQueue({ atOnce: 2, most: 3 })
  for (const name of ['a', 'b', 'c', 'd', 'e']) void ask(name)
  await ask('f')
  assert.equal([begun, refused, queue.waiting], [['a', 'b'], ['f: overloaded'], 3])
  const refusal = await queue.run({ address: 'g' }, async () => {}).catch(error => error)
  assert.equal([refusal.status, refusal.headers], [500, { 'retry-after': '5' }])
})

test('addresses take turns, and the one that sends most gives way where it is full', async () => {
  const { begun, refused, ask, end } = slowQueue({ atOnce: 1, most: 4 })
  for (const name of ['flood 1', 'flood 2', 'flood 3', 'flood 4', 'flood 5']) void ask(name, 'flood')
  void ask('ann')
  await wait(0)
  assert.equal(refused, ['flood 5: overloaded'])
  void ask('bob')
  await wait(0)
  assert.equal(refused, ['flood 5: overloaded', 'flood 4: overloaded'])
  for (let i = 0; i < 5; i++) await end()
  assert.equal(begun, ['flood 1', 'flood 2', 'ann', 'bob', 'flood 3'])
})

test('the one that sends most gives way wherever it stands in the queue, and whatever it is called', async () => {
  const { refused, ask } = slowQueue({ atOnce: 1, most: 4 })
  void ask('first')
  void ask('bob')
  for (const name of ['flood 1', 'flood 2']) void ask(name, 'flood')
  void ask('one', 'the longest address of all')
  void ask('ann')
  await wait(0)
  assert.equal(refused, ['flood 2: overloaded'])
})

test('who has gone leaves the queue, and takes no turn', async () => {
  const { queue, begun, refused, ask, end } = slowQueue({ atOnce: 1, most: 4 })
  const left = new AbortController()
  void ask('a')
  void ask('b', 'b', left.signal)
  void ask('c')
  left.abort(new Error('has gone'))
  await wait(0)
  assert.equal([refused, queue.waiting], [['b: has gone'], 1])
  await end()
  assert.equal(begun, ['a', 'c'])
  await ask('d', 'd', left.signal)
  assert.equal(refused, ['b: has gone', 'd: has gone'])
})

test('a slot comes free when work fails', async () => {
  const queue = new HashQueue({ atOnce: 1, most: 1 })
  const failed = queue.run({ address: 'a' }, async () => Promise.reject(new Error('no memory')))
  const next = queue.run({ address: 'b' }, async () => 'done')
  assert.is(await failed.catch(error => error.message), 'no memory')
  assert.is(await next, 'done')
  assert.is(await queue.run({ address: 'c' }, async () => 'done'), 'done')
})

test('a storm of logins is refused in its excess, hashes nothing for those who have left, and a login beside it passes', async () => {
  const marketplace = await openTestMarketplace({ trustProxy: 1 })
  const ann = await marketplace.join('ann')
  const storm = Array.from({ length: 300 }, async (_, n) => {
    const reply = await fetch(`${marketplace.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.1' },
      body: JSON.stringify({ email: `nobody${n}@example.com`, password: 'a guess' }),
    })
    await reply.arrayBuffer()
    return reply.status
  })
  const login = fetch(`${marketplace.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.2' },
    body: JSON.stringify({ email: ann.email, password: ann.password }),
  })
  const statuses = await Promise.all(storm)
  assert.is((await login).status, 200)
  const count = (status: number) => statuses.filter(one => one === status).length
  assert.ok(count(500) > 0, `${count(500)} were refused`)
  assert.is(count(401) + count(500), 300)
  await marketplace.close()
})

test('a login whose client has left is not counted as an answer', async () => {
  const statuses: number[] = []
  const marketplace = await openTestMarketplace({
    log: line => line.type === 'request' && line.path === '/api/auth/login' && statuses.push(line.status),
  })
  statuses.length = 0
  const { hostname, port, host } = new URL(marketplace.url)
  const body = JSON.stringify({ email: 'nobody@example.com', password: 'a guess' })
  const bytes = requestBytes(
    'POST',
    '/api/auth/login',
    [
      ['host', host],
      ['content-type', 'application/json'],
    ],
    body,
  )
  const sockets = Array.from({ length: 30 }, () => net.connect({ host: hostname, port: Number(port) }))
  await Promise.all(sockets.map(socket => new Promise<void>(resolve => socket.write(bytes, () => resolve()))))
  for (const socket of sockets) socket.destroy()
  const ann = await marketplace.join('ann')
  assert.is((await ann.ask('POST', '/api/auth/login', { email: ann.email, password: ann.password })).status, 200)
  assert.ok(statuses.length < 31, `${statuses.length} were answered`)
  await marketplace.close()
})

test.run()
