// engines: embedded; process: shared
/** What an agent says to a marketplace that is played to it, and to anybody else, is passed on and recorded as it was. */
import { once } from 'node:events'
import http from 'node:http'
import { connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sign } from '../../src/api/signature.ts'
import { AgentUnderTest } from '../../src/conform/agent/agent-under-test.ts'
import { bytesOf, type Happening } from '../../src/conform/history/history.ts'
import { Recorder } from '../../src/conform/history/recorder.ts'
import { CallbackFront } from '../../src/conform/marketplaces/callback-proxy.ts'
import { Lane, type LaneBuyer } from '../../src/conform/marketplaces/lane.ts'
import { answerCut, lasting, onItsWayUntil, unavailable } from '../../src/sim/callbacks/faults.ts'
import { createWorld } from '../../src/world/real.ts'
import { inTime, PATIENCE_MS, until } from '../support/patience.ts'

const test = suite('what an agent says')

const secret = 'whsec_dGhlIHNlY3JldCBvZiB0aGUgYWdlbnQ='
const recorder = new Recorder()
const { egress } = createWorld({ requireHttps: false, allowLoopback: true })
let lane: Lane
let buyer: LaneBuyer
test.before(async () => {
  const agent = new AgentUnderTest({
    ...{ url: 'http://127.0.0.1:1/webhook', secret, id: 'agt_1', keyBytes: Buffer.alloc(24), command: null, recorder },
    chance: () => 0,
  })
  agent.comingUp.ends()
  lane = await Lane.open({ name: 'real', agent, recorder, egress, maxRevisions: 3 })
  buyer = await lane.buyer('buyer', 'new_verified', 10_000)
})
test.after(async () => {
  await lane?.close()
  await egress.close()
})

async function submitted(label: string): Promise<string> {
  const words = { title: 'A notice', description: 'Please write a notice for the village fair.', agreedPrice: 500 }
  const { id } = await buyer.act('createTask', { agentId: 'agt_1', ...words })
  lane.labels.set(id, label)
  await buyer.act('submitTask', { id })
  return id
}

type Headers = Readonly<Record<string, string>>
const signed = (body: string, at = Date.now()): Headers => ({
  'X-Service-Timestamp': `${at}`,
  'X-Service-Signature': sign(secret, at, body),
})

/** Status, or why there was none. */
const post = (path: string, body: string, headers: Headers = {}): Promise<number | string> =>
  fetch(lane.callbacks.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  }).then(
    ({ status }) => status,
    ({ message }: Error) => message,
  )

const recordedOf = <Kind extends Happening['kind']>(kind: Kind) => recorder.history.of(kind)

test('a callback with whom it is about, how it is signed and what came of it; of a key only that there was one', async () => {
  const id = await submitted('a')
  const path = `/api/agent/tasks/${id}/callback?ref=1`
  const body = JSON.stringify({ action: 'message', content: 'I am at it.' })
  const shown = async (...about: Parameters<typeof post>) => {
    const status = await post(...about)
    const { method, label, taskId, action, path, signature, answer, fault } = recordedOf('callback').at(-1)!
    assert.equal([method, taskId, answer?.status ?? null, fault], ['POST', id, status, null])
    return [label, action, path, signature, status]
  }
  assert.equal(await shown(path, body, signed(body)), ['a', 'message', `/behind/a-proxy${path}`, 'valid', 201])
  const [last] = recordedOf('callback').slice(-1)
  assert.is(bytesOf(last!.body).toString(), body)
  assert.ok(last!.headers.some(([name]) => name === 'X-Service-Signature'))
  assert.ok(last!.answer!.headers.some(([name]) => name.toLowerCase() === 'content-type'))
  assert.is(JSON.parse(last!.answer!.body.text!).success, true)

  const [, , , old, refused] = await shown(path, body, signed(body, Date.now() - 3_600_000))
  assert.match(`${old}`, 'The timestamp is 1 h behind the clock here; 5 min are allowed.')
  assert.is(refused, 401)
  const [, , , none] = await shown(path, body)
  assert.is(none, 'X-Service-Timestamp is missing. X-Service-Signature is missing.')
  assert.equal((await shown(path, 'no json', signed('no json'))).slice(0, 2), ['a', '?'])

  const key = { Authorization: `Bearer ${lane.apiKey}` }
  const byKey = await shown(`/api/agent/tasks/${id}/accept`, '{}', key)
  assert.equal(byKey, ['a', 'accept', `/behind/a-proxy/api/agent/tasks/${id}/accept`, 'key', 200])
  const [, told] = recordedOf('callback')
    .at(-1)!
    .headers.find(([name]) => /^authorization$/i.test(name))!
  assert.is(told, 'Bearer svc_…')
})

