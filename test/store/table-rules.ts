/**
 * What every table refuses by itself, whoever writes it, and a row that it takes at the edge of its rules. Columns that are never null come
 * from the records of the tables, which `tables.test.ts` holds to the schema.
 */
import { readdirSync } from 'node:fs'
import { type Column, Table } from '../../src/store/tables/table.ts'

interface Rules {
  /** Columns, and groups of columns, of which no two rows have the same. The last of them tells rows apart. */
  readonly unique: readonly string[]
  /** Columns that name a row of another table. */
  readonly refers?: Readonly<Record<string, string>>
  /** What the row has where a name of its own, or 1, would be refused. */
  readonly values?: Readonly<Record<string, string | number>>
  /** Values that a CHECK refuses. */
  readonly wrong?: readonly Readonly<Record<string, string | number>>[]
}

/** Tables stand behind those that they refer to. */
const rules: Readonly<Record<string, Rules>> = {
  users: { unique: ['email', 'id'] },
  sessions: { unique: ['id', 'token_hash'], refers: { user_id: 'users' } },
  api_keys: { unique: ['key_hash', 'id'], refers: { user_id: 'users' } },
  api_key_uses: { unique: ['key_id'] },
  settings: { unique: ['name'] },
  categories: { unique: ['slug', 'name', 'id'] },
  agents: {
    unique: ['slug', 'id'],
    refers: { builder_id: 'users' },
    values: { pricing_model: 'fixed', base_price: 200, status: 'draft' },
    wrong: [{ base_price: 199 }, { status: 'other' }],
  },
  agent_categories: { unique: ['agent_id category_id'], refers: { category_id: 'categories', agent_id: 'agents' } },
  agent_terms: { unique: ['term agent_id'], refers: { agent_id: 'agents' } },
  agent_tests: { unique: ['agent_id', 'id'], refers: { agent_id: 'agents' } },
  agent_reports: {
    unique: ['agent_id kind tested_at'],
    refers: { agent_id: 'agents' },
    values: { kind: 'test' },
    wrong: [{ kind: 'other' }],
  },
  tasks: {
    unique: ['id'],
    refers: { builder_id: 'users', buyer_id: 'users', agent_id: 'agents' },
    values: { agreed_price: 200, status: 'draft' },
    wrong: [{ agreed_price: 199 }, { status: 'other' }],
  },
  task_steps: { unique: ['task_id position'], refers: { task_id: 'tasks' } },
  deliverables: { unique: ['task_id position', 'id'], refers: { task_id: 'tasks' } },
  disputes: {
    unique: ['task_id'],
    refers: { task_id: 'tasks' },
    values: { status: 'open' },
    wrong: [{ status: 'other' }],
  },
  messages: { unique: ['id'], refers: { task_id: 'tasks' } },
  reviews: { unique: ['task_id', 'id'], refers: { task_id: 'tasks' } },
  seen_signatures: { unique: ['signature'] },
  accounts: {
    unique: ['id'],
    values: { id: 'available:a users id', user_id: 'a users id', kind: 'available' },
    wrong: [{ balance: -1 }, { kind: 'other' }, { kind: 'held' }, { user_id: 'b' }, { id: 'held', kind: 'held' }],
  },
  transfers: {
    unique: ['id'],
    values: { kind: 'deposit', payee_id: 'a payee_id', status: 'pending' },
    wrong: [{ amount: 0 }, { kind: 'other' }, { status: 'other' }],
  },
  entries: {
    unique: ['leg_id'],
    values: { kind: 'paid_out', debited_id: 'payouts', credited_id: 'world' },
    wrong: [{ amount: 0 }, { kind: 'other' }],
  },
  settlements: {
    unique: ['task_id'],
    refers: { task_id: 'tasks' },
    values: { status: 'clearing' },
    wrong: [{ released: -1 }, { refunded: -1 }, { reversed: 2 }, { status: 'other' }],
  },
  deliveries: {
    unique: ['id'],
    refers: { agent_id: 'agents' },
    values: { state: 'waiting' },
    wrong: [{ state: 'other' }],
  },
  attempts: { unique: ['delivery_id attempt'], refers: { delivery_id: 'deliveries' } },
  samples: { unique: ['id'], refers: { agent_id: 'agents' } },
  notifications: { unique: ['id'], refers: { agent_id: 'agents', user_id: 'users' } },
  jobs: { unique: ['name'] },
  budget_authorizations: {
    unique: ['owner_id agent_id', 'id'],
    refers: { agent_id: 'agents', owner_id: 'users' },
    values: { max_per_task: 200, max_daily: 200, max_monthly: 200, status: 'active' },
    wrong: [{ max_per_task: 199 }, { max_daily: 199 }, { max_monthly: 199 }, { status: 'other' }],
  },
  budget_categories: {
    unique: ['authorization_id category_id'],
    refers: { category_id: 'categories', authorization_id: 'budget_authorizations' },
  },
  idempotency_keys: { unique: ['user_id method path key'], refers: { user_id: 'users' } },
  idempotency_usage: {
    unique: ['user_id'],
    refers: { user_id: 'users' },
    values: { bytes: 0 },
    wrong: [{ bytes: -1 }],
  },
  mails: { unique: ['id'], values: { kind: 'password_reset' }, wrong: [{ kind: 'other' }] },
  password_resets: { unique: ['token_hash'], refers: { user_id: 'users' } },
  rate_windows: { unique: ['category address'] },
  uploads: { unique: ['id'], values: { doomed: 0 }, wrong: [{ doomed: 2 }] },
  file_locations: { unique: ['instance'] },
  senders: { unique: ['id'] },
  tallies: { unique: ['name slot'] },
  work_sums: { unique: ['whose slot'] },
  second_factors: { unique: ['user_id'], refers: { user_id: 'users' } },
  recovery_codes: { unique: ['user_id code_hash'], refers: { user_id: 'users' } },
  guesses: { unique: ['subject'] },
  file_usage: { unique: ['user_id'], refers: { user_id: 'users' }, values: { bytes: 0 }, wrong: [{ bytes: -1 }] },
  text_usage: { unique: ['user_id'], refers: { user_id: 'users' }, values: { bytes: 0 }, wrong: [{ bytes: -1 }] },
  purges: { unique: ['user_id'], refers: { user_id: 'users' } },
  security_notices: { unique: ['id'], refers: { user_id: 'users' } },
  known_addresses: { unique: ['user_id address'], refers: { user_id: 'users' } },
}

