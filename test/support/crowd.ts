/**
 * A marketplace with a past, written into the tables by SQL alone: many tasks of a few traders and all that hangs on
 * them. For plans and times; the balances of accounts are made up.
 */
import { addedByTasks, sumNames } from '../../src/store/tables/tasks/work-sums.ts'

export interface Crowd {
  tasks: number
  /** Accounts, each with an agent; three hundred at least. */
  people: number
  /** How many of them buy and sell: task `n` is bought by trader `n % traders`. */
  traders: number
  /** All tasks are of the trader to ask as: every second one they buy, the others they sell. */
  ofOne?: boolean
  /** When the last task was created, in ms. The first one is a year older. */
  now: number
}

type Whose = Pick<Crowd, 'traders' | 'ofOne'>

const YEAR_MS = 365 * 86_400_000

export const userId = (n: number) => `usr_${padded(n)}`
export const agentId = (n: number) => `agt_${padded(n)}`
export const taskId = (n: number) => `task_${padded(n)}`
export const budgetId = (n: number) => `bud_${padded(n)}`
/** Of the webhook of a task's submit. */
export const deliveryId = (task: number) => `dlv_${padded(2 * task)}`

/** The trader to ask as. */
export const SOMEONE = 5
// Of what they buy, as `turnOf` counts it: one that is completed.
const BUSY_TURN = 35

/** One completed task of theirs, under which there are many messages. */
export const busyTask = ({ traders, ofOne }: Whose) => (ofOne ? 2 * BUSY_TURN : SOMEONE + BUSY_TURN * traders)
/** One of theirs with a review. */
export const reviewedTask = (whose: Whose) => busyTask(whose) + (whose.ofOne ? 2 : whose.traders)
/** One that their agent did. */
export const workedTask = (whose: Whose) => busyTask(whose) + (whose.ofOne ? 1 : -1)

// As long as real ids, and in order like them.
const ORIGIN = 1_000_000_000_000
const PREFIX = '019a0000-0000-7000-8'
const padded = (n: number) => `${PREFIX}${String(ORIGIN + n).slice(1)}`
const id = (kind: string, n: string) => `'${kind}_${PREFIX}' || substr(CAST(${ORIGIN} + (${n}) AS TEXT), 2)`

const series = (count: number) =>
  `WITH RECURSIVE series (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < ${count - 1})`

const insert = (table: string, count: number, columns: Readonly<Record<string, string>>, where = '') =>
  `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) ${series(count)}
   SELECT ${Object.values(columns).join(', ')} FROM series ${where}`

/** `INSERT`s for either engine, each behind those that it refers to. */
export function crowdStatements(crowd: Crowd): string[] {
  return [...peopleOf(crowd), ...tasksOf(crowd), ...talkOf(crowd), ...moneyOf(crowd), ...webhooksOf(crowd), ...tallies]
}

const counted = (name: string, rows: string) =>
  `INSERT INTO tallies (name, slot, count) SELECT '${name}', 0, COUNT(*) FROM ${rows}`

/** Anew, with the rows that were there before. */
const tallies = [
  'DELETE FROM tallies',
  counted('users', 'users'),
  counted('agents', 'agents WHERE deleted_at IS NULL'),
  counted('tasks', 'tasks'),
  counted('disputed tasks', 'tasks WHERE disputed = 1'),
  `INSERT INTO tallies (name, slot, count) SELECT kind || ' ' || status, 0, COUNT(*) FROM transfers
   WHERE kind IN ('deposit', 'withdrawal') GROUP BY kind, status`,
  `UPDATE agents SET rating_count = (SELECT COUNT(*) FROM reviews r JOIN tasks t ON t.id = r.task_id
   WHERE r.agent_id = agents.id AND t.status = 'completed')`,
  'DELETE FROM work_sums',
  `INSERT INTO work_sums (whose, slot, ${sumNames.join(', ')})
   SELECT whose, 0, ${sumNames.map(name => `SUM(${name})`).join(', ')} FROM (${addedByTasks}) added GROUP BY whose`,
]

