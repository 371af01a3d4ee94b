// engines: embedded; process: shared
/** The tables of the interface say what the records say: fields, types, steps, and who may call. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { type AgentState, type AgentTrigger, agentEdge, taskEdge, taskStates } from '../../src/api/flow.ts'
import { fieldsOf } from '../../src/api/openapi/fields.ts'
import { type JsonSchema, PARTS } from '../../src/api/openapi/json-schema.ts'
import type { OpenApi } from '../../src/api/openapi/openapi.ts'
import type { Operation } from '../../src/api/openapi/operation.ts'

const page = readFileSync('docs/interface.md', 'utf8')
const doc: OpenApi = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))

/** The cells of the first table behind a rule's anchor, without its head. */
function rowsAt(rule: string): string[][] {
  const isRow = (line: string) => /^ *\|/.test(line)
  const lines = page.split(`<a id="${rule.toLowerCase()}"></a>`)[1]!.split('\n')
  const table = lines.slice(lines.findIndex(isRow))
  const end = table.findIndex(line => !isRow(line))
  return table.slice(2, end).map(row => row.trim().slice(1, -1).split('|').map(plain))
}

const plain = (cell: string) => cell.replaceAll('`', '').trim()

const { schemas } = doc.components

/** A schema with the records that it refers to in their places; a field that holds one text is a string. */
function whole(schema: JsonSchema): JsonSchema {
  if (schema.$ref) return whole(schemas[schema.$ref.slice(PARTS.length)]!)
  const { const: only, properties, ...rest } = schema
  const inner = Object.entries(properties ?? {}).map(([name, field]) => [name, whole(field)])
  return {
    ...rest,
    ...(typeof only === 'boolean' && { const: only }),
    ...(properties && { properties: Object.fromEntries(inner) }),
  }
}

/** Dotted names and types of the fields that hold no others. */
const leavesOf = (schema: JsonSchema) => {
  const fields = fieldsOf(whole(schema)).filter(({ name }) => !name.includes('[]'))
  const leaves = fields.filter(({ name }) => !fields.some(other => other.name.startsWith(`${name}.`)))
  return new Map(leaves.map(({ name, type }) => [name, type]))
}

const operation = (method: 'post' | 'put', path: string) => doc.paths[path]![method] as Operation
const sent = (method: 'post' | 'put', path: string) =>
  leavesOf(operation(method, path).requestBody!.content['application/json']!.schema)
const created = operation('post', '/api/my/api-keys').responses['201']!.content!['application/json']!.schema

/** `more`: a marketplace may have further fields. What it takes may be more than it must take. */
const records: Readonly<Record<string, { fields: Map<string, string>; more?: true; takes?: true }>> = {
  'pagination of a list': { fields: leavesOf(schemas.Pagination!) },
  category: { fields: leavesOf(schemas.Category!) },
  'agent, as it is sent': { fields: sent('put', '/api/my/agents/{id}'), takes: true },
  'task, as it is sent': { fields: sent('post', '/api/tasks'), more: true, takes: true },
  'task, as it is answered': { fields: leavesOf(schemas.Task!), more: true },
  deliverable: { fields: sent('post', '/api/tasks/{id}/deliver'), takes: true },
  wallet: { fields: leavesOf(schemas.Wallet!) },
  'new key': { fields: leavesOf(created.properties!.data!) },
  'authorization, as it is sent': { fields: sent('post', '/api/budget-authorizations'), takes: true },
  webhook: {
    fields: new Map([
      ...leavesOf(schemas.TaskSubmittedEvent!),
      ['data.test', leavesOf(schemas.TestEvent!).get('data.test')!],
    ]),
  },
}

/** What is wrong with a row of the table of types. */
function faultsOf([name = '', cell = '']: readonly string[]): string[] {
  const record = records[name]
  if (!record) return [`${name}: no such record`]
  const said = new Map(cell.split(' · ').map(one => /^(\S+) ([^,]+)/.exec(one)!.slice(1) as [string, string]))
  const wrong = [...said].filter(([field, type]) => {
    const real = record.fields.get(field)
    return real !== type && !(record.takes && real?.split(' or ').includes(type))
  })
  const missing = record.more ? [] : [...record.fields.keys()].filter(field => !said.has(field))
  return [
    ...wrong.map(([field, type]) => `${name}: ${field} is ${record.fields.get(field)}, not ${type}`),
    ...missing.map(field => `${name}: ${field} is missing`),
  ]
}

test('each field of the records stands in the table of types, and has its type', () => {
  const rows = rowsAt('I-types')
  assert.equal(
    rows.map(([name]) => name),
    Object.keys(records),
  )
  assert.equal(rows.flatMap(faultsOf), [])
})

test('a wrong type, a field that is not there and one that is missing are found', () => {
  assert.equal(faultsOf(['deliverable', 'content integer · notes string']), [
    'deliverable: content is string, not integer',
  ])
  assert.equal(faultsOf(['deliverable', 'content string · files string']), [
    'deliverable: files is undefined, not string',
    'deliverable: notes is missing',
  ])
})

test('each step of a task leads where the table says, moves the money and sends the webhook, and no other state has it', () => {
  const rows = rowsAt('I-task-steps')
  for (const [from, step, by, to, price, webhook] of rows) {
    const edge = taskEdge(from as never, step as never, by as never)
    assert.ok(edge, `${step} of what is ${from}`)
    assert.equal([to || edge.to, price || edge.money, webhook || undefined], [edge.to, edge.money, edge.event], step)
    for (const state of taskStates) {
      const isSaid = rows.some(([other, name, party]) => other === state && name === step && party === by)
      assert.is(taskEdge(state, step as never, by as never) !== undefined, isSaid, `${step} of what is ${state}`)
    }
  }
})

test('each step of an agent leads where the table says', () => {
  for (const [from, step, to] of rowsAt('I-agent-steps'))
    assert.is(agentEdge(from as AgentState, step as AgentTrigger)?.to, to, step)
})

test('each endpoint asks who calls as its row says', () => {
  const auths = { all: ['public'], both: ['key-or-session', 'session'], key: ['key'], signature: ['signature'] }
  const all: readonly (readonly [string, Endpoint])[] = Object.entries(endpoints)
  for (const [rule = '', who = ''] of rowsAt('I-endpoints')) {
    const name = rule.split('**')[1]!
    const own = all.filter(([, { source }]) => source.split(', ').includes(name))
    assert.ok(own.length > 0, name)
    for (const [id, { auth, role }] of own) {
      const [kind, part] = who.split(', ')
      assert.ok(auths[kind as keyof typeof auths].includes(auth), `${name}: ${id} takes ${auth}`)
      if (part === 'role isBuilder') assert.is(role, 'builder', id)
    }
  }
})

test.run()
