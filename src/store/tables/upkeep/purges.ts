/** What is removed of banned accounts, a bounded number of rows at a time. */
import type { Reader, Tx } from '../../db.ts'
import { samples } from '../agents/samples.ts'
import { bigint, integer, nullable, type Row, table, text } from '../table.ts'
import type { messages } from '../tasks/conversation.ts'
import { deliverables } from '../tasks/deliverables.ts'
import { tasks } from '../tasks/tasks.ts'
import { deliveries } from '../webhooks/outbox.ts'

export const purges = table('purges', {
  userId: text(),
  begunBy: text(),
  begunAt: bigint(),
  endedAt: nullable(bigint()),
  /** Where it goes on: in this stage, behind this row. */
  stage: integer(),
  after: text(),
  rowsRemoved: bigint(),
  bytesRemoved: bigint(),
  openTasks: integer(),
})

export type PurgeRow = Row<typeof purges>

export const purgeOf = (q: Reader, userId: string) =>
  q.get<PurgeRow>(`SELECT ${purges.all} FROM purges WHERE user_id = $1`, [userId])

const begun = purges.replacing(
  ['userId'],
  ['begunBy', 'begunAt', 'endedAt', 'stage', 'after', 'rowsRemoved', 'bytesRemoved', 'openTasks'],
)

/** Replaces one that has ended. */
export const beginPurge = (tx: Tx, row: Pick<PurgeRow, 'userId' | 'begunBy' | 'begunAt'>) =>
  purges.insert(
    tx,
    { ...row, endedAt: null, stage: 0, after: '', rowsRemoved: 0, bytesRemoved: 0, openTasks: 0 },
    begun,
  )

export const updatePurge = (tx: Tx, { userId, ...fields }: PurgeRow) => purges.update(tx, { userId }, fields)

const ownRows = {
  idempotency_keys: 'user_id, method, path, key',
  notifications: 'id',
} as const

/** Deletes some rows of the account. */
export const deleteSome = (tx: Tx, from: keyof typeof ownRows, userId: string, count: number) => {
  const key = ownRows[from]
  return tx.run(`DELETE FROM ${from} WHERE (${key}) IN (SELECT ${key} FROM ${from} WHERE user_id = $1 LIMIT $2)`, [
    userId,
    count,
  ])
}

/** The next agent of a builder, deleted ones too. */
export const agentBehind = async (q: Reader, builderId: string, after: string) =>
  (
    await q.get<{ id: string }>('SELECT id FROM agents WHERE builder_id = $1 AND id > $2 ORDER BY id LIMIT 1', [
      builderId,
      after,
    ])
  )?.id

export const deleteSamples = (tx: Tx, agentId: string) =>
  tx.all<Row<typeof samples>>(`DELETE FROM samples WHERE agent_id = $1 RETURNING ${samples.all}`, [agentId])

type Sent = Pick<Row<typeof deliveries>, 'id' | 'countedTo' | 'body' | 'endedAt'>

export const deliveriesBehind = (q: Reader, agentId: string, after: string, count: number) =>
  q.all<Sent>(
    `SELECT ${deliveries.some(['id', 'countedTo', 'body', 'endedAt'])} FROM deliveries
     WHERE agent_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
    [agentId, after, count],
  )

/** The comment of the review of a task, if it has one. */
export const commentOn = async (q: Reader, taskId: string) =>
  (await q.get<{ comment: string }>('SELECT comment FROM reviews WHERE task_id = $1 AND comment IS NOT NULL', [taskId]))
    ?.comment

export const deleteDeliverables = (tx: Tx, taskId: string) =>
  tx.all<Row<typeof deliverables>>(`DELETE FROM deliverables WHERE task_id = $1 RETURNING ${deliverables.all}`, [
    taskId,
  ])

export const taskSides = ['buyer', 'builder', 'hirer'] as const

/** The next tasks of an account on one side. */
export const tasksBehind = (
  q: Reader,
  side: (typeof taskSides)[number],
  userId: string,
  after: string,
  count: number,
) =>
  q.all<Row<typeof tasks>>(`SELECT ${tasks.all} FROM tasks WHERE ${side}_id = $1 AND id > $2 ORDER BY id LIMIT $3`, [
    userId,
    after,
    count,
  ])

/** Deletes some of the messages that the account has sent about a task. */
export const deleteMessages = (tx: Tx, taskId: string, senderId: string, count: number) =>
  tx.all<Pick<Row<typeof messages>, 'content'>>(
    `DELETE FROM messages WHERE id IN
       (SELECT id FROM messages WHERE task_id = $1 AND sender_id = $2 ORDER BY id LIMIT $3) RETURNING content`,
    [taskId, senderId, count],
  )
