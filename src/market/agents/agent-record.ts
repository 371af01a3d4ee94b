/** Makes the records of agents that responses contain. Source: A-18. */
import type { AgentRecord, OwnAgentRecord } from '../../api/records.ts'
import type { Reader } from '../../store/db.ts'
import type { ListedAgentRow } from '../../store/tables/agents.ts'
import { categoryIdsOf } from '../../store/tables/categories.ts'
import { iso, isoOrNull } from '../time.ts'
import { freshness, hiddenReason } from './visibility.ts'

/** Returns what everyone may see of an agent. `now` is domain time. */
export function agentRecord(row: ListedAgentRow, categoryIds: string[], now: number): AgentRecord {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    tagline: row.tagline,
    description: row.description,
    pricingModel: row.pricingModel,
    basePrice: row.basePrice,
    categoryIds,
    turnaroundHours: row.turnaroundHours,
    maxRevisions: row.maxRevisions,
    tags: JSON.parse(row.tags) as string[],
    avatarUrl: row.avatarUrl,
    status: row.status,
    completedTasks: row.completedTasks,
    rating: { average: average(row), count: row.ratingCount },
    lastCheckPassedAt: isoOrNull(row.lastPassAt),
    freshness: freshness(row, now),
    builder: { id: row.builderId, name: row.builderName },
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  }
}

/** Returns what its builder and administrators may see of an agent. */
export function ownAgentRecord(row: ListedAgentRow, categoryIds: string[], now: number): OwnAgentRecord {
  const hidden = hiddenReason(row, builderStanding(row), now)
  return {
    ...agentRecord(row, categoryIds, now),
    webhookUrl: row.webhookUrl,
    hasWebhookSecret: row.secret !== null,
    reviewReason: row.reviewReason,
    visible: hidden === null,
    hiddenReason: hidden,
  }
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
