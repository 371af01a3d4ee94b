/** Makes the records of agents that responses contain. Source: A-18. */
import { type AgentRecord, agent, type OwnAgentRecord, ownAgent } from '../../api/records.ts'
import type { Reader } from '../../store/db.ts'
import { agents, type ListedAgentRow } from '../../store/tables/agents/agents.ts'
import { categoryIdsOf } from '../../store/tables/agents/categories.ts'
import { recordMaker } from '../record-maker.ts'
import { iso, isoOrNull } from '../time.ts'
import { freshness, hiddenReason } from './visibility.ts'

const forAll = recordMaker(agent, agents)
const forOwner = recordMaker(ownAgent, agents)

/** What everyone may see of an agent beside its columns. `now` is domain time. */
const seenByAll = (row: ListedAgentRow, categoryIds: string[], now: number) => ({
  categoryIds,
  tags: JSON.parse(row.tags) as string[],
  rating: { average: average(row), count: row.ratingCount },
  lastCheckPassedAt: isoOrNull(row.lastPassAt),
  freshness: freshness(row, now),
  builder: { id: row.builderId, name: row.builderName },
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
})

export const agentRecord: Build<AgentRecord> = (row, categoryIds, now) => forAll(row, seenByAll(row, categoryIds, now))

/** What its builder and administrators may see of an agent. */
export const ownAgentRecord: Build<OwnAgentRecord> = (row, categoryIds, now) => {
  const hidden = hiddenReason(row, builderStanding(row), now)
  return forOwner(row, {
    ...seenByAll(row, categoryIds, now),
    hasWebhookSecret: row.secret !== null,
    visible: hidden === null,
    hiddenReason: hidden,
  })
}

type Build<R> = (row: ListedAgentRow, categoryIds: string[], now: number) => R

/** Builds the record of one row after looking up its categories. */
export async function recordOf<R>(q: Reader, row: ListedAgentRow, now: number, build: Build<R>): Promise<R> {
  return (await recordsOf(q, [row], now, build))[0] as R
}

/** Builds the records of several rows, with one query for all their categories. */
export async function recordsOf<R>(q: Reader, rows: readonly ListedAgentRow[], now: number, build: Build<R>) {
  const categories = await categoryIdsOf(
    q,
    rows.map(row => row.id),
  )
  return rows.map(row => build(row, categories.get(row.id) ?? [], now))
}

export const builderStanding = (row: Pick<ListedAgentRow, 'builderSuspended' | 'builderBanned'>) => ({
  suspended: row.builderSuspended,
  banned: row.builderBanned,
})

const average = ({ ratingSum, ratingCount }: ListedAgentRow) =>
  ratingCount === 0 ? null : Math.round((ratingSum / ratingCount) * 100) / 100
