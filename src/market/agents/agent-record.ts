/** Makes the records of agents that responses contain. Source: A-18. */
import {
  type AdminAgentRecord,
  type AgentRecord,
  adminAgent,
  agent,
  type OwnAgentRecord,
  ownAgent,
} from '../../api/records.ts'
import { agents, type ListedAgentRow } from '../../store/tables/agents/agents.ts'
import { categoryIdsOf } from '../../store/tables/agents/categories.ts'
import { recordMaker } from '../record-maker.ts'
import { iso, isoOrNull } from '../time.ts'
import { type Asking, diagnosesOfAgents } from './health.ts'
import { freshness, hiddenReason } from './visibility.ts'

const forAll = recordMaker(agent, agents)
const forOwner = recordMaker(ownAgent, agents)
const forAdmin = recordMaker(adminAgent, agents)

/** What everyone may see of an agent beside its columns. `now` is domain time. */
const seenByAll = (row: ListedAgentRow, categoryIds: string[], now: number) => ({
  categoryIds,
  tags: JSON.parse(row.tags) as string[],
  rating: ratingOf(row),
  lastCheckPassedAt: isoOrNull(row.lastPassAt),
  freshness: freshness(row, now),
  builder: { id: row.builderId, name: row.builderName },
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
})

/** What everyone may see of an agent. */
export const publicRecord = (row: ListedAgentRow, categoryIds: string[], now: number): AgentRecord =>
  forAll(row, seenByAll(row, categoryIds, now))

export const agentRecord: Build<AgentRecord> = async (_, rows, made) => rows.map((row, at) => forAll(row, made[at]!))

/** What its builder and administrators may see of an agent. */
export const ownAgentRecord: Build<OwnAgentRecord> = async (ctx, rows, made) =>
  (await seenByOwner(ctx, rows, made)).map((seen, at) => forOwner(rows[at]!, seen))

/** The same, with who its builder is. */
export const adminAgentRecord: Build<AdminAgentRecord> = async (ctx, rows, made) =>
  (await seenByOwner(ctx, rows, made)).map((seen, at) =>
    forAdmin(rows[at]!, { ...seen, builder: { ...seen.builder, email: rows[at]!.builderEmail } }),
  )

async function seenByOwner(
  ctx: Asking,
  rows: readonly ListedAgentRow[],
  made: readonly ReturnType<typeof seenByAll>[],
) {
  const now = ctx.world.now()
  const found = await diagnosesOfAgents(ctx, rows)
  return rows.map((row, at) => {
    const hidden = hiddenReason(row, builderStanding(row), now)
    return {
      ...made[at]!,
      hasWebhookSecret: row.secret !== null,
      visible: hidden === null,
      hiddenReason: hidden,
      diagnosis: found.get(row.id) ?? null,
    }
  })
}

type Build<R> = (
  ctx: Asking,
  rows: readonly ListedAgentRow[],
  made: readonly ReturnType<typeof seenByAll>[],
) => Promise<R[]>

/** Builds the record of one row after looking up its categories. */
export const recordOf = async <R>(ctx: Asking, row: ListedAgentRow, build: Build<R>): Promise<R> =>
  (await recordsOf(ctx, [row], build))[0] as R

/** Builds the records of several rows, with one query for all their categories. */
export async function recordsOf<R>(ctx: Asking, rows: readonly ListedAgentRow[], build: Build<R>): Promise<R[]> {
  const categories = await categoryIdsOf(
    ctx.tx,
    rows.map(row => row.id),
  )
  const now = ctx.world.now()
  return build(
    ctx,
    rows,
    rows.map(row => seenByAll(row, categories.get(row.id) ?? [], now)),
  )
}

export const builderStanding = (row: Pick<ListedAgentRow, 'builderSuspended' | 'builderBanned'>) => ({
  suspended: row.builderSuspended,
  banned: row.builderBanned,
})

export const ratingOf = ({ ratingSum, ratingCount: count }: ListedAgentRow) => ({
  average: count === 0 ? null : Math.round((ratingSum / count) * 100) / 100,
  count,
})
