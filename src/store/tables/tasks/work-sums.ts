/**
 * What has come of the tasks of each agent that works, of each buyer and of each budget, in sums that every change of a task keeps up to date: reading
 * them takes as long after a million tasks as after one. The check of the ledger compares them with the tasks. Source: A-316.
 */
import type { DisputeOutcome, TaskState } from '../../../api/flow.ts'
import { durations } from '../../../api/limits.ts'
import type { Reader, Step, Value } from '../../db.ts'
import { bigint, defaulted, integer, table, text } from '../table.ts'
import type { TaskRow } from './tasks.ts'

// Each sum is that of several rows. With a single row all who hire an agent would wait for each other.
const SLOTS = 16

const sum = () => defaulted(bigint())

/** Cents, and counts of tasks. */
const ofAgents = { held: sum(), inDispute: sum(), earned: sum(), clearing: sum(), done: sum() }
/** Counts of tasks; `stars`: the sum of all ratings. */
const ofBuyers = {
  submitted: sum(),
  completed: sum(),
  cancelled: sum(),
  disputed: sum(),
  lost: sum(),
  ratings: sum(),
  stars: sum(),
}
/** Cents, of one authorization and one day. */
const ofBudgets = { spent: sum() }
type Sums<Names> = { readonly [Name in keyof Names]: number }
export type AgentSums = Sums<typeof ofAgents>
export type BuyerSums = Sums<typeof ofBuyers>

/** `whose`: an agent that works, an account that buys, an agent that buys, or an authorization and a day. */
export const workSums = table('work_sums', { whose: text(), slot: integer(), ...ofAgents, ...ofBuyers, ...ofBudgets })

type Name = keyof AgentSums | keyof BuyerSums | keyof typeof ofBudgets
const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

type Added = readonly [whose: string, sums: Partial<Record<Name, number>>, slot?: number]

/**
 * One statement for all of them, in the order of their ids: two that are written at once wait for each other, and no two have a deadlock. No two
 * are the same row: who works for himself has no sums as a buyer.
 */
function sumSteps(taskId: string, all: readonly Added[]): Step[] {
  const names: Name[] = []
  const rows: Added[] = []
  for (const added of all) {
    let isAny = false
    for (const [name, sum] of Object.entries(added[1])) {
      if (sum === 0) continue
      isAny = true
      if (!names.includes(name as Name)) names.push(name as Name)
    }
    if (isAny) rows.push(added)
  }
  if (rows.length === 0) return []
  rows.sort(([one], [other]) => (one < other ? -1 : 1))
  const values: Value[] = []
  for (const [whose, sums, slot = taskId.charCodeAt(taskId.length - 1) % SLOTS] of rows) {
    values.push(whose, slot)
    for (const name of names) values.push(sums[name] ?? 0)
  }
  return [{ sql: addingTo(names, rows.length), values }]
}

const statements = new Map<string, string>()

/** There are as many as callers here, by one to four rows. */
function addingTo(names: readonly Name[], rows: number): string {
  const key = `${names} ${rows}`
  const kept = statements.get(key)
  if (kept !== undefined) return kept
  const columns = names.map(snake)
  const width = columns.length + 2
  const placeholders = Array.from(
    { length: rows },
    (_, row) => `(${Array.from({ length: width }, (_, at) => `$${row * width + at + 1}`).join(', ')})`,
  )
  const sets = columns.map(name => `${name} = work_sums.${name} + excluded.${name}`)
  const sql = `INSERT INTO work_sums (whose, slot, ${columns.join(', ')}) VALUES ${placeholders.join(', ')}
    ON CONFLICT (whose, slot) DO UPDATE SET ${sets.join(', ')}`
  statements.set(key, sql)
  return sql
}

type Work = Pick<TaskRow, 'id' | 'agentId' | 'buyerId' | 'buyerAgentId' | 'builderId'>

const agentsOf = ({ agentId }: Pick<Work, 'agentId'>, sums: Partial<AgentSums>): Added[] => [[agentId, sums]]

