/**
 * Changes the state of an agent: publish, approve or reject, deactivate, reactivate, delete. Source: I-agent-states, A-13,
 *
 */
import { refuse } from '../../api/failures.ts'
import { type AgentTrigger, agentEdge } from '../../api/flow.ts'
import { type AgentPatch, type AgentRow, softDelete, updateAgentRow } from '../../store/tables/agents/agents.ts'
import { type News, notifyOfDecision } from '../accounts/notifications.ts'
import { Changes } from '../changes.ts'
import type { Acting, Ctx } from '../market.ts'
import type { Verb } from '../verb.ts'
import { lockOwnAgent, presentAgent } from './access.ts'
import { ownAgentRecord, recordOf } from './agent-record.ts'
import { indexAgent, isListed } from './search-words.ts'
import { passFault } from './visibility.ts'

const publishAgent: Verb<'publishAgent'> = async (ctx, { params }) => {
  const row = await lockOwnAgent(ctx.tx, params.id, ctx.actor.user)
  const status = stateAfter(row, 'publish', 'published')
  const now = ctx.world.now()
  const fault = passFault(row, now)
  if (fault) throw refuse('test_needed', fault)
  return changed(ctx, row, { status, reviewReason: null, updatedAt: now })
}

const approveAgent: Verb<'approveAgent'> = (ctx, { params }) => review(ctx, params.id, 'approve', null)

const rejectAgent: Verb<'rejectAgent'> = (ctx, { params, body }) => review(ctx, params.id, 'reject', body.reason)

async function review(ctx: Acting<Ctx>, id: string, trigger: 'approve' | 'reject', reviewReason: string | null) {
  await ctx.tx.lock('agents', id)
  const row = await presentAgent(ctx.tx, id)
  const decision = trigger === 'approve' ? 'approved' : 'rejected'
  const status = stateAfter(row, trigger, decision)
  const after = await changed(ctx, row, { status, reviewReason, updatedAt: ctx.world.now() })
  await notifyOfDecision(ctx, row.builderId, reviewedNews(row, decision, reviewReason))
  return after
}

const reviewedNews = (
  { id, name }: AgentRow,
  decision: 'approved' | 'rejected',
  reason: string | null,
): News<'agent_reviewed'> => ({
  type: 'agent_reviewed',
  agentId: id,
  message:
    decision === 'approved'
      ? `The agent “${name}” was approved: it is listed while its connection test passes`
      : `The agent “${name}” was rejected: change what the reason names, and publish it again`,
  data: { decision, reason },
})

/** Hides the agent at once. Its open tasks go on, with their events and callbacks. Source: A-31. */
const deactivateAgent: Verb<'deactivateAgent'> = async (ctx, { params }) => {
  const row = await lockOwnAgent(ctx.tx, params.id, ctx.actor.user)
  const status = stateAfter(row, 'deactivate', 'deactivated')
  const now = ctx.world.now()
  return changed(ctx, row, { status, deactivatedAt: now, updatedAt: now })
}

const reactivateAgent: Verb<'reactivateAgent'> = async (ctx, { params }) => {
  const row = await lockOwnAgent(ctx.tx, params.id, ctx.actor.user)
  const status = stateAfter(row, 'reactivate', 'reactivated')
  const now = ctx.world.now()
  const fault = passFault(row, now) ?? olderThanDeactivation(row)
  if (fault) throw refuse('test_needed', fault)
  return changed(ctx, row, { status, updatedAt: now })
}

const olderThanDeactivation = ({ lastPassAt, deactivatedAt }: AgentRow) =>
  deactivatedAt !== null && lastPassAt !== null && lastPassAt <= deactivatedAt
    ? 'no test has passed since the deactivation'
    : null

/** If a task is submitted at the same moment, the database lets only one of the two pass. Source: I-open-work, A-31. */
const deleteAgent: Verb<'deleteAgent'> = async ({ tx, world, actor }, { params }) => {
  const { id } = await lockOwnAgent(tx, params.id, actor.user)
  if ((await softDelete(tx, id, world.now())) === 0)
    throw refuse('open_work', 'the agent has tasks that are not finished')
  return { id }
}

function stateAfter(row: AgentRow, trigger: AgentTrigger, done: string) {
  const edge = agentEdge(row.status, trigger)
  if (!edge) throw refuse('agent_out_of_turn', done, row.status)
  return edge.to
}

/** Applies the patch if the state is still the one that was read. Otherwise refuses with 409. */
async function changed(ctx: Ctx, row: AgentRow, patch: AgentPatch) {
  if ((await updateAgentRow(ctx.tx, row.id, patch, row.status)) === 0) throw refuse('lost_race')
  const after = { ...row, status: patch.status ?? row.status }
  if (isListed(after) !== isListed(row)) await indexAgent(ctx.tx, after)
  return reloadAgent(ctx, row.id)
}

/** Reads the agent again after a change. Returns the record for its builder. */
export async function reloadAgent(ctx: Ctx, id: string) {
  const agent = await presentAgent(ctx.tx, id)
  ctx.tx.afterCommit(() => tellBuilder(ctx, agent, agent.status))
  return recordOf(ctx, agent, ownAgentRecord)
}

/** Tells the pages of the agent's builder that it is another now. */
export const tellBuilder = (
  { memory, world }: Pick<Ctx, 'memory' | 'world'>,
  { id: agentId, builderId }: Pick<AgentRow, 'id' | 'builderId'>,
  what: string,
) => memory.of(Changes).tell([builderId], world.now(), { type: 'agent', agentId, what })

export const agentStateVerbs = {
  publishAgent,
  approveAgent,
  rejectAgent,
  deactivateAgent,
  reactivateAgent,
  deleteAgent,
}
