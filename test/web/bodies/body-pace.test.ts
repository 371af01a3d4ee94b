// engines: embedded; process: shared
/** How slowly a body may come: at a pace, and not by a fixed time. Over the wire. Source: A-49. */
import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace } from '../../support/marketplace.ts'

/** A body is looked at six times as rarely. Served, it is 5 s, so that the pace here is fifty times as fast. */
const LOOK_MS = 100
const KIB = 1024

/** What the marketplace says to a body that comes in pieces, one each `everyMs`, and how long it took. */
async function send(
  url: string,
  { head, pieces, everyMs }: { head: http.OutgoingHttpHeaders; pieces: Iterable<Buffer>; everyMs: number },
) {
  const began = performance.now()
  const request = http.request(url, { method: 'POST', headers: head })
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    request.on('error', reject).on('response', async reply => {
      let text = ''
      for await (const chunk of reply) text += chunk
      resolve({ status: reply.statusCode ?? 0, text })
    })
  })
  let answered = false
  answer.then(
    () => (answered = true),
    () => (answered = true),
  )
  for (const piece of pieces) {
    if (answered) break
    request.write(piece)
    await wait(everyMs)
  }
  if (!answered) request.end()
  return { ...(await answer), ms: performance.now() - began }
}

const repeated = (count: number, piece: Buffer) => Array.from({ length: count }, () => piece)

async function open() {
  const marketplace = await openTestMarketplace({ bounds: { lookMs: LOOK_MS } })
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await builder.call('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')
  const authorization = `Bearer ${builder.key}`
  const json = { authorization, 'content-type': 'application/json' }
  const form = { authorization, 'content-type': 'multipart/form-data; boundary=x' }
  return { marketplace, json, form, deliver: `${marketplace.url}/api/agent/tasks/${id}/deliver` }
}

const part = Buffer.from('--x\r\ncontent-disposition: form-data; name="files"; filename="a.csv"\r\n\r\n')
const end = Buffer.from('\r\n--x--\r\n')

test('an upload that comes slowly but steadily is taken, through many looks at it', async () => {
  const { marketplace, form, deliver } = await open()
  // 1.3 MiB a second: a look each 0.6 s wants 480 KiB.
  const pieces = [part, ...repeated(60, Buffer.alloc(128 * KIB, 'a')), end]
  const { status, text, ms } = await send(deliver, { head: form, pieces, everyMs: 60 })
  assert.is(status, 200, text)
  assert.ok(ms > 5 * 6 * LOOK_MS, `${ms}`)
  await marketplace.close()
})

test('one that comes too slowly ends with a sentence, be it an upload or JSON, and so does one that stands still', async () => {
  const { marketplace, form, json, deliver } = await open()
  const trickle = repeated(60, Buffer.alloc(8 * KIB, 'a'))
  const still = function* () {
    yield Buffer.from('{"content":"')
    for (let n = 0; n < 60; n++) yield Buffer.alloc(0)
  }
  for (const [head, pieces] of [
    [form, [part, ...trickle, end]],
    [json, [Buffer.from('{"content":"'), ...trickle]],
    [json, still()],
  ] as const) {
    const { status, text, ms } = await send(deliver, { head, pieces, everyMs: 80 })
    assert.is(status, 400, text)
    assert.match(text, 'The request took too long to arrive: less than 16 KiB a second')
    assert.ok(ms < 3 * 6 * LOOK_MS + 500, `${ms}`)
  }
  await marketplace.close()
})

test.run()
