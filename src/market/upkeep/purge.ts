/**
 * Removes what a banned account has written, in many small transactions. Its row says how far it came, so one that was cut off
 * goes on there. Money stays, and what buyers have bought. Source: A-292.
 */
import { refuse } from '../../api/failures.ts'
import type { Tx } from '../../store/db.ts'
import { deleteKeys } from '../../store/tables/accounts/keys.ts'
import { deleteSessions } from '../../store/tables/accounts/sessions.ts'
import { userById } from '../../store/tables/accounts/users.ts'
import { deleteReports } from '../../store/tables/agents/agent-tests.ts'
import { agentById, agents, softDelete, updateAgentRow } from '../../store/tables/agents/agents.ts'
import { samples } from '../../store/tables/agents/samples.ts'
import type { Columns, Patch, Row, Table } from '../../store/tables/table.ts'
import { messages, reviews } from '../../store/tables/tasks/conversation.ts'
import { deliverables, filesIn, uploads } from '../../store/tables/tasks/deliverables.ts'
import { tasks } from '../../store/tables/tasks/tasks.ts'
import {
  agentBehind,
  beginPurge,
  commentOn,
  deleteDeliverables,
  deleteMessages,
  deleteSamples,
  deleteSome,
  deliveriesBehind,
  type PurgeRow,
  purgeOf,
  taskSides,
  tasksBehind,
  updatePurge,
} from '../../store/tables/upkeep/purges.ts'
import { emptyBodies } from '../../store/tables/upkeep/retention.ts'
import { uncountBytes } from '../../store/tables/upkeep/usage.ts'
import { taskWeight, weightOf, writerOf } from '../text-quota.ts'
import { iso, isoOrNull } from '../time.ts'
import type { Verb } from '../verb.ts'

/** Rows in one transaction. */
const ROWS = 100
/** One request ends after so many transactions, or after this time. */
const TRANSACTIONS = 2_000
const MS = 5_000

const WORDS = 'Removed by an administrator, because the account that wrote it is banned.'

interface Purging {
  readonly tx: Tx
  readonly userId: string
  readonly now: number
  readonly after: string
}

interface Removed {
  readonly rows: number
  readonly bytes: number
  readonly openTasks?: number
  /** Behind which row the stage goes on; null if it has ended. */
  readonly after: string | null
}

const purgeUser: Verb<'purgeUser'> = async ({ db, world, log, actor }, { params: { id } }) => {
  await db.write(async tx => {
    await refuseUnlessBanned(tx, id)
    const row = await purgeOf(tx, id)
    if (!row || row.endedAt !== null) await beginPurge(tx, { userId: id, begunBy: actor.user.id, begunAt: world.now() })
  })
  const until = world.realNow() + MS
  for (let n = 0; n < TRANSACTIONS && world.realNow() < until; n++)
    if (await db.write(tx => removeSome(tx, id, world.now()))) break
  const row = (await db.read(q => purgeOf(q, id)))!
  const { stage, after, begunAt, endedAt, ...told } = row
  if (endedAt !== null) log({ type: 'warning', message: `What ${id} has written was purged by ${row.begunBy}` })
  return { ...told, begunAt: iso(begunAt), endedAt: isoOrNull(endedAt), done: endedAt !== null }
}

async function refuseUnlessBanned(tx: Tx, id: string): Promise<void> {
  // Locked, so that two purges of one account take turns, and nobody lifts the ban meanwhile.
  await tx.lock('users', id)
  const user = await userById(tx, id)
  if (!user) throw refuse('not_found', 'account')
  if (!user.banned) throw refuse('not_banned')
}

/** One transaction of a purge. Returns whether nothing is left to do. */
async function removeSome(tx: Tx, userId: string, now: number): Promise<boolean> {
  await refuseUnlessBanned(tx, userId)
  const row = (await purgeOf(tx, userId))!
  if (row.endedAt !== null) return true
  const removed = await stages[row.stage]!({ tx, userId, now, after: row.after })
  const next: PurgeRow = {
    ...row,
    rowsRemoved: row.rowsRemoved + removed.rows,
    bytesRemoved: row.bytesRemoved + removed.bytes,
    openTasks: row.openTasks + (removed.openTasks ?? 0),
    after: removed.after ?? '',
    stage: row.stage + (removed.after === null ? 1 : 0),
  }
  const isOver = next.stage === stages.length
  await updatePurge(tx, isOver ? { ...next, endedAt: now } : next)
  return isOver
}

async function removeCredentials({ tx, userId }: Purging): Promise<Removed> {
  const rows = (await deleteSessions(tx, userId)) + (await deleteKeys(tx, userId))
  return { rows, bytes: 0, after: null }
}

const removeRows =
  (from: Parameters<typeof deleteSome>[1]) =>
  async ({ tx, userId }: Purging): Promise<Removed> => {
    const rows = await deleteSome(tx, from, userId, ROWS)
    return { rows, bytes: 0, after: rows < ROWS ? null : 'more' }
  }

/** What stands in place of what somebody has written in a row: nothing where there may be none. */
const blankOf = <C extends Columns>({ written, columns }: Table<C>) =>
  Object.fromEntries(written.map(name => [name, columns[name]!.nullable ? null : WORDS])) as Patch<Table<C>>

