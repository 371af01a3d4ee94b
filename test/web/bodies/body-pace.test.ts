// engines: embedded; process: own
/** How slowly a body may come: at a pace, and not by a fixed time. Over the wire, looked at when the test says so. Source: A-49. */
import http from 'node:http'
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'
import { inTime, until } from '../../support/patience.ts'

const KIB = 1024
/** A body is looked at every 30 s, for 16 KiB a second. */
const LOOK_MS = 30_000
/** With what the parser of forms may hold back, more than 480 KiB, and less. */
const [ENOUGH, TOO_LITTLE, HELD] = [500 * KIB, 460 * KIB, 10 * KIB]
/** Comes before the first look is begun. */
const START = 40 * KIB

interface Answer {
  status: number
  text: string
}

/** A POST whose body the test sends piece by piece. */
function begin(url: string, headers: http.OutgoingHttpHeaders) {
  const request = http.request(url, { method: 'POST', headers })
  const answer = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject).on('response', async reply => {
      let text = ''
      for await (const chunk of reply) text += chunk
      resolve({ status: reply.statusCode ?? 0, text })
    })
  })
  answer.catch(() => {})
  return { request, answer }
}

/** Bytes of bodies that are on their way, as the marketplace counts them: of files, and of all else. */
async function arriving({ url }: TestMarketplace): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(/^marketplace_http_arriving_(?:file_)?bytes (\d+)$/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  )
}

async function open() {
  const marketplace = await openTestMarketplace()
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

/** Looks come when the test lets the time pass, however long the bytes take. */
const looked = (name: string, work: () => Promise<void>) =>
  test(name, async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    try {
      await work()
    } finally {
      mock.timers.reset()
    }
  })

/** What the marketplace says to a body of which so much comes between one look and the next. */
async function answerTo(
  { marketplace, deliver }: Awaited<ReturnType<typeof open>>,
  { headers, start, pieces }: { headers: http.OutgoingHttpHeaders; start: Buffer; pieces: readonly number[] },
): Promise<Answer> {
  const { request, answer } = begin(deliver, headers)
  request.write(start)
  let sent = 0
  const send = async (size: number) => {
    if (size > 0) request.write(Buffer.alloc(size, 'a'))
    sent += size
    await until('it has come', async () => (await arriving(marketplace)) >= sent - HELD)
  }
  await send(START)
  for (const size of pieces) {
    await send(size)
    mock.timers.tick(LOOK_MS)
  }
  if (headers['content-type'] !== 'application/json') request.end(end)
  return inTime('an answer', answer)
}

looked('an upload that comes slowly but steadily is taken, through many looks at it', async () => {
  const at = await open()
  const pieces = Array.from({ length: 8 }, () => ENOUGH)
  const { status, text } = await answerTo(at, { headers: at.form, start: part, pieces })
  assert.is(status, 200, text)
  await at.marketplace.close()
})

looked(
  'one that comes too slowly ends with a sentence, be it an upload or JSON, and so does one that stands still',
  async () => {
    const at = await open()
    const json = Buffer.from('{"content":"')
    for (const slow of [
      { headers: at.form, start: part, pieces: [ENOUGH, ENOUGH, TOO_LITTLE] },
      { headers: at.json, start: json, pieces: [ENOUGH, TOO_LITTLE] },
      { headers: at.json, start: json, pieces: [0] },
    ]) {
      const { status, text } = await answerTo(at, slow)
      assert.is(status, 400, text)
      assert.match(text, 'The request took too long to arrive: less than 16 KiB a second')
    }
    await at.marketplace.close()
  },
)

test.run()
