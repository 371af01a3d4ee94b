/** What a marketplace promises, held against its rows and against what the wire has said. */
import { type EndpointName, endpoints } from '../../src/api/endpoints/index.ts'
import { partiesOf, type TaskState, type TaskTrigger, taskEdge, taskStates } from '../../src/api/flow.ts'
import { durations } from '../../src/api/limits.ts'
import { sinceOf } from '../../src/market/budgets/spending.ts'
import { ledgerProblems } from '../../src/market/money/ledger.ts'
import type { Db, Reader } from '../../src/store/db.ts'
import type { WireAnswer } from '../support/wire.ts'
import type { Agents, Sent } from './agents.ts'
import { Broken } from './ground.ts'

/** One request, as it went over the wire. `answer` null: nobody knows whether it changed something. */
export interface Asked {
  readonly name: EndpointName
  readonly at: Readonly<Record<string, string>>
  readonly body: unknown
  readonly answer: WireAnswer | null
  readonly key: string | undefined
  /** Domain time. */
  readonly now: number
}

const ID = /^([a-z]+)_[0-9a-f]{32}$/

/** Their rows end otherwise than by a request that names them: with a password, a newer test, or their time. */
const PASSING = new Set(['ses', 'key', 'ntf', 'dlv', 'test', 'mail', 'sec'])

/** The columns that what was said is held against. */
const HELD = new Set(['id', 'status', 'updated_at', 'amount', 'buyer_id'])

/** The event that a verb on a task causes each time. */
const eventOf: Partial<Record<EndpointName, string>> = {
  submitTask: 'task.submitted',
  approveTask: 'task.approved',
  requestRevision: 'task.revision_requested',
  disputeTask: 'task.disputed',
}

const triggers: readonly TaskTrigger[] = [
  ...(['submit', 'cancel', 'accept', 'reject', 'deliver', 'approve', 'request_revision'] as const),
  ...(['resolve_refund', 'resolve_release', 'resolve_split'] as const),
]

/** By state: those that one edge of the table leads to. */
const next = new Map(
  taskStates.map(from => {
    const edges = triggers.flatMap(trigger => partiesOf(trigger).map(by => taskEdge(from, trigger, by)))
    return [from, [...new Set(edges.flatMap(edge => edge?.to ?? []))]]
  }),
)

