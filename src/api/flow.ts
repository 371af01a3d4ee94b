/**
 * The two state machines as tables. Verbs look edges up in them, and tests try every pair of states. Source: I-task-states,
 * I-agent-states, A-30, A-32.
 */

export const taskStates = ['draft', 'pending', 'in_progress', 'delivered', 'completed', 'cancelled'] as const
export type TaskState = (typeof taskStates)[number]

export const agentStates = ['draft', 'pending_review', 'verified', 'active', 'inactive'] as const
export type AgentState = (typeof agentStates)[number]

/**
 * Events that are sent to an agent's webhook. The last one goes to the buying agent, if there is one. Source: I-events,
 *
 */
export const agentEvents = [
  'task.submitted',
  'task.cancelled',
  'task.revision_requested',
  'task.approved',
  'task.disputed',
  'task.message',
  'task.delivered_to_buyer',
] as const
export type AgentEvent = (typeof agentEvents)[number]

export const disputeOutcomes = ['refund', 'release', 'split'] as const
export type DisputeOutcome = (typeof disputeOutcomes)[number]

export type Party = 'buyer' | 'builder' | 'admin'

/** What happens to the held price. `reverse_*` act on a payment that is still clearing. Source. */
export type Money = 'hold' | 'release' | 'pay' | 'refund' | 'split' | 'reverse' | 'reverse_part' | 'clear'

export const taskTriggers = [
  'update',
  'submit',
  'cancel',
  'accept',
  'reject',
  'deliver',
  'approve',
  'request_revision',
  'dispute',
  'resolve_refund',
  'resolve_release',
  'resolve_split',
  'message',
  'review',
] as const
export type TaskTrigger = (typeof taskTriggers)[number]

/** What a trigger does from one state. */
export interface TaskStep {
  readonly from: TaskState
  readonly trigger: TaskTrigger
  readonly by: Party
  readonly to: TaskState
  readonly money?: Money
  /** Possible while a dispute is open. Source: A-32. */
  readonly inDispute?: true
}

/** A step with the event that the task's agent gets. */
interface TaskRule extends TaskStep {
  readonly event?: AgentEvent
}

const taskFlow = [
  { from: 'draft', trigger: 'update', by: 'buyer', to: 'draft' },
  { from: 'draft', trigger: 'submit', by: 'buyer', to: 'pending', money: 'hold', event: 'task.submitted' },
  { from: 'draft', trigger: 'cancel', by: 'buyer', to: 'cancelled' },
  { from: 'pending', trigger: 'cancel', by: 'buyer', to: 'cancelled', money: 'refund', event: 'task.cancelled' },
  { from: 'pending', trigger: 'accept', by: 'builder', to: 'in_progress' },
  { from: 'pending', trigger: 'reject', by: 'builder', to: 'cancelled', money: 'refund' },
  { from: 'in_progress', trigger: 'deliver', by: 'builder', to: 'delivered' },
  { from: 'delivered', trigger: 'approve', by: 'buyer', to: 'completed', money: 'release', event: 'task.approved' },
  { from: 'delivered', trigger: 'request_revision', by: 'buyer', to: 'in_progress', event: 'task.revision_requested' },
  { from: 'in_progress', trigger: 'dispute', by: 'buyer', to: 'in_progress', event: 'task.disputed' },
  { from: 'delivered', trigger: 'dispute', by: 'buyer', to: 'delivered', event: 'task.disputed' },
  { from: 'completed', trigger: 'dispute', by: 'buyer', to: 'completed', event: 'task.disputed' },
  { from: 'in_progress', trigger: 'resolve_refund', by: 'admin', to: 'cancelled', money: 'refund', inDispute: true },
  { from: 'in_progress', trigger: 'resolve_release', by: 'admin', to: 'completed', money: 'pay', inDispute: true },
  { from: 'in_progress', trigger: 'resolve_split', by: 'admin', to: 'completed', money: 'split', inDispute: true },
  { from: 'delivered', trigger: 'resolve_refund', by: 'admin', to: 'cancelled', money: 'refund', inDispute: true },
  { from: 'delivered', trigger: 'resolve_release', by: 'admin', to: 'completed', money: 'pay', inDispute: true },
  { from: 'delivered', trigger: 'resolve_split', by: 'admin', to: 'completed', money: 'split', inDispute: true },
  { from: 'completed', trigger: 'resolve_refund', by: 'admin', to: 'cancelled', money: 'reverse', inDispute: true },
  { from: 'completed', trigger: 'resolve_release', by: 'admin', to: 'completed', money: 'clear', inDispute: true },
  { from: 'completed', trigger: 'resolve_split', by: 'admin', to: 'completed', money: 'reverse_part', inDispute: true },
  { from: 'pending', trigger: 'message', by: 'buyer', to: 'pending', event: 'task.message', inDispute: true },
  { from: 'in_progress', trigger: 'message', by: 'buyer', to: 'in_progress', event: 'task.message', inDispute: true },
  { from: 'delivered', trigger: 'message', by: 'buyer', to: 'delivered', event: 'task.message', inDispute: true },
  { from: 'completed', trigger: 'message', by: 'buyer', to: 'completed', event: 'task.message', inDispute: true },
  { from: 'pending', trigger: 'message', by: 'builder', to: 'pending', inDispute: true },
  { from: 'in_progress', trigger: 'message', by: 'builder', to: 'in_progress', inDispute: true },
  { from: 'delivered', trigger: 'message', by: 'builder', to: 'delivered', inDispute: true },
  { from: 'completed', trigger: 'message', by: 'builder', to: 'completed', inDispute: true },
  { from: 'completed', trigger: 'review', by: 'buyer', to: 'completed', inDispute: true },
] as const satisfies readonly TaskRule[]