function peopleOf({ people, now }: Crowd): string[] {
  const user = id('usr', 'n')
  const agent = id('agt', 'n')
  const budget = id('bud', 'n')
  return [
    insert('users', people, {
      id: user,
      email: `'p' || n || '@crowd.example'`,
      name: `'Person ' || n`,
      password_hash: `''`,
      is_builder: '1',
      is_admin: '0',
      created_at: `${now - YEAR_MS} + n`,
    }),
    ...['available', 'held', 'clearing'].map(kind =>
      insert('accounts', people, {
        id: `'${kind}:' || ${user}`,
        user_id: user,
        kind: `'${kind}'`,
        balance: '1000000000',
      }),
    ),
    insert('agents', people, {
      id: agent,
      slug: `'agent-' || n`,
      builder_id: user,
      name: `'The agent ' || n`,
      tagline: `'Does what others leave lying'`,
      description: `'An agent that takes on what others leave lying, and hands it back in good order.'`,
      pricing_model: `'fixed'`,
      base_price: '200 + n * 37 % 5000',
      turnaround_hours: '24',
      tags: `'[]'`,
      status: `CASE WHEN n % 3 = 0 THEN 'inactive' WHEN n % 50 = 49 THEN 'pending_review' ELSE 'active' END`,
      completed_tasks: 'n * 7919 % 311',
      last_pass_at: String(now),
      tested_at: String(now),
      created_at: `${now - YEAR_MS} + n`,
      updated_at: String(now),
    }),
    ...['writing', 'code', 'data', 'media'].map((name, i) =>
      insert(
        'agent_categories',
        people,
        { agent_id: agent, category_id: `'cat_${name}'`, position: '0' },
        `WHERE n % 4 = ${i}`,
      ),
    ),
    ...[`'agent'`, `'in'`, `'good'`, `'order'`, `'number' || n`].map(term =>
      insert('agent_terms', people, { term, agent_id: agent }),
    ),
    insert('sessions', people, {
      id: id('ses', 'n'),
      token_hash: `'token ' || n`,
      user_id: user,
      created_at: String(now),
      seen_at: String(now),
    }),
    insert('api_keys', people, {
      id: id('key', 'n'),
      user_id: user,
      name: `'Key ' || n`,
      key_hash: `'hash ' || n`,
      key_prefix: `'mk_'`,
      created_at: String(now),
    }),
    insert('samples', people, {
      id: id('smp', 'n'),
      agent_id: agent,
      title: `'Sample ' || n`,
      output: `'What came of it'`,
      created_at: String(now),
    }),
    insert('agent_tests', people, {
      id: id('test', 'n'),
      agent_id: agent,
      started_at: String(now),
      result: `CASE WHEN n % 20 = 0 THEN '{}' END`,
      ended: '1',
    }),
    insert('agent_reports', people, {
      agent_id: agent,
      kind: `'test'`,
      tested_at: String(now),
      report: `'{}'`,
    }),
    ...['text_usage', 'file_usage'].map(name =>
      insert(name, people, { user_id: user, bytes: 'CASE WHEN n % 20 = 0 THEN 1000 + n ELSE 0 END' }),
    ),
    insert('api_key_uses', people, { key_id: id('key', 'n'), last_used_at: String(now) }),
    // Thirty by each of the first three hundred, and of their agents.
    insert('budget_authorizations', 9_000, {
      id: budget,
      owner_id: id('usr', 'n / 30'),
      agent_id: id('agt', `(n / 30 + 6 + n % 30) % ${people}`),
      max_per_task: '1000',
      max_daily: '100000',
      max_monthly: '1000000',
      status: `'active'`,
      created_at: String(now),
      updated_at: String(now),
    }),
    insert('budget_categories', 9_000, { authorization_id: budget, category_id: `'cat_code'`, position: '0' }),
  ]
}

// The number of a task among its buyer's.
const turnOf = ({ traders, ofOne }: Crowd) => `(n / ${ofOne ? 2 : traders})`
const either = (bought: string, sold: string) => `(CASE n % 2 WHEN 0 THEN ${bought} ELSE ${sold} END)`
const buyerOf = (crowd: Crowd) =>
  crowd.ofOne ? either(String(SOMEONE), `${SOMEONE - 1} - ${turnOf(crowd)} % 5`) : `n % ${crowd.traders}`
// Everyone buys from the five that come next.
const builderOf = (crowd: Crowd) =>
  crowd.ofOne
    ? either(`${SOMEONE + 1} + ${turnOf(crowd)} % 5`, String(SOMEONE))
    : `(${buyerOf(crowd)} + 1 + ${turnOf(crowd)} % 5) % ${crowd.traders}`