/** The account that pays, and its agent. Work for oneself is none of theirs. */
const buyersOf = ({ buyerId, buyerAgentId, builderId }: Work, sums: Partial<BuyerSums>): Added[] =>
  buyerId === builderId
    ? []
    : [buyerId, buyerAgentId].flatMap(whose => (whose === null ? [] : [[whose, sums] as const]))

/** Days are ordered as texts are. */
const dayOf = (at: number) => String(Math.floor(at / durations.dayMs)).padStart(6, '0')
const spentOn = (authorization: string, day: string) => `${authorization} || ' ' || ${day}`

/** Submits of one authorization hold its row, so they need no slots. What is refunded counts on the day of the submit. */
const budgetsOf = (
  { budgetAuthorizationId: id, submittedAt }: Pick<TaskRow, 'budgetAuthorizationId' | 'submittedAt'>,
  now: number,
  spent: number,
): Added[] => (id === null ? [] : [[`${id} ${dayOf(submittedAt ?? now)}`, { spent }, 0]])

/** Adds to the sums of the agent that works. */
export const ofAgent = (task: Pick<TaskRow, 'id' | 'agentId'>, sums: Partial<AgentSums>): Step[] =>
  sumSteps(task.id, agentsOf(task, sums))

/** Adds to the sums of who buys. */
export const ofBuyer = (task: Work, sums: Partial<BuyerSums>): Step[] => sumSteps(task.id, buyersOf(task, sums))

const isOpen = (status: TaskState) => Number(status === 'pending' || status === 'in_progress' || status === 'delivered')

/** What a change of state adds, of a task that is submitted before or by it. `refunded`: the cents that go back with it. */
export function ofChange(task: TaskRow, to: TaskState, now: number, refunded: number): Step[] {
  const { status: from, submittedAt, disputed, agreedPrice, buyerId, builderId } = task
  const isSubmit = submittedAt === null
  if (isSubmit && !isOpen(to)) return []
  const more = (status: TaskState) => Number(to === status) - Number(from === status)
  const completed = more('completed')
  return sumSteps(task.id, [
    ...agentsOf(task, {
      held: (isOpen(to) - isOpen(from)) * agreedPrice,
      inDispute: -disputed * agreedPrice,
      done: buyerId === builderId ? 0 : completed,
    }),
    ...budgetsOf(task, now, (isSubmit ? agreedPrice : 0) - refunded),
    ...buyersOf(task, { submitted: Number(isSubmit), completed, cancelled: more('cancelled') }),
  ])
}

/** Disputes that an administrator opened are not the buyer's. */
const isBuyers = ({ buyerId, hirerId }: TaskRow, by: string | null) => by === buyerId || by === hirerId

/** What opening a dispute adds. */
export const ofDispute = (task: TaskRow, by: string): Step[] =>
  sumSteps(task.id, [
    ...agentsOf(task, { inDispute: task.agreedPrice }),
    ...buyersOf(task, { disputed: Number(isBuyers(task, by)) }),
  ])

/** What its resolution adds, beside the change of state. */
export const ofResolution = (task: TaskRow, outcome: DisputeOutcome): Step[] =>
  ofBuyer(task, { lost: Number(outcome === 'release' && isBuyers(task, task.disputeOpenedBy)) })

/** @internal The columns of sums. */
export const sumNames = Object.keys({ ...ofAgents, ...ofBuyers, ...ofBudgets }).map(snake)
const added = (names: readonly string[]) => names.map(name => `CAST(SUM(w.${snake(name)}) AS BIGINT) AS "${name}"`)

/** All sums of a requestor: an account's, or a buying agent's. */
export const buyerSumsOf = async (q: Reader, whose: string): Promise<BuyerSums> => {
  const all = added(Object.keys(ofBuyers))
  const row = await q.get<Sums<typeof ofBuyers>>(
    `SELECT ${all.join(', ')} FROM work_sums w WHERE w.whose = $1 HAVING COUNT(*) > 0`,
    [whose],
  )
  return row ?? (Object.fromEntries(Object.keys(ofBuyers).map(name => [name, 0])) as BuyerSums)
}

