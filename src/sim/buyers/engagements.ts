/** The state of a simulated buyer's business with one agent. */
import type { AgentRecord } from '../../api/records.ts'
import type { PlannedStep } from '../../market/upkeep/clock-followers.ts'
import { seededChance } from '../../world/chance.ts'
import type { Draw } from './persona.ts'
import type { Buyer } from './persona-accounts.ts'

/** At most one task at a time. */
export interface Engagement {
  readonly buyer: Buyer
  readonly agent: Pick<AgentRecord, 'id' | 'slug'>
  /** How often the buyer has hired the agent. */
  count: number
  /** Domain time; 0: never. */
  hiredAt: number
  /** null: none is open. */
  taskId: string | null
  /** The next step; null: it waits for the agent. */
  next: PlannedStep | null
  busy: Promise<void> | null
  /** Something has happened since it last looked. */
  isStale: boolean
}

export const newEngagement = (buyer: Buyer, { id, slug }: Engagement['agent']): Engagement => ({
  buyer,
  agent: { id, slug },
  count: 0,
  hiredAt: 0,
  taskId: null,
  next: null,
  busy: null,
  isStale: false,
})

/** When the buyer hires the agent again, if it has no task by then. Domain time. */
export const againAt = ({ hiredAt, buyer }: Engagement) => hiredAt + buyer.persona.everyMs

export const keyOf = (buyer: Buyer, agentId: string) => `${buyer.id} ${agentId}`

/** The title has the number of the task between the two, so that a later start knows it. */
export const numbered = (title: string, count: number) => `${title} (No. ${count})`
export const numberIn = (title: string) => Number(/\(No\. (\d+)\)$/.exec(title)?.[1] ?? 0)

/** Chance of this task alone: other tasks may go on before or after, and it stays the same. */
export const drawOf =
  (seed: string | number, { buyer, agent, count }: Engagement): Draw =>
  of =>
    seededChance([seed, buyer.persona.name, agent.slug, count, of].join(' ')).fraction()