/** Whether so many edges lead from one state to the other. */
function leads(from: TaskState, to: TaskState, most: number): boolean {
  let reached = new Set([from])
  for (let edges = 0; edges < most && !reached.has(to); edges++) {
    reached = new Set([...reached].flatMap(state => [state, ...next.get(state)!]))
  }
  return reached.has(to)
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the wire says
type Json = any

/** Every fact about money that follows from rows of others than the entries. */
const MONEY = `WITH facts AS (
    SELECT payee_id AS user_id, amount FROM transfers WHERE kind = 'deposit' AND status = 'completed'
    UNION ALL SELECT payer_id, -amount FROM transfers WHERE kind = 'withdrawal' AND status <> 'rejected'
    UNION ALL SELECT builder_id, released FROM settlements
    UNION ALL SELECT t.buyer_id, -s.released FROM settlements s JOIN tasks t ON t.id = s.task_id
  ), sums AS (SELECT user_id, SUM(amount) AS amount FROM facts GROUP BY user_id)
  SELECT a.user_id AS what, SUM(a.balance) AS has, COALESCE(MAX(s.amount), 0) AS due
  FROM accounts a LEFT JOIN sums s ON s.user_id = a.user_id WHERE a.user_id IS NOT NULL
  GROUP BY a.user_id HAVING SUM(a.balance) <> COALESCE(MAX(s.amount), 0)
  UNION ALL SELECT kind, balance, due FROM (
    SELECT kind, balance, CASE kind
      WHEN 'payouts' THEN (SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE kind = 'withdrawal' AND status = 'pending')
      WHEN 'world' THEN (SELECT COALESCE(SUM(CASE kind WHEN 'deposit' THEN -amount ELSE amount END), 0) FROM transfers
        WHERE kind IN ('deposit', 'withdrawal') AND status = 'completed')
      ELSE 0 END AS due FROM accounts WHERE user_id IS NULL) WHERE balance <> due`

/** The table of each kind of id, and its columns that are held, of all storms of the process: one migration makes them all. */
const tableOf = new Map<string, string>()
const columnsOf = new Map<string, string>()

interface Row {
  readonly id: string
  readonly [column: string]: unknown
}

export class Promises {
  /** What the wire has said of each record last, by id. */
  readonly #said = new Map<string, Json>()
  /** Those of them that were not held against their rows yet. */
  readonly #fresh = new Set<string>()
  readonly #gone = new Set<string>()
  /** Banned accounts of which an administrator has had removed, maybe, what they wrote. */
  readonly #purged = new Set<string>()
  /** What was answered to an Idempotency-Key. */
  readonly #keys = new Map<string, { body: string; at: number }>()
  #states = new Map<string, TaskState>()
  /** The most that each budget has allowed. */
  readonly #caps = new Map<string, { maxPerTask: number; maxDaily: number; maxMonthly: number }>()
  /** How many events of a task were caused for certain, and how many maybe. */
  readonly #caused = new Map<string, { surely: number; maybe: number }>()
  readonly #bodies = new Map<string, string>()
  #sentRead = 0
  readonly #lastOf = new Map<string, string>()
  /** Deliveries that were there at the beginning. */
  #older: ReadonlySet<string> | null = null
  /** Requests since the last look that may have moved a task. */
  #moves = 0

  asked({ name, at, body, answer, key, now }: Asked): void {
    const { method } = endpoints[name]
    // Whoever has read it may count on it, whoever wrote it.
    if (method === 'GET') {
      if (answer?.status === 200) this.#learn(dataOf(answer))
      return
    }
    this.#moves++
    if (method === 'DELETE') for (const id of Object.values(at)) this.#gone.add(id)
    if (name === 'updateBudget') this.#raiseCaps(at.id ?? '', body)
    const isKnown = answer !== null && answer.status < 500
    const isDone = isKnown && answer.status < 300
    if (name === 'purgeUser' && (isDone || !isKnown)) this.#purged.add(at.id ?? '')
    if (isDone || !isKnown) this.#cause(name, at, answer, isDone)
    if (!isDone) return
    const data = dataOf(answer)
    const isRepeat = answer.headers['idempotent-replayed'] !== undefined
    if (key !== undefined) this.#sameAnswer(`${name} ${JSON.stringify(at)} ${key}`, { answer, isRepeat, now })
    // What it allowed first, whoever asks again.
    if (name === 'createBudget') this.#raiseCaps(data.id, data)
    if (!isRepeat) this.#learn(data)
  }

  /** A repeat has the answer of the first, and nothing is done twice for one key while its answer is kept. */
  #sameAnswer(what: string, { answer, isRepeat, now }: { answer: WireAnswer; isRepeat: boolean; now: number }): void {
    const known = this.#keys.get(what)
    if (isRepeat && known && known.body !== answer.body)
      throw new Broken(`${what} was answered otherwise the second time`)
    if (!isRepeat && known && now - known.at < durations.idempotency.keptMs) throw new Broken(`${what} was done twice`)
    if (!isRepeat) this.#keys.set(what, { body: answer.body, at: now })
  }

  /** `above`: who has written what `data` is a part of. */
  #learn(data: Json, above?: string): void {
    if (typeof data !== 'object' || data === null) return
    const writer = data.senderId ?? data.builderId ?? above
    for (const inner of Object.values(data)) this.#learn(inner, writer)
    const { id } = data
    if (typeof id !== 'string' || !ID.test(id)) return
    const known = this.#said.get(id)
    if (known?.updatedAt > data.updatedAt) return
    this.#said.set(id, { ...known, ...data, writer })
    this.#fresh.add(id)
  }

  #raiseCaps(id: string, given: Json): void {
    const caps = ['maxPerTask', 'maxDaily', 'maxMonthly'] as const
    // Of one whose making was never answered only a part may be known, by a change.
    if (!this.#caps.has(id) && caps.some(cap => typeof given?.[cap] !== 'number')) return
    const known = this.#caps.get(id) ?? { maxPerTask: 0, maxDaily: 0, maxMonthly: 0 }
    for (const cap of caps) {
      if (typeof given?.[cap] === 'number') known[cap] = Math.max(known[cap], given[cap])
    }
    this.#caps.set(id, known)
  }

  #cause(name: EndpointName, at: Asked['at'], answer: WireAnswer | null, isDone: boolean): void {
    const data = answer && isDone ? dataOf(answer) : undefined
    const event =
      eventOf[name] ??
      (data?.senderRole === 'buyer' || (name === 'sendMessage' && !isDone) ? 'task.message' : undefined)
    if (event === undefined || !at.id || answer?.headers['idempotent-replayed'] !== undefined) return
    const key = `${at.id} ${event}`
    const count = this.#caused.get(key) ?? { surely: 0, maybe: 0 }
    isDone ? count.surely++ : count.maybe++
    this.#caused.set(key, count)
  }

  /**
   * Throws `Broken` if one of them is not kept. `now`: domain time. Nothing is under way. `whole`: all that was ever said is
   * looked for, not only what was said since the last look.
   */
  async check(db: Db, { agents, now, whole }: { agents: Agents; now: number; whole: boolean }): Promise<void> {
    await db.read(async q => {
      const { problems } = await ledgerProblems(q)
      if (problems.length > 0) throw new Broken(`the books: ${problems.join(', ')}`)
      for (const { what, has, due } of await q.all<Json>(MONEY))
        throw new Broken(`${what} has ${has} cents and is due ${due}`)
      await this.#checkStates(q)
      await this.#checkSaid(q, whole)
      await this.#checkBudgets(q, now)
      await this.#checkWebhooks(q, agents)
    })
  }

  async #checkStates(q: Reader): Promise<void> {
    const rows = await q.all<{ id: string; status: TaskState }>('SELECT id, status FROM tasks')
    const states = new Map(rows.map(({ id, status }) => [id, status]))
    for (const [id, before] of this.#states) {
      const after = states.get(id)
      if (after === undefined) throw new Broken(`${id} is gone`)
      if (!leads(before, after, this.#moves))
        throw new Broken(`${id} went from ${before} to ${after} by ${this.#moves} requests`)
    }
    this.#states = states
    this.#moves = 0
  }

  /** Every write that was answered is there, as it was or changed later. */
  async #checkSaid(q: Reader, whole: boolean): Promise<void> {
    const rows = new Map<string, Map<string, Row>>()
    const ids = whole ? [...this.#said.keys()] : [...this.#fresh]
    this.#fresh.clear()
    for (const id of ids) {
      const said = this.#said.get(id)
      const kind = ID.exec(id)![1]!
      if (PASSING.has(kind) || this.#gone.has(id)) continue
      if (kind === 'file') {
        const found = await q.get('SELECT 1 FROM deliverables WHERE files LIKE $1', [`%${id}%`])
        if (!found && !(await this.#isPurged(q, said))) throw new Broken(`${id} is gone`)
        continue
      }
      const table = tableOf.get(kind) ?? (await this.#tableOf(q, kind, id))
      let known = rows.get(table)
      if (!known) {
        const columns = columnsOf.get(table)!
        known = new Map((await q.all<Row>(`SELECT ${columns} FROM ${table}`)).map(row => [row.id, row]))
        rows.set(table, known)
      }
      const row = known.get(id)
      if (row) holdAgainst(id, said, row)
      else if (!(await this.#isPurged(q, said))) throw new Broken(`${id} was answered, and is not there`)
    }
  }

  async #isPurged(q: Reader, { writer, agentId }: Json): Promise<boolean> {
    if (this.#purged.size === 0) return false
    const agent = await q.get<Json>('SELECT builder_id AS builder FROM agents WHERE id = $1', [agentId ?? ''])
    return this.#purged.has(writer) || this.#purged.has(agent?.builder)
  }

  /** The table whose rows have such ids. */
  async #tableOf(q: Reader, kind: string, id: string): Promise<string> {
    const tables = await q.all<{ name: string }>(
      `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'id' WHERE m.type = 'table'`,
    )
    for (const { name } of tables) {
      if (!(await q.get(`SELECT 1 FROM ${name} WHERE id = $1`, [id]))) continue
      tableOf.set(kind, name)
      const columns = await q.all<{ name: string }>('SELECT name FROM pragma_table_info($1)', [name])
      columnsOf.set(
        name,
        columns
          .map(({ name: column }) => column)
          .filter(column => HELD.has(column))
          .join(', '),
      )
      return name
    }
    throw new Broken(`${id} was answered, and is in no table`)
  }

  async #checkBudgets(q: Reader, now: number): Promise<void> {
    if (this.#caps.size === 0) return
    const { month } = sinceOf(now)
    const spent = await q.all<{ id: string; day: number; month: number; most: number; cents: number }>(
      `SELECT t.budget_authorization_id AS id, t.submitted_at / ${durations.dayMs} AS day,
         CASE WHEN t.submitted_at >= $1 THEN 1 ELSE 0 END AS month,
         MAX(t.agreed_price) AS most, SUM(t.agreed_price - COALESCE(s.refunded, 0)) AS cents
       FROM tasks t LEFT JOIN settlements s ON s.task_id = t.id
       WHERE t.budget_authorization_id IS NOT NULL AND t.submitted_at IS NOT NULL GROUP BY 1, 2, 3`,
      [month],
    )
    const months = new Map<string, number>()
    for (const { id, month: isNow, most, cents } of spent) {
      const caps = this.#caps.get(id)
      if (!caps) continue
      if (most > caps.maxPerTask) throw new Broken(`${id} allows ${caps.maxPerTask} for a task, and ${most} was spent`)
      if (cents > caps.maxDaily) throw new Broken(`${id} allows ${caps.maxDaily} a day, and ${cents} was spent`)
      if (isNow) months.set(id, (months.get(id) ?? 0) + cents)
      if ((months.get(id) ?? 0) > caps.maxMonthly) throw new Broken(`${id} has passed its month`)
    }
  }

  async #checkWebhooks(q: Reader, { sent, taken }: Agents): Promise<void> {
    const rows = await q.all<DeliverySeen>(
      'SELECT id, task_id AS task, agent_id AS agent, event, state, redelivery_of AS again FROM deliveries',
    )
    this.#older ??= new Set(rows.map(({ id }) => id))
    this.#checkOrder(sent, new Map(rows.map(({ id, agent }) => [id, agent])))
    const counts = new Map<string, number>()
    for (const { id, task, event, state, again } of rows) {
      if (this.#older.has(id)) continue
      if (state === 'delivered' && !taken.has(id)) throw new Broken(`${id} counts as delivered, and nobody took it`)
      const key = `${task} ${event}`
      if (again === null) counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    for (const [key, { surely, maybe }] of this.#caused) {
      const count = counts.get(key) ?? 0
      if (count < surely || count > surely + maybe)
        throw new Broken(`${key}: ${count} events, ${surely} were caused for certain and ${maybe} maybe`)
    }
  }

  /** Of one task and receiver, an event is sent once the one before has ended; and each time with the same body. */
  #checkOrder(sent: readonly Sent[], receivers: ReadonlyMap<string, string>): void {
    for (const { deliveryId, taskId, body } of sent.slice(this.#sentRead)) {
      if ((this.#bodies.get(deliveryId) ?? body) !== body) throw new Broken(`${deliveryId} came with another body`)
      this.#bodies.set(deliveryId, body)
      const receiver = receivers.get(deliveryId)
      if (receiver === undefined) throw new Broken(`${deliveryId} was sent, and is not there`)
      const queue = `${taskId} ${receiver}`
      const last = this.#lastOf.get(queue) ?? ''
      // Ids grow with every event of a storm, whoever makes them.
      if (deliveryId < last) throw new Broken(`${deliveryId} came after ${last}, of the same task and agent`)
      this.#lastOf.set(queue, deliveryId)
    }
    this.#sentRead = sent.length
  }
}

interface DeliverySeen {
  readonly id: string
  readonly task: string
  readonly agent: string
  readonly event: string
  readonly state: string
  readonly again: string | null
}

/** What was said last, or what it may have become since. Time may have stood still meanwhile. */
function holdAgainst(id: string, said: Json, row: Row): void {
  const { updated_at: updatedAt, status } = row as Json
  if (said.updatedAt !== undefined && typeof updatedAt === 'number' && updatedAt < Date.parse(said.updatedAt))
    throw new Broken(`${id} was changed at ${said.updatedAt}, and its row is older`)
  for (const [field, column] of FOR_EVER) {
    if (column in row && said[field] !== undefined && said[field] !== row[column])
      throw new Broken(`${field} of ${id} was ${said[field]}, and is ${row[column]}`)
  }
  if (id.startsWith('task_') && typeof said.status === 'string' && !leads(said.status, status, taskStates.length))
    throw new Broken(`${id} was ${said.status}, and is ${status}`)
  if (id.startsWith('trf_') && said.status === 'rejected' && status !== 'rejected')
    throw new Broken(`${id} was rejected, and is ${status}`)
}

/** What never changes. */
const FOR_EVER = [
  ['amount', 'amount'],
  ['buyerId', 'buyer_id'],
] as const

function dataOf({ body }: WireAnswer): Json {
  try {
    return JSON.parse(body).data
  } catch {
    return undefined
  }
}