/** What an authorization has spent since a day, as SQL. A day is what `sinceDay` makes of a moment. */
export const spentSince = (authorization: string, day: string) =>
  `(SELECT CAST(COALESCE(SUM(w.spent), 0) AS BIGINT) FROM work_sums w
    WHERE w.whose >= ${spentOn(authorization, day)} AND w.whose < ${spentOn(authorization, "'~'")})`
export const sinceDay = dayOf

export type EarningRow = AgentSums & { readonly agentId: string; readonly name: string }

/** What each agent of a builder has earned and has open, the most earned first. */
export const earningsOf = (q: Reader, builderId: string) =>
  q.all<EarningRow>(
    `SELECT a.id AS "agentId", a.name, ${added(Object.keys(ofAgents)).join(', ')}
     FROM agents a JOIN work_sums w ON w.whose = a.id WHERE a.builder_id = $1 GROUP BY a.id, a.name
     HAVING SUM(w.earned) > 0 OR SUM(w.held) > 0 OR SUM(w.in_dispute) > 0 ORDER BY SUM(w.earned) DESC, a.id`,
    [builderId],
  )

const one = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END`
const priced = (condition: string) => `CASE WHEN ${condition} THEN t.agreed_price ELSE 0 END`
const isTheirs = 'd.opened_by IN (t.buyer_id, t.hirer_id)'

const WHAT_A_TASK_ADDS: { readonly [Key in Name]: string } = {
  held: priced(`t.status IN ('pending', 'in_progress', 'delivered')`),
  inDispute: priced('t.disputed = 1'),
  earned: 'COALESCE(s.released, 0)',
  clearing: `CASE WHEN s.status = 'clearing' THEN s.released ELSE 0 END`,
  done: one(`t.status = 'completed' AND t.buyer_id <> t.builder_id`),
  submitted: '1',
  completed: one(`t.status = 'completed'`),
  cancelled: one(`t.status = 'cancelled'`),
  disputed: one(isTheirs),
  lost: one(`${isTheirs} AND d.outcome = 'release'`),
  ratings: one('r.rating IS NOT NULL'),
  stars: 'COALESCE(r.rating, 0)',
  spent: 't.agreed_price - COALESCE(s.refunded, 0)',
}

const DAY = `SUBSTR(CAST(1000000 + t.submitted_at / ${durations.dayMs} AS TEXT), 2)`

const JOINS: Readonly<Record<string, string>> = {
  s: 'LEFT JOIN settlements s ON s.task_id = t.id',
  d: 'LEFT JOIN disputes d ON d.task_id = t.id',
  r: 'LEFT JOIN reviews r ON r.task_id = t.id',
}

function side(own: object, joins: string, whose: string, condition = ''): string {
  const columns = Object.entries(WHAT_A_TASK_ADDS).map(
    ([name, sql]) => `${name in own ? `SUM(${sql})` : '0'} AS ${snake(name)}`,
  )
  const joined = [...joins].map(name => JOINS[name])
  return `SELECT ${whose} AS whose, ${columns.join(', ')} FROM tasks t ${joined.join(' ')}
   WHERE t.submitted_at IS NOT NULL ${condition} GROUP BY ${whose}`
}

/** @internal What all tasks add, by whom and by side, with the columns of the table but the slot. */
export const addedByTasks = [
  side(ofAgents, 's', 't.agent_id'),
  side(ofBuyers, 'dr', 't.buyer_id', 'AND t.buyer_id <> t.builder_id'),
  side(ofBuyers, 'dr', 't.buyer_agent_id', 'AND t.buyer_id <> t.builder_id AND t.buyer_agent_id IS NOT NULL'),
  side(ofBudgets, 's', spentOn('t.budget_authorization_id', DAY), 'AND t.budget_authorization_id IS NOT NULL'),
].join(' UNION ALL ')

const less = sumNames.map(name => `-${name}`)
const isWrong = sumNames.map(name => `SUM(${name}) <> 0`)
/** Looks for sums that are not what the tasks add up to. `what` names whose. */
export const wrongSums = `SELECT whose AS what FROM (
    SELECT whose, ${sumNames.join(', ')} FROM work_sums
    UNION ALL SELECT whose, ${less.join(', ')} FROM (${addedByTasks}) added
  ) compared GROUP BY whose HAVING ${isWrong.join(' OR ')}`
