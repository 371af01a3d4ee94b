/** What a dead server left on the disk, read without starting another: each task with all that hangs on it. */
import * as assert from 'uvu/assert'
import { ledgerProblems } from '../../src/market/money/ledger.ts'
import type { Reader } from '../../src/store/db.ts'
import { checkFile } from '../../src/store/embedded/verify.ts'
import type { State } from './history.ts'

interface Delivery {
  id: string
  taskId: string
  event: string
  body: string
  state: 'waiting' | 'pending' | 'delivered' | 'failed'
}

/** What any database shows of it. */
export interface StoredState {
  tasks: Map<string, State>
  deliveries: Delivery[]
  /** Status of each signed callback that was answered, by its signature. */
  signatures: Map<string, number>
  emails: Set<string>
  /** Ids of deposits. */
  deposits: Set<string>
  /** Cents, by the id of the account: `available:usr_…`. */
  balances: Map<string, number>
}

export interface StateOfFile extends StoredState {
  journalRecords: number
  tornBytes: number
}

/** Throws unless the file is whole, the ledger adds up, and status, money and outbox of every task agree. */
export async function readFileAfterCrash(file: string): Promise<StateOfFile> {
  const { ok, problems, db, journalRecords, tornBytes } = await checkFile(file)
  assert.ok(ok && db, problems.join('; '))
  return { ...(await readStoredState(db)), journalRecords, tornBytes }
}

/** The same, but for the journal, of a database that others may be writing to. */
export async function readStoredState(db: Reader): Promise<StoredState> {
  assert.equal((await ledgerProblems(db)).problems, [])
  const deliveries = await db.all<Delivery>(
    'SELECT id, task_id AS "taskId", event, body, state FROM deliveries ORDER BY id',
  )
  const queues = grouped(deliveries)
  for (const [taskId, queue] of queues) assertInTurn(taskId, queue)
  const tasks = await readTasks(db, queues)
  await assertCounts(db)
  const ids = async (sql: string) => new Set((await db.all<{ id: string }>(sql)).map(({ id }) => id))
  const pairs = async (sql: string) =>
    new Map((await db.all<{ id: string; value: number }>(sql)).map(({ id, value }) => [id, value]))
  return {
    tasks,
    deliveries,
    signatures: await pairs('SELECT signature AS id, status AS value FROM seen_signatures'),
    emails: await ids('SELECT email AS id FROM users'),
    deposits: await ids(`SELECT id FROM transfers WHERE kind = 'deposit'`),
    balances: await pairs('SELECT id, balance AS value FROM accounts'),
  }
}

/** One at a time: what has ended, then one that is due, then those behind it. */
function assertInTurn(taskId: string, queue: readonly Delivery[]) {
  const line = queue.map(({ state }) => state).join(' ')
  assert.match(line, /^(?:delivered ?)*(?:pending(?: waiting)*)?$/, `the events of ${taskId}: ${line}`)
}

interface TaskRow {
  id: string
  title: string
  status: string
  price: number
  revisions: number
  dispute: string | null
  released: number | null
  refunded: number | null
  settlement: string | null
  rating: number | null
}

async function readTasks(db: Reader, queues: Map<string, Delivery[]>) {
  const rows = await db.all<TaskRow>(
    `SELECT t.id, t.title, t.status, t.agreed_price AS price, t.revision_count AS revisions, d.status AS dispute,
       s.released, s.refunded, s.status AS settlement, r.rating
     FROM tasks t LEFT JOIN disputes d ON d.task_id = t.id LEFT JOIN settlements s ON s.task_id = t.id
       LEFT JOIN reviews r ON r.task_id = t.id ORDER BY t.id`,
  )
  type Line = { taskId: string; text: string }
  const lines = async (sql: string) => grouped(await db.all<Line>(sql))
  const messages = await lines(
    `SELECT task_id AS "taskId", sender_role || ':' || content AS text FROM messages ORDER BY id`,
  )
  const deliverables = await lines(`SELECT task_id AS "taskId", content AS text FROM deliverables ORDER BY id`)
  const transfers = await lines(
    `SELECT task_id AS "taskId", kind || ' ' || amount AS text FROM transfers WHERE task_id IS NOT NULL ORDER BY kind`,
  )
  const texts = (of: Map<string, Line[]>, id: string) => (of.get(id) ?? []).map(({ text }) => text)
  const tasks = new Map<string, State>()
  for (const row of rows) {
    tasks.set(row.id, {
      status: row.status,
      title: row.title,
      dispute: (row.dispute as State['dispute'] | null) ?? 'none',
      money: moneyOf(row, texts(transfers, row.id).join(', ')),
      revisions: row.revisions,
      deliverables: texts(deliverables, row.id),
      messages: texts(messages, row.id),
      events: (queues.get(row.id) ?? []).map(told),
      review: row.rating,
    })
  }
  return tasks
}

/** The transfers and the settlement must tell the same story. */
function moneyOf({ id, price, released, refunded, settlement }: TaskRow, transfers: string): State['money'] {
  const whole = (kinds: string[]) => kinds.map(kind => `${kind} ${price}`).join(', ')
  if (settlement === null) {
    assert.ok(transfers === '' || transfers === whole(['hold']), `${id}: not settled, but ${transfers}`)
    return transfers === '' ? 'none' : 'held'
  }
  if (refunded === price) {
    const stories = [whole(['hold', 'refund']), whole(['hold', 'refund', 'release'])]
    assert.ok(released === 0 && stories.includes(transfers), `${id}: refunded, but ${transfers}`)
    return 'refunded'
  }
  assert.ok(released === price && transfers === whole(['hold', 'release']), `${id}: released, but ${transfers}`)
  return settlement === 'clearing' ? 'clearing' : 'paid'
}

function told({ event, taskId, body }: Delivery): string {
  const { event: named, data } = JSON.parse(body)
  assert.is(named, event)
  assert.is(data.taskId, taskId)
  return event === 'task.message' ? `${event}:${data.message}` : event
}

async function assertCounts(db: Reader) {
  const wrong = await db.all(
    `SELECT a.id FROM agents a WHERE a.completed_tasks <>
       (SELECT COUNT(*) FROM tasks t WHERE t.agent_id = a.id AND t.status = 'completed' AND t.buyer_id <> t.builder_id)`,
  )
  assert.equal(wrong, [], 'agents count their completed tasks')
}

function grouped<Row extends { taskId: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) groups.set(row.taskId, [...(groups.get(row.taskId) ?? []), row])
  return groups
}