test('a callback about what this marketplace does not know is nobody’s; one of what is found out is not kept', async () => {
  await post('/api/agent/tasks/task_2/callback', '{"action":"accept"}')
  assert.equal([recordedOf('callback').at(-1)!.label, recordedOf('callback').at(-1)!.taskId], [null, 'task_2'])
  const before = recordedOf('callback').length
  await lane.agent.rehearse(['task_2', null], async () => {
    await post('/api/agent/tasks/task_2/callback', '{"action":"accept"}')
  })
  assert.is(recordedOf('callback').length, before)
})

test('what was prepared happens so often, to that task and that action; what met nothing is told, unless that may be', async () => {
  const [one, other] = [await submitted('b'), await submitted('c')]
  const of = (taskId: string, action: string, fault = unavailable(1)) => ({ label: action, taskId, action, fault })
  lane.callbacks.prepare(of(one, 'message', unavailable(2)))
  lane.callbacks.prepare(of(one, 'accept', answerCut))
  lane.callbacks.prepare(of(one, 'deliver'))
  lane.callbacks.prepare({
    ...of(
      one,
      'reject',
      onItsWayUntil(Promise.resolve(), () => {}),
    ),
    mayMeetNothing: true,
  })
  const said = async (id: string, action: string) => {
    const body = JSON.stringify({ action, content: 'I am at it.' })
    const status = await post(`/api/agent/tasks/${id}/callback`, body, signed(body))
    const { fault, answer } = recordedOf('callback').at(-1)!
    return [status, answer?.status ?? null, fault && `${fault.name}: ${fault.status}`]
  }
  const free = [201, 201, null]
  assert.equal(await said(other, 'message'), free)
  const busy = [503, null, 'unavailable: 503']
  assert.equal([await said(one, 'message'), await said(one, 'message')], [busy, busy])
  assert.equal(await said(one, 'message'), free)
  assert.equal(await said(one, 'accept'), ['fetch failed', 200, 'answer cut: null'])
  assert.equal(
    lane.callbacks.unused.map(({ label }) => label),
    ['deliver'],
  )
})

test('what lasts for a time meets all that come meanwhile, and nothing that comes later', async () => {
  const id = await submitted('d')
  const said = async (action: string) => {
    const body = JSON.stringify({ action, content: 'I am at it.' })
    return post(`/api/agent/tasks/${id}/callback`, body, signed(body))
  }
  const prepare = (action: string, forMs: number) =>
    lane.callbacks.prepare({ label: action, taskId: id, action, fault: lasting(forMs, unavailable(1)) })
  const before = lane.callbacks.unused.length
  prepare('message', PATIENCE_MS)
  assert.equal([await said('message'), await said('message')], [503, 503])
  prepare('accept', -1)
  assert.is(await said('accept'), 200)
  assert.is(lane.callbacks.unused.length, before)
})

test('who waits until all is recorded waits for what is on its way, and no longer than he says', async () => {
  const id = await submitted('e')
  let release = () => {}
  const until = new Promise<void>(resolve => (release = resolve))
  const begun = new Promise<void>(resolve => {
    const fault = onItsWayUntil(until, resolve)
    lane.callbacks.prepare({ label: 'e', taskId: id, action: 'accept', fault })
  })
  const body = '{"action":"accept"}'
  const count = recordedOf('callback').length
  const answered = post(`/api/agent/tasks/${id}/callback`, body, signed(body))
  await begun
  await inTime('what is not waited for', lane.callbacks.recorded(1))
  assert.is(recordedOf('callback').length, count)
  const recorded = lane.callbacks.recorded(PATIENCE_MS)
  release()
  await recorded
  assert.is(recordedOf('callback').length, count + 1)
  assert.is(await answered, 200)
})

/** On a slow machine it may be back before it is asked. */
const isLostWhileAway = (front: CallbackFront, isLost: () => Promise<boolean>) =>
  until('what is lost', async () => {
    const back = front.away(50)
    const is = await isLost()
    await back
    return is
  })

test('a marketplace that is away takes nothing, and is where it was when it is back', async () => {
  const { url } = lane.callbacks
  const asked = () => post('/api/agent/tasks/task_2/callback', '{"action":"accept"}')
  const before = await asked()
  await isLostWhileAway(lane.callbacks, async () => (await asked()) === 'fetch failed')
  assert.equal([await asked(), lane.callbacks.url], [before, url])
})