async function recordsOfTables(): Promise<Table<Record<string, Column>>[]> {
  const files = readdirSync('src/store/tables', { recursive: true, encoding: 'utf8' }).filter(path =>
    path.endsWith('.ts'),
  )
  const modules = await Promise.all(files.map(path => import(`../../src/store/tables/${path.replaceAll('\\', '/')}`)))
  return [...new Set(modules.flatMap(module => Object.values(module)))].filter(value => value instanceof Table)
}

export const records = await recordsOfTables()

export const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

function withRow([table, { unique, refers = {}, values = {}, wrong = [] }]: [string, Rules]) {
  const { columns } = records.find(({ name }) => name === table)!
  const required = Object.entries(columns).filter(([, { nullable }]) => !nullable)
  const valueIn = (name: string, { kind }: Column) => {
    if (name in refers) return `a ${refers[name]} id`
    if (kind !== 'TEXT') return 1
    return name === 'id' ? `a ${table} id` : `a ${name}`
  }
  const row: Record<string, string | number> = Object.fromEntries([
    ...required
      .filter(([, { hasDefault }]) => !hasDefault)
      .map(([name, column]) => [snake(name), valueIn(snake(name), column)] as const),
    ...Object.entries(values),
  ])
  return [table, { row, required: required.map(([name]) => snake(name)), unique, refers, wrong }] as const
}

export const tables = Object.fromEntries(Object.entries(rules).map(withRow))

/** The tables of the rows that a row of this one refers to, and theirs, in order. */
export function parentsOf(table: string): string[] {
  const parents = Object.values(tables[table]!.refers)
  return [...new Set(parents.flatMap(parent => [...parentsOf(parent), parent]))]
}
