/** Lists and ends the sessions of one's own account. Source: A-195. */
import { refuse } from '../../api/failures.ts'
import { rowsOf } from '../../api/page.ts'
import {
  countSessions,
  deleteOtherSessions,
  deleteSession,
  type SessionRow,
  sessionById,
  sessionsOf,
} from '../../store/tables/accounts/sessions.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { liveSince } from './credentials.ts'

const sessionRecord = (row: SessionRow, credential: string) => ({
  id: row.id,
  createdAt: iso(row.createdAt),
  lastSeenAt: iso(row.seenAt),
  address: row.address,
  userAgent: row.userAgent,
  current: row.tokenHash === credential,
})

const listSessions: Verb<'listSessions'> = async ({ tx, world, actor }, { query: { page, limit } }) => {
  const { id } = actor.user
  const since = liveSince(world)
  const [rows, total] = await Promise.all([
    sessionsOf(tx, id, since, ...rowsOf({ page, limit })),
    countSessions(tx, id, since),
  ])
  return { items: rows.map(row => sessionRecord(row, actor.credential)), total }
}

const endSession: Verb<'endSession'> = async ({ tx, actor }, { params }) => {
  const row = await sessionById(tx, params.id)
  if (!row) throw refuse('not_found', 'session')
  if (row.userId !== actor.user.id) throw refuse('not_yours', 'session')
  await deleteSession(tx, row.tokenHash)
  return { id: row.id }
}

const endOtherSessions: Verb<'endOtherSessions'> = async ({ tx, actor }) => ({
  ended: await deleteOtherSessions(tx, actor.user.id, actor.credential),
})

export const sessionVerbs = { listSessions, endSession, endOtherSessions }
