// engines: embedded, postgres at length; process: own; lengths: short, long
/** Thousands of requests that are wrong in some way: the envelope answers each, and nothing breaks. Source: I-envelope, I-status-bad, A-17, A-41. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { signatureHeaders } from '../../src/api/signature.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { seededChance } from '../../src/world/chance.ts'
import { type FuzzRequest, fuzzer, type Pool } from '../support/fuzz-requests.ts'
import { amount, isLong } from '../support/length.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { checkExchange, exchange, Wire, type WireAnswer, type WireHeader } from '../support/wire.ts'

const seed = process.env.FUZZ_SEED ?? 'e'
const COUNT = Number(process.env.FUZZ_COUNT ?? amount({ short: 1_000, long: 3_000 }))
const CONNECTIONS = 8

const broken: string[] = []
process.on('unhandledRejection', error => broken.push(`unhandled rejection: ${(error as Error)?.stack ?? error}`))
process.on('uncaughtException', error => broken.push(`uncaught exception: ${error.stack}`))

async function open() {
  const log = (line: LogEntry) => {
    if (line.type === 'error') broken.push(`logged: ${line.message} ${'stack' in line ? line.stack : ''}`)
  }
  const marketplace = await openTestMarketplace({ log })
  const [buyer, builder] = [await marketplace.join('buyer', 1_000_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const ids = [buyer.id, agent.id, 'cat_writing', 'cat_code']
  for (let i = 0; i < 30; i++) {
    const { id } = await marketplace.draft(buyer, agent)
    if (i > 2) await buyer.call('POST', `/api/tasks/${id}/submit`)
    if (i > 4) await marketplace.callback(agent, id, { action: 'accept' })
    if (i > 24) await marketplace.callback(agent, id, { action: 'deliver', content: 'Done' })
    if (i > 26) await buyer.call('POST', `/api/tasks/${id}/approve`)
    ids.push(id, id)
  }
  const cookieOf = async ({ email, password }: { email: string; password: string }): Promise<WireHeader> => {
    const type = ['content-type', 'application/json'] as const
    const { headers } = await exchange(
      marketplace.url,
      'POST',
      '/api/auth/login',
      [type],
      JSON.stringify({ email, password }),
    )
    return ['cookie', headers['set-cookie']!.split(';')[0]!]
  }
  const files = [{ name: 'table.csv', content: new TextEncoder().encode('a,b\n1,2\n') }]
  const withFile = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id: withFile.id })
  await builder.client.agentAccept({ id: withFile.id })
  await builder.client.agentDeliver({ id: withFile.id, files })
  const { items } = await buyer.client.listDeliverables({ id: withFile.id })
  ids.push(withFile.id, items[0]!.files[0]!.id)
  let signatures = 0
  const pool: Pool = {
    host: new URL(marketplace.url).host,
    ids,
    credentials: [
      ['authorization', `Bearer ${buyer.key}`],
      ['authorization', `Bearer ${builder.key}`],
      await cookieOf(buyer),
    ],
    sign: body =>
      Object.entries(signatureHeaders(agent.secret, marketplace.world.realNow() - (signatures++ % 200_000), body)),
    admin: [['authorization', `Bearer ${marketplace.admin.key}`], await cookieOf(marketplace.admin)],
  }
  /** What a fuzzed request may have taken from the two, so that the others still get somewhere. */
  const restore = async () => {
    for (const { id } of [buyer, builder]) {
      await marketplace.admin.call('PUT', `/api/admin/users/${id}`, {
        isBuilder: true,
        banned: false,
        suspended: false,
      })
    }
  }
  return { marketplace, pool, restore }
}

/** It goes on, so nothing else comes over its connection. */
const isStream = (answer: WireAnswer | null) => answer?.headers['content-type'] === 'text/event-stream; charset=utf-8'

/** Why an answer is not what the interface promises; undefined if it is. */
function fault(answer: WireAnswer, isHead: boolean): string | undefined {
  const { status, headers, text, body } = answer
  if (!/^HTTP\/1\.1 \d{3} /.test(text)) return 'is no HTTP'
  // The address alone leads to a page for people.
  if (status === 302 && headers.location === '/docs') return undefined
  if (status < 200 || status >= 500 || (status >= 300 && status < 400)) return `has the status ${status}`
  if (status === 200 && headers['content-disposition']?.startsWith('attachment')) return undefined
  if (status === 200 && isStream(answer)) return undefined
  if (headers['content-type'] !== 'application/json; charset=utf-8') return `has the type ${headers['content-type']}`
  if (!headers['x-request-id']) return 'has no request id'
  if (isHead) return body === '' ? undefined : 'answers HEAD with a body'
  try {
    return envelopeFault(status, JSON.parse(body))
  } catch {
    return `is no JSON: ${body.slice(0, 200)}`
  }
}

function envelopeFault(status: number, envelope: Record<string, unknown>): string | undefined {
  const { success, data, error, errors, hint, ...more } = envelope
  // A simulator says why a signature was refused.
  if (hint !== undefined && status !== 401) return 'has a hint that helps with no signature'
  if (Object.keys(more).length > 0) return `has more than the envelope: ${Object.keys(more)}`
  if (success !== status < 300) return `says success ${success} with ${status}`
  if (success) return data === undefined || error !== undefined ? 'is no envelope of success' : undefined
  if (typeof error !== 'string' || error === '' || data !== undefined) return 'is no envelope of failure'
  if (/\bat .*\.ts:|node_modules|SQLITE|SELECT |INSERT /.test(error)) return `tells of the inside: ${error}`
  if (errors === undefined) return undefined
  const lists = Object.values(errors as Record<string, unknown>)
  const fine =
    lists.length > 0 && lists.every(list => Array.isArray(list) && list.every(one => typeof one === 'string'))
  return fine ? undefined : `has a map of errors that is none: ${JSON.stringify(errors)}`
}

