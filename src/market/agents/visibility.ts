/** Whether an agent is public, and how fresh its last passed test is. Source: I-agent-visible, I-freshness, A-30. */
import { listedStates } from '../../api/flow.ts'
import { durations } from '../../api/limits.ts'
import { inHours } from '../../api/spans.ts'
import type { AgentRow } from '../../store/tables/agents/agents.ts'

type Seen = Pick<AgentRow, 'status' | 'lastPassAt' | 'failedAt' | 'deletedAt'>

export interface Standing {
  readonly suspended: 0 | 1
  readonly banned: 0 | 1
}

/** Returns the freshness, which depends only on the time since the last pass. `now` is domain time. Source: I-freshness. */
export function freshness({ lastPassAt }: Pick<AgentRow, 'lastPassAt'>, now: number): 'green' | 'amber' | 'red' {
  if (lastPassAt === null || now - lastPassAt > durations.freshMs) return 'red'
  return now - lastPassAt < durations.amberMs ? 'green' : 'amber'
}

/**
 * Returns why an agent is not public, in words for its builder; null if it is. The SQL condition of the list must agree
 * with it. Source: A-30.
 */
export function hiddenReason(agent: Seen, builder: Standing, now: number): string | null {
  if (agent.deletedAt !== null) return 'The agent is deleted'
  if (builder.banned) return "The builder's account is banned"
  if (builder.suspended) return "The builder's account is suspended"
  const untested = passFault(agent, now)
  if (agent.status === 'draft')
    return untested === null ? 'The agent is a draft: publish it' : `The agent is a draft, and ${untested}`
  if (agent.status === 'pending_review') return 'The agent waits for its review'
  if (!(listedStates as readonly string[]).includes(agent.status)) return 'The agent is deactivated'
  const fault = untested ?? failureFault(agent)
  return fault === null ? null : `The webhook is unproven: ${fault}`
}

export const isPublic = (agent: Seen, builder: Standing, now: number) => hiddenReason(agent, builder, now) === null

/** Returns why the last pass does not count; null if it does. */
export function passFault({ lastPassAt }: Pick<AgentRow, 'lastPassAt'>, now: number): string | null {
  if (lastPassAt === null) return 'no test has passed since the webhook URL or the secret last changed'
  if (now - lastPassAt > durations.freshMs) return `the last pass is more than ${inHours(durations.freshMs)} old`
  return null
}

const failureFault = ({ lastPassAt, failedAt }: Pick<AgentRow, 'lastPassAt' | 'failedAt'>) =>
  failedAt !== null && lastPassAt !== null && failedAt > lastPassAt ? 'the last heartbeat failed' : null