const timeOf = ({ tasks, now }: Crowd) => `${now - YEAR_MS} + n * CAST(${Math.floor(YEAR_MS / tasks)} AS BIGINT)`
// One task in twenty is open, one a draft, three were cancelled, the others are done.
const stageOf = (crowd: Crowd) => `(${turnOf(crowd)} / 5 % 20)`
const stages = { draft: '= 0', pending: '= 1', open: 'BETWEEN 1 AND 3', cancelled: 'BETWEEN 4 AND 6', completed: '> 6' }
const at = (crowd: Crowd, stage: keyof typeof stages) => `${stageOf(crowd)} ${stages[stage]}`

function tasksOf(crowd: Crowd): string[] {
  const time = timeOf(crowd)
  const stage = stageOf(crowd)
  const byAgent = `${turnOf(crowd)} % 10 = 9`
  const hirer = `(${buyerOf(crowd)} + 6) % ${crowd.people}`
  return [
    insert('tasks', crowd.tasks, {
      id: id('task', 'n'),
      agent_id: id('agt', builderOf(crowd)),
      buyer_id: id('usr', buyerOf(crowd)),
      builder_id: id('usr', builderOf(crowd)),
      buyer_agent_id: `CASE WHEN ${byAgent} THEN ${id('agt', hirer)} END`,
      hirer_id: `CASE WHEN ${byAgent} THEN ${id('usr', hirer)} END`,
      budget_authorization_id: `CASE WHEN ${byAgent} THEN ${id('bud', `${buyerOf(crowd)} * 30`)} END`,
      title: `'Sort the letters of year ' || n`,
      description: `'Forty letters lie in one heap: sort them by sender and day, and say which are missing.'`,
      requirements: `'A table with one line for each letter.'`,
      agreed_price: '500',
      status: `CASE ${stage} WHEN 0 THEN 'draft' WHEN 1 THEN 'pending' WHEN 2 THEN 'in_progress' WHEN 3 THEN 'delivered'
         WHEN 4 THEN 'cancelled' WHEN 5 THEN 'cancelled' WHEN 6 THEN 'cancelled' ELSE 'completed' END`,
      disputed: 'CASE WHEN n % 101 = 100 THEN 1 ELSE 0 END',
      created_at: time,
      submitted_at: `CASE WHEN ${stage} > 0 THEN ${time} + 1000 END`,
      completed_at: `CASE WHEN ${at(crowd, 'completed')} THEN ${time} + 9000 END`,
      updated_at: `${time} + 9000`,
    }),
    insert(
      'task_steps',
      crowd.tasks,
      {
        task_id: id('task', 'n'),
        position: '0',
        trigger: `'submit'`,
        from_status: `'draft'`,
        to_status: `'pending'`,
        party: `'buyer'`,
        actor_id: id('usr', buyerOf(crowd)),
        via: `'key'`,
        at: `${time} + 1000`,
        real_at: `${time} + 1000`,
      },
      `WHERE ${stage} > 0`,
    ),
    insert(
      'disputes',
      crowd.tasks,
      {
        task_id: id('task', 'n'),
        status: `CASE WHEN n % 101 = 100 THEN 'open' ELSE 'resolved' END`,
        reason: `'The letters of one day are missing'`,
        opened_at: time,
        opened_from: `'completed'`,
        opened_by: id('usr', buyerOf(crowd)),
        outcome: `CASE WHEN n % 101 <> 100 THEN 'release' END`,
      },
      'WHERE n % 101 = 100 OR n % 20 = 19',
    ),
    insert(
      'deliverables',
      crowd.tasks,
      { id: id('dlb', 'n'), task_id: id('task', 'n'), content: `'All are there'`, created_at: time },
      `WHERE ${at(crowd, 'completed')}`,
    ),
  ]
}

function talkOf(crowd: Crowd): string[] {
  const time = timeOf(crowd)
  const message = {
    sender_id: id('usr', buyerOf(crowd)),
    sender_role: `'buyer'`,
    content: `'Please begin with the oldest'`,
    created_at: time,
  }
  return [
    insert('messages', crowd.tasks, { id: id('msg', 'n'), task_id: id('task', 'n'), ...message }),
    // One task that is much talked about.
    insert('messages', 500, {
      ...message,
      id: id('msg', `${crowd.tasks} + n`),
      task_id: id('task', String(busyTask(crowd))),
      sender_id: id('usr', String(SOMEONE)),
    }),
    insert(
      'reviews',
      crowd.tasks,
      {
        id: id('rev', 'n'),
        task_id: id('task', 'n'),
        agent_id: id('agt', builderOf(crowd)),
        buyer_id: id('usr', buyerOf(crowd)),
        rating: '1 + n % 5',
        created_at: time,
      },
      `WHERE ${at(crowd, 'completed')} AND ${turnOf(crowd)} % 2 = 0`,
    ),
    insert('notifications', Math.ceil(crowd.tasks / 5), {
      id: id('ntf', 'n'),
      user_id: id('usr', buyerOf(crowd)),
      type: `'webhook_health_failed'`,
      agent_id: id('agt', buyerOf(crowd)),
      message: `'The webhook did not answer'`,
      data: `'{"checks":[]}'`,
      created_at: time,
    }),
  ]
}

