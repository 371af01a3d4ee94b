/** What was done to tasks, and all else that is told of one: its money, its words, what was sent about it. Source: A-305. */
import type { Party, TaskState, TaskTrigger } from '../../../api/flow.ts'
import { limits } from '../../../api/limits.ts'
import type { Reader, Step } from '../../db.ts'
import { type EntryKind, ledgerEntries } from '../money/transfers.ts'
import { bigint, integer, type NewRow, nullable, type Row, table, text } from '../table.ts'
import { attempts, deliveries } from '../webhooks/outbox.ts'
import { type MessageRow, messages } from './conversation.ts'
import { deliverables } from './deliverables.ts'

export const taskSteps = table('task_steps', {
  taskId: text(),
  /** Orders the steps of a task. */
  position: integer(),
  trigger: text<TaskTrigger>(),
  fromStatus: text<TaskState>(),
  toStatus: text<TaskState>(),
  party: text<Party>(),
  /** The account that did it. What an agent signs, its builder does. */
  actorId: text(),
  via: text<'key' | 'session' | 'signature'>(),
  requestId: nullable(text()),
  at: bigint(),
  realAt: bigint(),
})

export type TaskStepRow = Row<typeof taskSteps>
export type NewTaskStep = Required<Omit<NewRow<typeof taskSteps>, 'position'>>

const next = taskSteps.insertValues([
  {
    taskId: '$1',
    position: '(SELECT COALESCE(MAX(s.position) + 1, 0) FROM task_steps s WHERE s.task_id = $1)',
    trigger: '$2',
    fromStatus: '$3',
    toStatus: '$4',
    party: '$5',
    actorId: '$6',
    via: '$7',
    requestId: '$8',
    at: '$9',
    realAt: '$10',
  },
])

/** Writes down a step behind all others of its task. The caller has locked the task. */
export const taskStep = (row: NewTaskStep): Step => ({
  sql: next,
  values: [
    row.taskId,
    row.trigger,
    row.fromStatus,
    row.toStatus,
    row.party,
    row.actorId,
    row.via,
    row.requestId,
    row.at,
    row.realAt,
  ],
})

const { ofEach, characters } = limits.history

/** The last of them, in order. */
const newest = async <Row>(q: Reader, sql: string, taskId: string): Promise<Row[]> =>
  (await q.all<Row>(`${sql} DESC LIMIT ${ofEach}`, [taskId])).reverse()

export const stepsOf = (q: Reader, taskId: string) =>
  newest<TaskStepRow>(q, `SELECT ${taskSteps.all} FROM task_steps WHERE task_id = $1 ORDER BY position`, taskId)

const beginning = (column: string) => `SUBSTR(${column}, 1, ${characters}) AS text, LENGTH(${column}) AS length`

interface Beginning {
  readonly text: string | null
  /** Of the whole. */
  readonly length: number | null
}

const saidBy = ['id', 'senderId', 'senderRole', 'createdAt'] as const

export const saidAbout = (q: Reader, taskId: string) =>
  newest<Pick<MessageRow, (typeof saidBy)[number]> & Beginning>(
    q,
    `SELECT ${messages.some(saidBy)}, ${beginning('content')} FROM messages WHERE task_id = $1 ORDER BY id`,
    taskId,
  )

const ofDeliverable = ['id', 'position', 'files', 'createdAt'] as const

export const deliveredTo = (q: Reader, taskId: string) =>
  newest<Pick<Row<typeof deliverables>, (typeof ofDeliverable)[number]> & Beginning>(
    q,
    `SELECT ${deliverables.some(ofDeliverable)}, ${beginning('content')} FROM deliverables WHERE task_id = $1
     ORDER BY position`,
    taskId,
  )

const ofLeg = ['legId', 'kind', 'debitedId', 'creditedId', 'amount', 'createdAt'] as const
export type LegRow = Pick<Row<typeof ledgerEntries>, (typeof ofLeg)[number]> & { readonly kind: EntryKind }

/** The entries of the ledger by which the price of a task was moved. A task has few. */
export const moneyOf = (q: Reader, taskId: string) =>
  q.all<LegRow>(
    `SELECT ${ledgerEntries.some(ofLeg)} FROM entries
     WHERE leg_id IN (SELECT id FROM transfers WHERE task_id = $1 UNION ALL SELECT $1 || '_cleared')
     ORDER BY created_at, leg_id`,
    [taskId],
  )

const sentOf = ['id', 'agentId', 'event', 'state', 'redeliveryOf', 'nextAt'] as const
const madeOf = ['attempt', 'url', 'status', 'reason', 'message', 'answer', 'location', 'durationMs'] as const

/** An attempt at a delivery; without one, nothing has come of it yet. */
export type SentRow = Pick<Row<typeof deliveries>, (typeof sentOf)[number]> & {
  readonly [Column in (typeof madeOf)[number]]: Row<typeof attempts>[Column] | null
} & {
  /** Of the delivery, and of the end of the attempt. */
  readonly createdAt: number
  readonly endedAt: number | null
  /** How many attempts have begun, and whether the last of them is under way. */
  readonly begun: number
  readonly isUnderWay: 0 | 1
}

/** What was sent about a task, to its agent or to the one that buys. */
export const sentAbout = (q: Reader, taskId: string) =>
  newest<SentRow>(
    q,
    `SELECT ${deliveries.some(sentOf, 'd')}, ${attempts.some(madeOf, 'x')}, d.created_at AS "createdAt",
       x.created_at AS "endedAt", d.attempts AS begun,
       CASE WHEN d.leased_until > 0 THEN 1 ELSE 0 END AS "isUnderWay"
     FROM deliveries d LEFT JOIN attempts x ON x.delivery_id = d.id WHERE d.task_id = $1 ORDER BY d.id DESC, x.attempt`,
    taskId,
  )
