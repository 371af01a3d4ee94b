/** What a task may be after a crash: some order of the steps that were answered, and of any that were in flight. */
import { type Party, type TaskTrigger, taskEdge } from '../../src/api/flow.ts'

export interface State {
  status: string
  title: string
  dispute: 'none' | 'open' | 'resolved'
  money: 'none' | 'held' | 'refunded' | 'clearing' | 'paid'
  revisions: number
  deliverables: string[]
  /** `role:content`, in order. */
  messages: string[]
  /** What the agent is told of, in order; a message with its words. */
  events: string[]
  review: number | null
}

export interface Step {
  trigger: TaskTrigger | 'create' | 'read'
  by: Party
  /** The words of a message, of a deliverable or of a title; the status that a read showed; a rating. */
  note: string
  /** On one clock that counts: when it was sent, and when its answer was there or its process was dead. */
  sentAt: number
  endedAt: number
  /** `unknown` in flight and after a connection that was cut. */
  outcome: 'unknown' | 'done' | 'refused'
  /** Of a signed callback: the request, so that it can be sent once more. */
  signed?: { path: string; headers: Record<string, string>; body: string; signature: string }
}

const MONEY: Partial<Record<string, State['money']>> = {
  hold: 'held',
  refund: 'refunded',
  reverse: 'refunded',
  release: 'clearing',
  pay: 'paid',
  clear: 'paid',
}

/**
 * True if `found` can be reached from `base` (null: not there yet): every `done` step has its effect once, every
 * `unknown` one once or not at all, and a step that was answered before another was sent stands before it.
 */
export function isReachable(base: State | null, steps: readonly Step[], found: State | null): boolean {
  const wanted = JSON.stringify(found)
  const walk = (state: State | null, left: readonly Step[]): boolean => {
    if (!left.some(({ outcome }) => outcome === 'done') && JSON.stringify(state) === wanted) return true
    return left.some(step => {
      const missed = left.filter(other => other !== step && other.endedAt < step.sentAt)
      if (missed.some(({ outcome }) => outcome === 'done')) return false
      const next = after(state, step)
      return (
        next !== undefined &&
        walk(
          next,
          left.filter(other => other !== step && !missed.includes(other)),
        )
      )
    })
  }
  return walk(
    base,
    steps.filter(({ outcome }) => outcome !== 'refused'),
  )
}

/** The state after a step; undefined if it would be refused. */
function after(state: State | null, step: Step): State | undefined {
  const { trigger, by, note } = step
  if (trigger === 'create') return state === null ? draft(note) : undefined
  if (state === null) return undefined
  if (trigger === 'read') return state.status === note ? state : undefined
  const edge = taskEdge(state.status as never, trigger, by)
  if (!edge || (state.dispute === 'open' && !edge.inDispute) || isOver(state, trigger)) return undefined
  const told = trigger === 'message' ? `:${note}` : ''
  return {
    ...state,
    status: edge.to,
    money: (edge.money && MONEY[edge.money]) ?? state.money,
    events: edge.event ? [...state.events, edge.event + told] : state.events,
    ...changedBy(state, step),
  }
}

/** What is done once, and was. */
function isOver(state: State, trigger: Step['trigger']): boolean {
  if (trigger === 'dispute') return state.dispute !== 'none'
  if (trigger === 'review') return state.review !== null
  if (!trigger.startsWith('resolve')) return false
  return state.dispute === 'resolved' || (state.status === 'completed' && state.dispute === 'none')
}

function changedBy(state: State, { trigger, by, note }: Step): Partial<State> {
  if (trigger.startsWith('resolve')) return { dispute: 'resolved' }
  switch (trigger) {
    case 'update':
      return { title: note }
    case 'dispute':
      return { dispute: 'open' }
    case 'request_revision':
      return { revisions: state.revisions + 1 }
    case 'deliver':
      return { deliverables: [...state.deliverables, note] }
    case 'message':
      return { messages: [...state.messages, `${by === 'buyer' ? 'buyer' : 'agent'}:${note}`] }
    case 'review':
      return { review: Number(note) }
    default:
      return {}
  }
}

const draft = (title: string): State => ({
  status: 'draft',
  title,
  dispute: 'none',
  money: 'none',
  revisions: 0,
  deliverables: [],
  messages: [],
  events: [],
  review: null,
})
