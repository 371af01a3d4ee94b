// engines: embedded; process: shared
/** The document that is made from the records. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { type EventName, events, type TestPayload, testEvent } from '../../src/api/events.ts'
import { failureNames, refuse } from '../../src/api/failures.ts'
import { fieldsOf } from '../../src/api/openapi/fields.ts'
import { eventSchema, openApi } from '../../src/api/openapi/openapi.ts'
import type { Operation } from '../../src/api/openapi/operation.ts'
import { exampleOfRefusal } from '../../src/api/refusals.ts'
import { sameNames } from '../support/same-names.ts'

const described = { endpoints, version: '1.2.3', baseUrl: 'https://marketplace.example' }
const doc = openApi({ ...described, mode: 'dev' })

const records: [string, Endpoint][] = Object.entries(endpoints)
const operationOf = ({ method, path }: Endpoint) =>
  doc.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] as Operation

/** The schema of `data`, and its example, of one success. */
function dataOf(record: Endpoint, status: number = record.status ?? 200) {
  const { schema, example } = operationOf(record).responses[status]!.content!['application/json']!
  return { schema: schema.properties!.data!, example: example as { success: boolean; data: never } }
}

test('every record is one operation, under the name of its verb', () => {
  const ids = Object.values(doc.paths).flatMap(item => Object.values(item).map(one => (one as Operation).operationId))
  sameNames(ids.filter(Boolean), Object.keys(endpoints))
})

test('every example of a body is a body that its endpoint takes', () => {
  for (const [name, record] of records) {
    const shape = record.signed ?? record.body
    if (!shape) continue
    const example = operationOf(record).requestBody?.content['application/json']?.example
    const { error } = shape.safeParse(example)
    assert.not.ok(error, `${name}: ${JSON.stringify(example)} ${error?.message}`)
  }
})

test('every example of an answer has the shape of its record', () => {
  for (const [name, record] of records.filter(([, { download, stream }]) => !download && !stream)) {
    const { example } = dataOf(record)
    const item = record.list ? example.data[record.list][0] : example.data
    const { error } = record.reply.safeParse(item)
    assert.not.ok(error, `${name}: ${JSON.stringify(item)} ${error?.message}`)
  }
})

test('I-envelope: the envelope and its variations', () => {
  const keys = (record: Endpoint) => Object.keys(dataOf(record).schema.properties ?? {})
  assert.equal(keys(endpoints.listTasks), ['tasks', 'pagination'])
  assert.equal(keys(endpoints.listAgents), ['items', 'pagination'])
  assert.is(dataOf(endpoints.listCategories).schema.type, 'array')
  assert.equal(keys(endpoints.createKey), ['key', 'keyInfo'])
  assert.equal(dataOf(endpoints.getWallet).schema, { $ref: '#/components/schemas/Wallet' })
  assert.equal(Object.keys(doc.components.schemas.Wallet!.properties!), ['wallet', 'connectStatus'])
})

test('I-credentials: each operation names the credentials that it takes', () => {
  const expected = {
    listAgents: [],
    getTask: [{ apiKey: [] }, { session: [] }],
    agentAccept: [{ apiKey: [] }],
    deposit: [{ session: [] }],
    agentCallback: [{ signature: [], timestamp: [] }],
  } as const
  for (const [name, security] of Object.entries(expected)) {
    assert.equal(operationOf(endpoints[name as keyof typeof expected]).security, security, name)
  }
})

test('I-status-bad: refusals follow from the record', () => {
  const statuses = (record: Endpoint) => Object.keys(operationOf(record).responses)
  assert.equal(statuses(endpoints.listCategories), ['200', '403', '429', '500', '503'])
  assert.equal(statuses(endpoints.createTask), ['201', '400', '401', '403', '404', '409', '429', '500', '503'].sort())
  assert.equal(statuses(endpoints.getWallet), ['200', '401', '403', '429', '500', '503'])
  assert.equal(statuses(endpoints.agentCallback).slice(0, 2), ['200', '201'])
  const forbidden = operationOf(endpoints.createAgent).responses[403]!.content!['application/json']!.examples
  assert.equal(Object.keys(forbidden!).sort(), ['banned', 'builder_only', 'cross_site', 'suspended'])
})

