// engines: embedded; process: shared
/** What bounds a request as a whole, at the edge and one beyond it. Lengths count code points. Source. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/api/limits.ts'
import type { TaskRecord } from '../../src/api/records.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
  taskFields,
} from '../support/marketplace.ts'
import { checkExchange, requestBytes, Wire, type WireHeader } from '../support/wire.ts'

const edge = suite<{ marketplace: TestMarketplace; buyer: TestUser; agent: ListedAgent }>('edges')

edge.before(async state => {
  state.marketplace = await openTestMarketplace()
  state.buyer = await state.marketplace.join('buyer', 100_000)
  state.agent = await state.marketplace.list(await state.marketplace.join('builder'), { name: 'Émile at the edge' })
})
edge.after(({ marketplace }) => marketplace.close())

async function post(
  { marketplace, buyer }: { marketplace: TestMarketplace; buyer: TestUser },
  body: string,
  chunked = false,
) {
  const wire = new Wire(marketplace.url)
  const headers: WireHeader[] = [
    ['host', wire.host],
    ['authorization', `Bearer ${buyer.key}`],
    ['content-type', 'application/json'],
  ]
  if (chunked) headers.push(['transfer-encoding', 'chunked'])
  const pieces = body.match(/[\s\S]{1,60000}/g)!.map(piece => `${piece.length.toString(16)}\r\n${piece}\r\n`)
  const sent = chunked ? `${pieces.join('')}0\r\n\r\n` : body
  const request = requestBytes('POST', '/api/tasks', headers, sent)
  void wire.write(request)
  const answer = await wire.answer()
  wire.close()
  checkExchange(request, answer!)
  return answer!
}

edge('a body of a mebibyte is taken and one byte more is not, whether or not it tells its length', async state => {
  const fields = JSON.stringify({ ...taskFields, agentId: state.agent.id })
  const ofLength = (length: number) => fields.replace('{', `{${' '.repeat(length - fields.length)}`)
  assert.is(limits.jsonBytes, 1024 * 1024)
  for (const chunked of [false, true]) {
    assert.is((await post(state, ofLength(limits.jsonBytes), chunked)).status, 201)
    const { status, body } = await post(state, ofLength(limits.jsonBytes + 1), chunked)
    assert.is(status, 400)
    assert.match(body, /larger than 1048576 bytes/)
  }
})

edge('a body of 32 levels is taken and one of 33 is not; brackets within a text are none', async state => {
  const nested = (levels: number, open: string, close: string) =>
    JSON.stringify({ ...taskFields, agentId: state.agent.id }).replace(
      /\}$/,
      `,"x":${open.repeat(levels - 1)}0${close.repeat(levels - 1)}}`,
    )
  for (const [open, close] of [
    ['[', ']'],
    ['{"y":', '}'],
  ] as const) {
    assert.is((await post(state, nested(32, open, close))).status, 201)
    const { status, body } = await post(state, nested(33, open, close))
    assert.is(status, 400)
    assert.match(body, /deeper than 32 levels/)
  }
  const text = '[{"\\'.repeat(100)
  const body = JSON.stringify({ ...taskFields, agentId: state.agent.id, description: text })
  assert.is((await post(state, body)).status, 201)
})

edge('a search of 200 characters is answered and one of 201 is not', async ({ marketplace }) => {
  const search = (query: Record<string, string>) =>
    marketplace.visitor.ask('GET', `/api/agents?${new URLSearchParams(query)}`, undefined, 'nobody')
  for (const field of ['q', 'category']) {
    for (const letter of ['x', 'é', '😀']) {
      assert.is((await search({ [field]: letter.repeat(200) })).status, 200, `${field} ${letter}`)
      const { status, errors } = await search({ [field]: letter.repeat(201) })
      assert.equal([status, Object.keys(errors ?? {})], [400, [field]], `${field} ${letter}`)
    }
    assert.equal(Object.keys((await search({ [field]: 'a\0' })).errors ?? {}), [field])
    assert.is((await search({ [field]: '' })).status, 200)
  }
})

async function delivered(
  { marketplace, buyer, agent }: { marketplace: TestMarketplace; buyer: TestUser; agent: ListedAgent },
  names: string[],
) {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await agent.builder.client.acceptTask({ id })
  const form = new FormData()
  for (const name of names) form.append('files', new Blob(['a,b\n']), name)
  const response = await fetch(`${marketplace.url}/api/agent/tasks/${id}/deliver`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.builder.key}` },
    body: form,
  })
  const { data } = (await response.json()) as { data?: { task: TaskRecord } }
  const kept = data?.task.deliverable?.files?.map(({ name }) => name)
  await buyer.ask('POST', `/api/tasks/${id}/dispute`, { reason: 'Only to end what this test began' }, 'key')
  return { status: response.status, kept }
}

edge('the name of a file has 255 characters at most, whatever they are', async state => {
  for (const letter of ['x', 'é', '😀']) {
    const name = `${letter.repeat(251)}.csv`
    assert.equal(await delivered(state, [name]), { status: 200, kept: [name] }, letter)
    assert.is((await delivered(state, [`${letter}${name}`])).status, 400, letter)
  }
})

edge('a deliverable has five files at most', async state => {
  const names = ['1.csv', '2.csv', '3.csv', '4.csv', '5.csv']
  assert.equal(await delivered(state, names), { status: 200, kept: names })
  assert.is((await delivered(state, [...names, '6.csv'])).status, 400)
})

edge.run()
