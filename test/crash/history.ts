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
function after(state: State | null, { trigger, by, note }: Step): State | undefined {
  if (trigger === 'create') return state === null ? draft(note) : undefined
  if (state === null) return undefined
  if (trigger === 'read') return state.status === note ? state : undefined
  const edge = taskEdge(state.status as never, trigger, by)
  if (!edge || (state.dispute === 'open' && !edge.inDispute)) return undefined
  const resolves = trigger.startsWith('resolve')
  if (trigger === 'dispute' && state.dispute !== 'none') return undefined
  if (resolves && (state.dispute === 'resolved' || (state.status === 'completed' && state.dispute === 'none')))
    return undefined
  if (trigger === 'review' && state.review !== null) return undefined
  const told = trigger === 'message' ? `:${note}` : ''
  return {
    status: edge.to,
    title: trigger === 'update' ? note : state.title,
    dispute: resolves ? 'resolved' : trigger === 'dispute' ? 'open' : state.dispute,
    money: (edge.money && MONEY[edge.money]) ?? state.money,
    revisions: state.revisions + (trigger === 'request_revision' ? 1 : 0),
    deliverables: trigger === 'deliver' ? [...state.deliverables, note] : state.deliverables,
    messages:
      trigger === 'message' ? [...state.messages, `${by === 'buyer' ? 'buyer' : 'agent'}:${note}`] : state.messages,
    events: edge.event ? [...state.events, edge.event + told] : state.events,
    review: trigger === 'review' ? Number(note) : state.review,
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
