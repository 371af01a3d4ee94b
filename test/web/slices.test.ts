// engines: embedded, postgres at length; process: own
/**
 * No answer to GET holds the thread for long, whatever it has: it is made in slices, and others have their turn between two. Told by counting
 * how much JSON and how much of a body is made in one go, for every record, of texts as long as no account could write them. Source: A-289.
 */
import http from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { Json } from '../../src/api/reply.ts'
import { html } from '../../src/shared/html.ts'
import type { Db, Reader } from '../../src/store/db.ts'
import { JsonPieces } from '../../src/web/pieces.ts'
import { publicPages } from '../../src/web/public/routes.ts'
import { openTestMarketplace, type TestUser } from '../support/marketplace.ts'

/** A slice of a response, and what of it may be made at once beyond that: `SLICE_LENGTH` in `web/response.ts`, six times `AT_ONCE` in `shared/text-parts.ts`. */
const MOST_AT_ONCE = (128 + 6 * 16) * 1024

/** Of two characters each takes six or five in JSON and HTML. */
const HOSTILE = '\u0001<'
/** Half of a page's tolerable text in one column: longer than a slice by itself. */
const LONG = HOSTILE.repeat(40_000)
/** What the interface allows in an agent, whose record is kept as one text: in a description, and in names and the like. */
const [FULL, NAME] = [HOSTILE.repeat(2_500), HOSTILE.repeat(50)]

/** Sent as they come, in pieces of a file or of a feed. */
const inPieces = ({ stream, download }: Endpoint) => stream === true || download === true

/** There is none to ask for without the command of the judge. */
const without = new Set(['getConformanceRun'])

test('of no GET more is made in one go than a slice has', async () => {
  const marketplace = await openTestMarketplace()
  const { admin, url } = marketplace
  const { people, ids } = await inhabit(marketplace)
  const lengthen = longTexts(marketplace.market.db)
  const all: Record<string, Endpoint> = { ...endpoints, ...publicPages }
  const asked = Object.entries(all).filter(
    ([name, record]) => record.method === 'GET' && !inPieces(record) && !without.has(name),
  )
  const lengths: Record<string, number> = {}
  const counted = countAtOnce()
  for (const [name, record] of asked) {
    const { path, auth, page, kept } = record
    const who: TestUser = path.startsWith('/api/admin') || path.startsWith('/api/dev') ? admin : people[ofBuilder(path)]
    const headers = { authorization: `Bearer ${who.key}`, cookie: people.cookie }
    lengthen(page || kept ? 'as allowed' : 'beyond all bounds')
    counted.begin()
    const answer = await fetch(url + filled(path, ids), {
      headers: auth === 'session' ? { cookie: headers.cookie } : { authorization: headers.authorization },
    })
    const text = await answer.text()
    const most = counted.end()
    lengthen(null)
    assert.is(answer.status, 200, `${name}: ${text.slice(0, 300)}`)
    assert.ok(most <= MOST_AT_ONCE, `${name}: ${most} characters of ${text.length} were made in one go`)
    lengths[name] = text.length
  }
  counted.restore()
  for (const name of ['listTasks', 'getTask', 'listSamples', 'listAgents', 'getAgent', 'listMessages', 'agentPage']) {
    assert.ok(lengths[name]! > MOST_AT_ONCE, `${name} was ${lengths[name]} long, which proves nothing`)
  }
  await marketplace.close()
})

test('what is made in pieces is the same as made at once, each piece encoded by itself', () => {
  const faces = `.${'\u{1f600}'.repeat(40_000)}`
  const halves = `${'x'.repeat(16 * 1024 - 1)}\ud800 and \udc00`
  const data = {
    text: `"${faces.slice(1)}`,
    faces: [faces, halves, 1, null, undefined],
    left: undefined,
    few: { '"key"': [] },
    many: Array.from({ length: 5_000 }, (_, i) => ({ i, text: 'é<' })),
  }
  const encoded = (pieces: Iterable<string>) => Buffer.concat([...pieces].map(piece => Buffer.from(piece))).toString()
  assert.is(encoded(new JsonPieces(data)), JSON.stringify(data))
  const ready = [new Json(JSON.stringify(data)), new Json(undefined, { data, length: 0 })]
  assert.is(encoded(new JsonPieces({ ready })), `{"ready":[${JSON.stringify(data)},${JSON.stringify(data)}]}`)
  const pieces = new JsonPieces({ success: true, data })
  for (const _ of pieces);
  assert.ok(pieces.made > 0.8, `${pieces.made} of it is made at the end`)
  assert.is(encoded(html`<p>${faces}</p>${['<', html`${faces}`, false]}`), `<p>${faces}</p>&lt;${faces}`)
})

type Marketplace = Awaited<ReturnType<typeof openTestMarketplace>>