test('every other request with its path, and those to other hosts with the whole address', async () => {
  const before = recordedOf('request').length
  const key = { Authorization: `Bearer ${lane.apiKey}` }
  const list = await fetch(`${lane.callbacks.url}/api/tasks?status=pending`, { headers: key })
  assert.is(list.status, 200)
  await fetch(`${new URL(lane.callbacks.url).origin}/beside`)
  const { url } = lane.otherHost
  assert.is((await fetch(`${url}/moved`, { method: 'PUT' })).status, 404)
  const proxied = http.get(url, { path: 'http://example.org/x' })
  const [answer] = await once(proxied, 'response')
  assert.is(answer.resume().statusCode, 404)
  const tunnel = connect(Number(new URL(url).port), '127.0.0.1', () =>
    tunnel.write('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n'),
  )
  const [refusal] = await once(tunnel, 'data')
  assert.match(`${refusal}`, /^HTTP\/1\.1 403 /)
  tunnel.destroy()
  assert.equal(
    recordedOf('request')
      .slice(before)
      .map(({ method, path, status }) => `${method} ${path} ${status}`),
    [
      'GET /behind/a-proxy/api/tasks?status=pending 200',
      'GET /beside 404',
      `PUT ${url}/moved null`,
      'GET http://example.org/x null',
      'CONNECT example.org:443 null',
    ],
  )
})

test('who looks for work finds that of both marketplaces, each callback gets to its own, and a refusal of one is one', async () => {
  const paths: string[] = []
  const market = (name: string, count: number) => {
    const server = http.createServer((request, response) => {
      paths.push(`${name} ${request.url}`)
      const pagination = { page: 1, limit: 20, total: count, totalPages: count, hasMore: count > 1 }
      const tasks = Array.from({ length: count }, (_, at) => `${name}-${at}`)
      const isOver = request.url!.includes('over')
      response.writeHead(isOver && name === 'b' ? 401 : 200, { 'X-Of': name })
      response.end(JSON.stringify({ success: true, data: { tasks, pagination } }))
    })
    return server
  }
  const fronts: CallbackFront[] = []
  const servers = [market('a', 1), market('b', 2)]
  try {
    for (const [at, server] of servers.entries()) {
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const front = new CallbackFront(
        () => {},
        id => id === `task_${at}`,
      )
      await front.listen('127.0.0.1')
      front.pass(`http://127.0.0.1:${(server.address() as { port: number }).port}`)
      fronts.push(front)
    }
    CallbackFront.unite(fronts)
    const { url } = fronts[0]!
    const found = await fetch(`${url}/api/tasks?status=pending`)
    assert.equal(await found.json(), {
      success: true,
      data: {
        tasks: ['a-0', 'b-0', 'b-1'],
        pagination: { page: 1, limit: 20, total: 3, totalPages: 2, hasMore: true },
      },
    })
    assert.is((await fetch(`${url}/api/tasks?over`)).status, 401)
    paths.length = 0
    for (const id of ['task_0', 'task_1', 'task_2'])
      await fetch(`${url}/api/agent/tasks/${id}/callback`, { method: 'POST', body: '{}' })
    await fetch(`${url}/api/tasks`, { method: 'POST', body: '{}' })
    assert.equal(paths, [
      ...['a /api/agent/tasks/task_0/callback', 'b /api/agent/tasks/task_1/callback'],
      ...['a /api/agent/tasks/task_2/callback', 'a /api/tasks'],
    ])
    // Also by the address of the other.
    const about = () => fetch(`${url}/api/agent/tasks/task_1/callback`, { method: 'POST', body: '{}' })
    await isLostWhileAway(fronts[1]!, () =>
      about().then(
        () => false,
        () => true,
      ),
    )
    assert.is((await about()).status, 200)
  } finally {
    for (const front of fronts) await front.close()
    for (const server of servers) server.close()
  }
})

test('what nobody takes comes a third time within a minute, as nobody moves this clock', async () => {
  let waits: number[] = []
  await until('two attempts', async () => {
    const { items } = await lane.builder('listDeliveries', { id: 'agt_1', limit: 100 })
    waits = (items as readonly { attempts: readonly { createdAt: string }[]; nextAttemptAt: string | null }[])
      .filter(({ attempts, nextAttemptAt }) => attempts.length === 2 && nextAttemptAt !== null)
      .map(({ attempts, nextAttemptAt }) => Date.parse(nextAttemptAt!) - Date.parse(attempts.at(-1)!.createdAt))
    return waits.length > 0
  })
  assert.ok(
    waits.every(ms => ms < 60_000),
    `${waits}`,
  )
})

test.run()