function moneyOf(crowd: Crowd): string[] {
  const { tasks } = crowd
  const buyer = id('usr', buyerOf(crowd))
  const builder = id('usr', builderOf(crowd))
  const task = id('task', 'n')
  const time = timeOf(crowd)
  const account = (kind: 'available' | 'held' | 'clearing', owner: string) => `'${kind}:' || ${owner}`
  const [available, held] = [account('available', buyer), account('held', buyer)]
  // Transfers of one task follow one another, as their ids do in time.
  const kinds: [kind: string, payer: string, payee: string, from: string, to: string, count: number, where: string][] =
    [
      ['deposit', 'NULL', buyer, `'world'`, available, tasks / 10, ''],
      ['withdrawal', buyer, 'NULL', available, `'payouts'`, tasks / 20, ''],
      ['hold', buyer, buyer, available, held, tasks, `WHERE NOT ${at(crowd, 'draft')}`],
      ['refund', 'NULL', buyer, held, available, tasks, `WHERE ${at(crowd, 'cancelled')}`],
      ['release', buyer, builder, held, account('clearing', builder), tasks, `WHERE ${at(crowd, 'completed')}`],
    ]
  const paid = kinds.flatMap(([kind, payer, payee, from, to, count, where], i) => {
    const own = id('trf', `n * CAST(5 AS BIGINT) + ${i}`)
    const pending =
      kind === 'deposit' || kind === 'withdrawal'
        ? `CASE WHEN n % 53 = 52 THEN 'pending' ELSE 'completed' END`
        : `'completed'`
    return [
      insert(
        'transfers',
        count,
        {
          id: own,
          kind: `'${kind}'`,
          payer_id: payer,
          payee_id: payee,
          amount: '500',
          task_id: where ? task : 'NULL',
          status: pending,
          description: `'A transfer for “Sort the letters of year ' || n || '”'`,
          created_at: time,
        },
        where,
      ),
      insert(
        'entries',
        count,
        { leg_id: own, kind: `'${kind}'`, debited_id: from, credited_id: to, amount: '500', created_at: time },
        where,
      ),
    ]
  })
  const settled = insert(
    'settlements',
    tasks,
    {
      task_id: task,
      builder_id: builder,
      released: `CASE WHEN ${at(crowd, 'completed')} THEN 500 ELSE 0 END`,
      refunded: `CASE WHEN ${at(crowd, 'completed')} THEN 0 ELSE 500 END`,
      status: `'final'`,
      created_at: time,
    },
    `WHERE ${stageOf(crowd)} > 3`,
  )
  return [...paid, settled]
}

function webhooksOf(crowd: Crowd): string[] {
  const time = timeOf(crowd)
  return (['submitted', 'approved'] as const).flatMap((event, i) => {
    const own = id('dlv', `n * CAST(2 AS BIGINT) + ${i}`)
    const where = `WHERE ${event === 'submitted' ? `NOT ${at(crowd, 'draft')}` : at(crowd, 'completed')}`
    return [
      insert(
        'deliveries',
        crowd.tasks,
        {
          id: own,
          agent_id: id('agt', builderOf(crowd)),
          task_id: id('task', 'n'),
          event: `'task.${event}'`,
          body: `'{"event":"task.${event}","data":{"description":"Forty letters lie in one heap: sort them by sender and day, and say which are missing."}}'`,
          state: `'delivered'`,
          attempts: '1',
          next_at: time,
          created_at: time,
          ended_at: time,
        },
        where,
      ),
      insert(
        'attempts',
        crowd.tasks,
        {
          delivery_id: own,
          attempt: '1',
          url: `'https://agent.example/webhook'`,
          status: '200',
          message: `'Delivered'`,
          answer: `'ok'`,
          duration_ms: '12',
          created_at: time,
        },
        where,
      ),
    ]
  })
}