/** Somebody who has of everything something. */
async function inhabit(marketplace: Marketplace) {
  const [builder, buyer] = [await marketplace.join('builder'), await marketplace.join('buyer', 5_000)]
  const agent = await marketplace.list(builder, { name: 'The agent', tags: ['a tag'] })
  const { id: agentId } = agent
  for (let i = 0; i < 20; i++) await marketplace.list(builder, { name: `Agent ${i}` })
  const slug = (await builder.call<{ slug: string }>('GET', `/api/my/agents/${agentId}`, undefined, 'key')).slug
  for (let i = 0; i < 10; i++) {
    await builder.client.addSample({
      id: agentId,
      title: `Sample ${i}`,
      input: 'What was asked',
      output: 'Of its work',
    })
  }
  const { id: budgetId } = await buyer.client.createBudget({
    agentId,
    maxPerTask: 500,
    maxDaily: 1_000,
    maxMonthly: 2_000,
  })
  const { id: taskId } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id: taskId })
  await builder.client.acceptTask({ id: taskId })
  for (let i = 0; i < 5; i++) await buyer.client.sendMessage({ id: taskId, content: `Message ${i}` })
  await builder.client.deliverTask({ id: taskId, content: 'It is done' })
  await buyer.client.approveTask({ id: taskId })
  await buyer.client.submitReview({ id: taskId, rating: 5, comment: 'Well done' })
  for (let i = 0; i < 5; i++) await marketplace.draft(buyer, agent)
  await marketplace.webhooksSent()
  const { items: exchanges } = await marketplace.admin.client.listExchanges({})
  const { items: deliveries } = await builder.client.listDeliveries({ id: agentId })
  const login = await fetch(`${marketplace.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: buyer.email, password: buyer.password }),
  })
  const cookie = login.headers.get('set-cookie')!.split(';')[0]!
  const ids: Ids = {
    '/api/tasks/:id': taskId,
    '/api/budget-authorizations/:id': budgetId,
    '/api/admin/users/:id': buyer.id,
    '/api/dev/exchanges/:id': exchanges[0]!.id,
    '/sitemaps/:id': '1',
    '/agents/:id': slug,
    ':deliveryId': deliveries[0]!.id,
    ':userId': buyer.id,
    ':id': agentId,
  }
  return { people: { builder, buyer, cookie }, ids }
}

const ofBuilder = (path: string) => (/\/my\/(?!tasks)|requestors/.test(path) ? 'builder' : 'buyer')

/** By the beginning of a path, or by what stands for it anywhere. */
type Ids = Record<string, string>

function filled(path: string, ids: Ids): string {
  let given = path
  for (const [place, id] of Object.entries(ids)) {
    if (place.startsWith(':') ? given.includes(place) : given.startsWith(place))
      given = given.replace(place, place.replace(/:\w+$/, id))
  }
  return given
}

type Lengths = 'as allowed' | 'beyond all bounds' | null

/** Makes long what people have written, as it is read: each text of several words. */
function longTexts(db: Db) {
  let lengths: Lengths = null
  const isWritten = (value: unknown) => typeof value === 'string' && /^[^[{].* /.test(value)
  const longText = (column: string) => {
    if (lengths === 'beyond all bounds') return LONG
    return /name|title|tagline/i.test(column) ? NAME : FULL
  }
  const lengthened = <Row>(row: Row): Row => {
    if (lengths === null || !row) return row
    const entries = Object.entries(row).map(([column, value]) => [column, isWritten(value) ? longText(column) : value])
    return Object.fromEntries(entries) as Row
  }
  const reading = (q: Reader): Reader =>
    ({
      get: async (sql, values) => lengthened(await q.get(sql, values)),
      all: async (sql, values, mostBytes) => (await q.all(sql, values, mostBytes)).map(lengthened),
      changes: q.changes,
    }) as Reader
  const [read, readCommitted] = [db.read.bind(db), db.readCommitted.bind(db)]
  db.read = (work, flow) => read(q => work(reading(q)), flow)
  db.readCommitted = work => readCommitted(q => work(reading(q)))
  return (wanted: Lengths) => {
    lengths = wanted
  }
}

/** Counts what is written as JSON, and in what pieces bodies are handed to Node, from one look at the sockets to the next. */
function countAtOnce() {
  const { stringify } = JSON
  const { setImmediate: later } = globalThis
  const { write, end } = http.ServerResponse.prototype
  let [most, now] = [0, 0]
  const count = (length: number) => {
    now += length
    most = Math.max(most, now)
  }
  JSON.stringify = ((...given: Parameters<typeof stringify>) => {
    const text = stringify(...given)
    count(text?.length ?? 0)
    return text
  }) as typeof stringify
  globalThis.setImmediate = Object.assign(
    (go: (...given: unknown[]) => void, ...given: unknown[]) =>
      later(() => {
        now = 0
        go(...given)
      }),
    later,
  ) as typeof later
  const lengthOf = (body: unknown) => (typeof body === 'string' || Buffer.isBuffer(body) ? body.length : 0)
  const handing = (hand: typeof write | typeof end) =>
    function (this: http.ServerResponse, ...given: [never]) {
      most = Math.max(most, lengthOf(given[0]))
      return (hand as (this: http.ServerResponse, ...given: [never]) => never).call(this, ...given)
    }
  Object.assign(http.ServerResponse.prototype, { write: handing(write), end: handing(end) })
  return {
    begin() {
      most = 0
      now = 0
    },
    end: () => most,
    restore() {
      JSON.stringify = stringify
      globalThis.setImmediate = later
      Object.assign(http.ServerResponse.prototype, { write, end })
    },
  }
}

test.run()
