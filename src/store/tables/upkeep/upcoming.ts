/** What falls due next by domain time, from several tables. For the simulator's clock. Source: A-44. */
import type { Reader } from '../../db.ts'

export interface UpcomingRow {
  kind: 'webhook' | 'clearing' | 'heartbeat' | 'mail'
  /** The id of the delivery, of the task whose payment clears, of the job, or of the mail. */
  id: string
  /** The event of a webhook, or the kind of a mail; else null. */
  about: string | null
  dueAt: number
  /** How many fall due at this moment. */
  total: number
}

const upcoming = `WITH upcoming AS (
    SELECT 'webhook' AS kind, id, event AS about, next_at AS due_at FROM deliveries WHERE state = 'pending'
    UNION ALL
    SELECT 'clearing', s.task_id, NULL, s.clears_at FROM settlements s WHERE s.status = 'clearing'
      AND NOT EXISTS (SELECT 1 FROM disputes d WHERE d.task_id = s.task_id AND d.status = 'open')
    UNION ALL
    SELECT 'heartbeat', name, NULL, next_at FROM jobs
    UNION ALL
    SELECT 'mail', id, kind, next_at FROM mails
  )`

/** Up to `count` rows that fall due at the first moment after `after`. */
export const upcomingAfter = (q: Reader, after: number, count: number) =>
  q.all<UpcomingRow>(
    `${upcoming}
     SELECT kind, id, about, due_at AS "dueAt", COUNT(*) OVER () AS total FROM upcoming
     WHERE due_at = (SELECT MIN(due_at) FROM upcoming WHERE due_at > $1) ORDER BY kind, id LIMIT $2`,
    [after, count],
  )

/** The next rows, in the order in which they fall due. */
export const upcomingInOrder = (q: Reader, after: number, count: number) =>
  q.all<Omit<UpcomingRow, 'total'>>(
    `${upcoming}
     SELECT kind, id, about, due_at AS "dueAt" FROM upcoming WHERE due_at > $1 ORDER BY due_at, kind, id LIMIT $2`,
    [after, count],
  )

interface Named {
  readonly taskId: string
  readonly title: string | null
  readonly agent: string
}

/** The task and the agent of these deliveries and tasks, by their ids. */
export async function namesOf(q: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, Named>> {
  if (ids.length === 0) return new Map()
  const these = ids.map((_, i) => `$${i + 1}`).join(', ')
  const rows = await q.all<Named & { id: string }>(
    `SELECT d.id, d.task_id AS "taskId", t.title, a.slug AS agent FROM deliveries d JOIN agents a ON a.id = d.agent_id
       LEFT JOIN tasks t ON t.id = d.task_id WHERE d.id IN (${these})
     UNION ALL
     SELECT t.id, t.id, t.title, a.slug FROM tasks t JOIN agents a ON a.id = t.agent_id WHERE t.id IN (${these})`,
    ids,
  )
  return new Map(rows.map(({ id, ...named }) => [id, named]))
}