test('every refusal has words, of one with 429 or 503 they are with Retry-After, and every one that is referred to has an example', () => {
  for (const name of failureNames) {
    const words = exampleOfRefusal(name)
    assert.ok(words.length > 5 && !/undefined|NaN/.test(words), `${name}: ${words}`)
    const { status, headers } = refuse(name as 'rate_limited', 7)
    if (status === 429 || status === 503) assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/, name)
  }
  const text = JSON.stringify(doc)
  for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
    assert.ok(name! in doc.components[kind as 'schemas'], `${kind} ${name}`)
  }
})

test('I-list: query parameters of a list show their bounds and defaults', () => {
  const { parameters } = operationOf(endpoints.listTasks)
  const limit = parameters.find(({ name }) => name === 'limit')
  assert.equal(limit?.schema, { type: 'integer', minimum: 1, maximum: 100, default: 20 })
  assert.ok(parameters.some(({ name, schema }) => name === 'status' && schema.anyOf?.[0]?.enum?.length === 6))
})

test('I-events: every event is a webhook whose example is its payload', () => {
  assert.equal(Object.keys(doc.webhooks), [...Object.keys(events), 'test'])
  for (const [name, { post }] of Object.entries(doc.webhooks)) {
    const payload = name === 'test' ? testEvent.payload : events[name as EventName].payload
    const { error } = payload.safeParse(post.requestBody.content['application/json']?.example)
    assert.not.ok(error, `${name}: ${error?.message}`)
  }
})

test('the example of the test webhook is what a connection test sends', () => {
  const { data } = doc.webhooks.test!.post.requestBody.content['application/json']!.example as TestPayload
  assert.match(data.taskId, /^test_[0-9a-f]{32}$/)
  assert.ok(data.callbackUrl.endsWith(`/api/agent/test/${data.taskId}/callback`), data.callbackUrl)
  assert.is(data.requestor.id, 'test_requestor')
  assert.is(data.requirements, '')
})

test('a format is one of JSON Schema, and an id in an example looks like those that are made', () => {
  const text = JSON.stringify([doc, eventSchema()])
  const formats = new Set([...text.matchAll(/"format":"([^"]*)"/g)].map(([, format]) => format!))
  assert.equal([...formats].sort(), ['date-time', 'email', 'uri'])
  const ids = [...text.matchAll(/\b([a-z]+)_[0-9a-f]{8}[0-9a-f-]*/g)]
  assert.ok(ids.length > 100)
  const made = /^(?:agt|bud|cat|dlb|dlv|file|key|msg|ntf|rev|smp|task|test|trf|usr)_[0-9a-f]{32}$/
  assert.equal(
    [...new Set(ids.map(([id]) => id))].filter(id => !made.test(id)),
    [],
  )
})

test('an example of what was deleted, of a delivery and of a sample has the id of such a thing', () => {
  const idOf = (record: Endpoint) => (dataOf(record).example.data as { id: string }).id
  const { deleteAgent, deleteKey, deleteSample, getDelivery, addSample } = endpoints
  const prefixes = [deleteAgent, deleteKey, deleteSample, getDelivery, addSample].map(
    record => idOf(record).split('_')[0],
  )
  assert.equal(prefixes, ['agt', 'key', 'smp', 'dlv', 'smp'])
})

test('every record has its fields in the reference, also where there are several kinds of it', () => {
  for (const [name, schema] of Object.entries(doc.components.schemas)) assert.ok(fieldsOf(schema).length > 0, name)
  const fields = fieldsOf(doc.components.schemas.Notification!)
  assert.ok(fields.some(({ name, required }) => name === 'data.checks' && !required))
  assert.ok(fields.some(({ name, required }) => name === 'message' && required))
})

test('the schema of all events tells a good body from a bad one', () => {
  const shape = z.fromJSONSchema(eventSchema() as Parameters<typeof z.fromJSONSchema>[0])
  for (const { post } of Object.values(doc.webhooks)) {
    const example = post.requestBody.content['application/json']?.example as { data: object }
    assert.ok(shape.safeParse(example).success)
    assert.not.ok(shape.safeParse({ ...example, data: { ...example.data, callbackUrl: undefined } }).success)
    assert.not.ok(shape.safeParse({ ...example, event: 'task.accepted' }).success)
  }
})

test('A-44: a deployment does not describe what the simulator alone has', () => {
  assert.ok('/api/dev/clock' in doc.paths)
  const paths = Object.keys(openApi({ ...described, mode: 'serve' }).paths)
  assert.not.ok(paths.some(path => path.startsWith('/api/dev/')))
  assert.ok(paths.length > 30)
})

test.run()