function contractFault({ bytes }: FuzzRequest, answer: WireAnswer): string | undefined {
  try {
    checkExchange(bytes, answer)
    return undefined
  } catch (error) {
    return `is not as its record promises: ${(error as Error).message}`
  }
}

const tell = ({ name, bytes }: FuzzRequest) => `${name}\n${JSON.stringify(bytes.toString('latin1', 0, 1_500))}`

/** What a run of requests has come to: statuses and what else is counted, and what is wrong with the answers. */
interface Course {
  readonly counts: Map<number | string, number>
  readonly faults: string[]
}

/** Sends one request, closes what does not end, and judges the answer. */
async function sendOne(wire: Wire, request: FuzzRequest, { counts, faults }: Course): Promise<WireAnswer | null> {
  const late = setTimeout(() => wire.close(), PATIENCE_MS)
  const sent = wire.write(request.bytes)
  if (request.cut) {
    await sent
    wire.end()
  }
  const answer = await wire.answer(request.isHead)
  clearTimeout(late)
  for (const what of worthACount(request, answer)) counts.set(what, (counts.get(what) ?? 0) + 1)
  const found = answerFault(request, answer)
  if (found)
    faults.push(`the answer ${found}; it was asked for by ${tell(request)}\nand is ${answer?.text.slice(0, 500)}`)
  if (broken.length > 0) faults.push(`while this was served: ${tell(request)}`)
  return answer
}

function worthACount({ name }: FuzzRequest, answer: WireAnswer | null): (number | string)[] {
  if (!answer) return []
  const hasTaken = answer.status < 300 && name.endsWith('as multipart')
  const isRepeat = Boolean(answer.headers['idempotent-replayed'])
  return [answer.status, ...(hasTaken ? ['files taken'] : []), ...(isRepeat ? ['repeats'] : [])]
}

function answerFault(request: FuzzRequest, answer: WireAnswer | null): string | undefined {
  if (answer) return fault(answer, request.isHead) ?? contractFault(request, answer)
  return request.cut ? undefined : 'did not come'
}

/** Sends all over a few connections, each answered before the next; what is wrong with the answers. */
async function sendAll(
  url: string,
  requests: readonly FuzzRequest[],
  counts: Map<number | string, number>,
): Promise<string[]> {
  const course: Course = { counts, faults: [] }
  let next = 0
  const line = async () => {
    let wire = new Wire(url)
    const renew = () => {
      wire.close()
      wire = new Wire(url)
    }
    while (next < requests.length && course.faults.length === 0 && broken.length === 0) {
      const request = requests[next++]!
      if (request.alone || wire.ended) renew()
      const answer = await sendOne(wire, request, course)
      if (request.alone || answer?.headers.connection === 'close' || isStream(answer)) renew()
    }
    wire.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, line))
  return course.faults
}

test(`${COUNT} fuzzed requests: always the envelope, never a 5xx, never an exit, no unhandled rejection`, async () => {
  const { marketplace, pool, restore } = await open()
  const make = fuzzer(Object.values(endpoints) as readonly Endpoint[], pool, seededChance(seed))
  const statuses = new Map<number | string, number>()
  const faults: string[] = []
  for (let sent = 0; sent < COUNT && faults.length === 0; sent += 250) {
    const requests = Array.from({ length: Math.min(250, COUNT - sent) }, make)
    faults.push(...(await sendAll(marketplace.url, requests, statuses)))
    await restore()
  }
  const still = await exchange(marketplace.url, 'GET', '/api/agents')
  await marketplace.checkLedger().catch(error => faults.push(error.message))
  await marketplace.close()
  assert.equal([...faults, ...broken], [], `FUZZ_SEED=${JSON.stringify(seed)}\n${[...faults, ...broken].join('\n\n')}`)
  // Or the requests would be too wrong to get anywhere. Another seed may have its own luck.
  const isUsual = process.env.FUZZ_SEED === undefined
  for (const what of isUsual ? [200, 201, 400, 401, 403, 404, 405, 'repeats'] : []) {
    assert.ok((statuses.get(what) ?? 0) > 2, `some ${what}`)
  }
  if (isLong && isUsual) assert.ok(statuses.has('files taken'))
  assert.is(still.status, 200)
})

test('the judge of answers finds what is no envelope', () => {
  const head = 'HTTP/1.1 200 OK\r\n'
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'x' }
  const judge = (status: number, body: string, more = {}) =>
    fault({ status, headers: { ...headers, ...more }, text: head, body }, false)
  assert.is(judge(200, '{"success":true,"data":1}'), undefined)
  assert.is(judge(400, '{"success":false,"error":"x","errors":{"a":["b"]}}'), undefined)
  const bad: readonly [number, string, object?][] = [
    [500, '{"success":false,"error":"x"}'],
    [302, '{"success":true,"data":1}'],
    [200, '{"success":false,"error":"x"}'],
    [404, '{"success":true,"data":1}'],
    [400, '{"success":false}'],
    [400, '{"success":false,"error":"x","stack":"y"}'],
    [400, '{"success":false,"error":"x","errors":{"a":"b"}}'],
    [400, '{"success":false,"error":"SQLITE_ERROR"}'],
    [200, '{"success":true}'],
    [200, 'ok'],
    [200, '{"success":true,"data":1}', { 'content-type': 'text/plain' }],
  ]
  for (const [status, body, more] of bad) assert.ok(judge(status, body, more), `${status} ${body}`)
})

test.run()