type RuleOf<Trigger> = Extract<(typeof taskFlow)[number], { trigger: Trigger }>
type EventOf<Rule> = Rule extends { event: infer Event } ? Event : undefined

/** A rule as its trigger's: which event it has is known by that; undefined if not from every state. */
export interface TaskEdge<Trigger extends TaskTrigger = TaskTrigger> extends TaskStep {
  readonly trigger: Trigger
  readonly event: EventOf<RuleOf<Trigger>>
}

/** States in which a task's price is held in escrow. */
export const heldStates = ['pending', 'in_progress', 'delivered'] as const satisfies readonly TaskState[]

const agentTriggers = ['publish', 'approve', 'reject', 'deactivate', 'reactivate'] as const
export type AgentTrigger = (typeof agentTriggers)[number]

/** The endpoint of a trigger says who may use it. */
interface AgentRule {
  readonly from: AgentState
  readonly trigger: AgentTrigger
  readonly to: AgentState
}

const agentFlow: readonly AgentRule[] = [
  { from: 'draft', trigger: 'publish', to: 'pending_review' },
  { from: 'pending_review', trigger: 'approve', to: 'verified' },
  { from: 'pending_review', trigger: 'reject', to: 'draft' },
  { from: 'verified', trigger: 'deactivate', to: 'inactive' },
  { from: 'active', trigger: 'deactivate', to: 'inactive' },
  { from: 'inactive', trigger: 'reactivate', to: 'active' },
]

/** States in which an agent may be listed. Source: A-30. */
export const listedStates = ['verified', 'active'] as const satisfies readonly AgentState[]

export const taskEdge = <Trigger extends TaskTrigger>(from: TaskState, trigger: Trigger, by: Party) =>
  taskFlow.find(rule => rule.from === from && rule.trigger === trigger && rule.by === by) as
    | TaskEdge<Trigger>
    | undefined

export const agentEdge = (from: AgentState, trigger: AgentTrigger) =>
  agentFlow.find(edge => edge.from === from && edge.trigger === trigger)

const parties = new Map<TaskTrigger, readonly Party[]>()
for (const { trigger, by } of taskFlow) parties.set(trigger, [...new Set([...(parties.get(trigger) ?? []), by])])

/** Returns who may use a trigger in any state. This decides a 403, before the state decides a 400. */
export const partiesOf = (trigger: TaskTrigger): readonly Party[] => parties.get(trigger) ?? []
