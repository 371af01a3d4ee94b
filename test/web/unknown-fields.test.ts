// engines: embedded, postgres at length; process: shared
/** Rows are written by the fields that they are given, so a body brings none that its shape doesn't have. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { endpoints } from '../../src/api/endpoints/index.ts'
import type { Value } from '../../src/store/db.ts'
import { users } from '../../src/store/tables/accounts/users.ts'
import { agents } from '../../src/store/tables/agents/agents.ts'
import type { Column, Table } from '../../src/store/tables/table.ts'
import { tasks } from '../../src/store/tables/tasks/tasks.ts'
import { openTrade, type Trade } from '../support/trade.ts'

type AnyTable = Pick<Table<Record<string, Column>>, 'name' | 'columns' | 'all'>
type Fields = Record<string, unknown>
type Endpoint = { readonly body: { readonly shape: object } }

const test = suite<Trade>('unknown fields')

test.before(async state => void Object.assign(state, await openTrade(20_000)))
test.after(({ marketplace }) => marketplace.close())

/** A value for each column of the table that the body of the endpoint does not have, beside what is meant. */
const withColumns = ({ columns }: AnyTable, { body: { shape } }: Endpoint, meant: Fields): Fields => ({
  ...Object.fromEntries(
    Object.entries(columns)
      .filter(([name]) => !(name in shape))
      .map(([name, { kind }]) => [name, kind === 'TEXT' ? 'x' : 1]),
  ),
  ...meant,
})

const rowOf = ({ marketplace }: Trade, table: AnyTable, id: string) =>
  marketplace.market.db.read(q =>
    q.get<Record<string, Value>>(`SELECT ${table.all} FROM ${table.name} WHERE id = $1`, [id]),
  )

/** What the two rows have that differs, apart from what each has for itself. */
async function differences(state: Trade, table: AnyTable, one: string, other: string): Promise<string[]> {
  const [a, b] = [await rowOf(state, table, one), await rowOf(state, table, other)]
  assert.ok(a && b)
  return Object.keys(a).filter(name => a[name] !== b[name] && !/^(?:id|slug)$/.test(name))
}

const agentTexts = {
  name: 'Alpha',
  tagline: 'Does what it is told',
  description: 'It does what it is told, on time, and says so in as many words as it takes.',
  pricingModel: 'fixed',
  basePrice: 500,
  turnaroundHours: 24,
  categoryIds: ['cat_code'],
}

test('an agent', async state => {
  const { builder } = state
  const meant = { ...agentTexts, tags: [], maxRevisions: 1 }
  const make = (body: object) => builder.call<{ id: string }>('POST', '/api/my/agents', body, 'key')
  const plain = await make(meant)
  const more = await make(withColumns(agents, endpoints.createAgent, meant))
  assert.equal(await differences(state, agents, plain.id, more.id), [])
  await builder.call('PUT', `/api/my/agents/${plain.id}`, { ...meant, name: 'Beta' }, 'key')
  await builder.call(
    'PUT',
    `/api/my/agents/${more.id}`,
    withColumns(agents, endpoints.updateAgent, { ...meant, name: 'Beta' }),
    'key',
  )
  assert.equal(await differences(state, agents, plain.id, more.id), [])
})

test('a task', async state => {
  const { buyer, agent } = state
  const texts = { title: 'A title', description: 'What is to be done, in some words.', requirements: 'None' }
  const meant = { ...texts, agentId: agent.id, agreedPrice: 500 }
  const make = (body: object) => buyer.call<{ id: string }>('POST', '/api/tasks', body, 'key')
  const plain = await make(meant)
  const more = await make(withColumns(tasks, endpoints.createTask, meant))
  assert.equal(await differences(state, tasks, plain.id, more.id), [])
  await buyer.call('PUT', `/api/tasks/${plain.id}`, { ...meant, title: 'Another' }, 'key')
  await buyer.call(
    'PUT',
    `/api/tasks/${more.id}`,
    withColumns(tasks, endpoints.updateTask, { ...meant, title: 'Another' }),
    'key',
  )
  assert.equal(await differences(state, tasks, plain.id, more.id), [])
})

test('an account', async state => {
  const { builder } = state
  const before = await rowOf(state, users, builder.id)
  await builder.call(
    'PUT',
    '/api/auth/me',
    withColumns(users, endpoints.updateMe, { name: 'Anew', isBuilder: true }),
    'session',
  )
  assert.equal(await rowOf(state, users, builder.id), { ...before, name: 'Anew' })
})

test.run()