const blankAgent = { ...blankOf(agents), name: 'Removed', tags: '[]' }
const blankTexts = { ...blankOf(tasks), title: 'Removed' }

/** One agent: its samples, its words and itself, unless a task of it is open. */
async function removeAgent({ tx, userId, now, after }: Purging): Promise<Removed> {
  const id = await agentBehind(tx, userId, after)
  if (id === undefined) return { rows: 0, bytes: 0, after: null }
  await tx.lock('agents', id)
  const removed = await deleteSamples(tx, id)
  await deleteReports(tx, id)
  let bytes = removed.reduce((sum, row) => sum + weightOf(samples, row), 0)
  const agent = (await agentById(tx, id))!
  const isGone = agent.deletedAt !== null || (await softDelete(tx, id, now)) > 0
  if (isGone) {
    bytes += Math.max(0, weightOf(agents, agent) - weightOf(agents, { ...agent, ...blankAgent }))
    await updateAgentRow(tx, id, blankAgent)
  }
  await uncountBytes(tx, 'text_usage', userId, bytes)
  return { rows: removed.length + (isGone && agent.description !== WORDS ? 1 : 0), bytes, after: id }
}

/** The bodies of webhooks to agents of the account. `after`: an agent, and a delivery of it. */
async function emptyWebhooks({ tx, userId, after }: Purging): Promise<Removed> {
  const [at = '', behind = ''] = after.split(' ')
  const agentId = behind === '' ? await agentBehind(tx, userId, at) : at
  if (agentId === undefined) return { rows: 0, bytes: 0, after: null }
  const sent = await deliveriesBehind(tx, agentId, behind, ROWS)
  const ended = sent.filter(({ endedAt, body }) => endedAt !== null && body !== '')
  const bytes = await emptyBodies(tx, ended)
  return { rows: ended.length, bytes, after: sent.length < ROWS ? agentId : `${agentId} ${sent.at(-1)!.id}` }
}

type Task = Row<typeof tasks>

const isOpen = ({ status, disputed }: Task) =>
  disputed === 1 || status === 'pending' || status === 'in_progress' || status === 'delivered'

/** Tasks of the account on one side, one in each transaction, as each may have many messages. */
const removeTasks =
  (side: (typeof taskSides)[number]) =>
  async ({ tx, userId, now, after }: Purging): Promise<Removed> => {
    const [found] = await tasksBehind(tx, side, userId, after, 1)
    if (!found) return { rows: 0, bytes: 0, after: null }
    await tx.lock('tasks', found.id)
    const [task] = (await tasksBehind(tx, side, userId, after, 1)) as [Task]
    if (isOpen(task)) return { rows: 0, bytes: 0, openTasks: 1, after: task.id }
    const spoken = await deleteMessages(tx, task.id, userId, ROWS)
    const parts = [
      { rows: spoken.length, bytes: spoken.reduce((sum, row) => sum + weightOf(messages, row), 0) },
      ...(writerOf(task) === userId ? [await blankTask(tx, task, now)] : []),
      ...(task.buyerId === userId ? [await blankReview(tx, task.id)] : []),
      ...(task.builderId === userId && task.status === 'cancelled' ? [await removeDeliverables(tx, task)] : []),
    ]
    const rows = parts.reduce((sum, part) => sum + part.rows, 0)
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    await uncountBytes(tx, 'text_usage', userId, bytes)
    return { rows, bytes, after: spoken.length < ROWS ? task.id : after }
  }

interface Part {
  rows: number
  bytes: number
}

async function blankTask(tx: Tx, task: Task, now: number): Promise<Part> {
  if (task.description === WORDS) return { rows: 0, bytes: 0 }
  const ends = task.status === 'draft' ? ({ status: 'cancelled', cancelledAt: now, updatedAt: now } as const) : {}
  await tasks.update(tx, { id: task.id }, { ...blankTexts, ...ends })
  return { rows: 1, bytes: Math.max(0, taskWeight(task) - weightOf(tasks, { ...task, ...blankTexts })) }
}

async function blankReview(tx: Tx, taskId: string): Promise<Part> {
  const comment = await commentOn(tx, taskId)
  if (comment === undefined) return { rows: 0, bytes: 0 }
  await reviews.update(tx, { taskId }, { comment: null })
  return { rows: 1, bytes: weightOf(reviews, { comment }) - weightOf(reviews, { comment: null }) }
}

/** What was delivered to a task that nobody has paid for. Its files are removed like uploads that no deliverable took. */
async function removeDeliverables(tx: Tx, { id, builderId }: Task): Promise<Part> {
  const removed = await deleteDeliverables(tx, id)
  const files = removed.flatMap(row => filesIn(row.files))
  for (const file of files) await uploads.insert(tx, { id: file.id, begunAt: 0 })
  const stored = files.reduce((sum, { size }) => sum + size, 0)
  if (stored > 0) await uncountBytes(tx, 'file_usage', builderId, stored)
  return { rows: removed.length, bytes: removed.reduce((sum, row) => sum + weightOf(deliverables, row), 0) }
}

const stages: readonly ((purging: Purging) => Promise<Removed>)[] = [
  removeCredentials,
  removeRows('idempotency_keys'),
  removeRows('notifications'),
  ...taskSides.map(removeTasks),
  emptyWebhooks,
  removeAgent,
]

export const purgeVerbs = { purgeUser }
