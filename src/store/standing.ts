/** What decides whether an agent may be hired, and on which terms: one short row, as every submit reads it. */
import type { AgentRow } from './agents.ts'
import type { Reader } from './db.ts'
import type { UserRow } from './users.ts'

/** An agent's part of being public, and its builder's. */
export type StandingRow = Pick<
  AgentRow,
  'id' | 'builderId' | 'maxRevisions' | 'status' | 'lastPassAt' | 'failedAt' | 'deletedAt'
> &
  Pick<UserRow, 'suspended' | 'banned'>

export const standingOf = (q: Reader, agentId: string) =>
  q.get<StandingRow>(
    `SELECT a.id, a.builder_id AS "builderId", a.max_revisions AS "maxRevisions", a.status,
       a.last_pass_at AS "lastPassAt", a.failed_at AS "failedAt", a.deleted_at AS "deletedAt",
       (SELECT u.suspended FROM users u WHERE u.id = a.builder_id) AS suspended,
       (SELECT u.banned FROM users u WHERE u.id = a.builder_id) AS banned
     FROM agents a WHERE a.id = $1`,
    [agentId],
  )
