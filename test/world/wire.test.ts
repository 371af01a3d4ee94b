// engines: embedded; process: own
/** What the way out says was on the wire, beside what a raw socket saw there. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { HeaderLines } from '../../src/world/header-lines.ts'
import type { Outgoing, Wire } from '../../src/world/world.ts'
import { closeOpened, openEgress, rawServer } from '../support/servers.ts'

test.after.each(closeOpened)

/** A server that sends `answer` once a whole request has come, and what came. */
async function rawAnswer(answer: Buffer) {
  const came: Buffer[] = []
  const server = await rawServer(socket => {
    socket.on('data', chunk => {
      came.push(chunk)
      const { body, length } = split(Buffer.concat(came))
      if (body.length === length) socket.end(answer)
    })
  })
  return { url: `http://127.0.0.1:${server.port}`, came: () => Buffer.concat(came) }
}

function split(request: Buffer) {
  const end = request.indexOf('\r\n\r\n')
  const lines = request.subarray(0, end).toString('latin1').split('\r\n').slice(1)
  const headers = lines.map(line => line.split(': ') as [string, string])
  const length = Number(headers.find(([name]) => name === 'content-length')?.[1] ?? -1)
  return { headers, body: request.subarray(end + 4), length }
}

async function post(answer: string | Buffer, change: Partial<Outgoing> = {}) {
  const server = await rawAnswer(Buffer.from(answer as string))
  const egress = openEgress({ allowLoopback: true, requireHttps: false })
  const headers = { 'content-type': 'application/json', 'X-Own': 'a  b' }
  const plain = { url: `${server.url}/hook?a=1`, body: '{"ü":1}', headers, timeoutMs: 30_000, maxResponseBytes: 50 }
  const result = await egress.post({ ...plain, keepsWire: true, ...change })
  return { result, ...split(server.came()) }
}

const saidOf = (wire: Wire | undefined): HeaderLines => wire!.headers

test('the header lines and the bytes are those of the wire, both ways', async () => {
  const body = Buffer.from([0x7b, 0xff, 0x00, 0xfe, 0x7d])
  const head = 'HTTP/1.1 207 Multi\r\nX-Answer: Yes\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 5\r\n\r\n'
  const { result, headers, body: sent } = await post(Buffer.concat([Buffer.from(head), body]))
  assert.equal(result.wire!.sentHeaders, headers)
  assert.is(sent.toString(), '{"ü":1}')
  assert.is(result.wire!.status, 207)
  assert.equal(saidOf(result.wire), [
    ['X-Answer', 'Yes'],
    ['set-cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
    ['Content-Length', '5'],
  ])
  assert.equal(result.wire!.body, body)
  assert.not(result.wire!.isCut)
})

test('what came of a response that did not end is there, and so is a cut', async () => {
  const broken = await post('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly this')
  assert.not(broken.result.ok)
  assert.is(broken.result.wire!.status, 200)
  assert.is(broken.result.wire!.body.toString(), 'only this')
  const long = await post(`HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n${'x'.repeat(60)}`)
  assert.is(long.result.wire!.body.length, 50)
  assert.ok(long.result.wire!.isCut)
})

test('without a response there is no status; who does not ask gets no wire', async () => {
  const { result } = await post('')
  assert.is(result.wire!.status, null)
  assert.equal(result.wire!.body, Buffer.alloc(0))
  assert.is((await post('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', { keepsWire: false })).result.wire, undefined)
})

test.run()
