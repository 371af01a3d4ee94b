/** Bugs of agents that count on an order of events, or on nothing coming between. */
import type { Mutant } from './mutant.ts'

export const order: readonly Mutant[] = [
  { bug: 'works-on-what-is-over', kills: 'order.cancelled-first' },
  { bug: 'writes-of-known-tasks-alone', kills: 'order.message-first' },
  { bug: 'revises-known-tasks-alone', kills: 'order.unknown-task' },
  {
    ...{ bug: 'one-task-for-all', kills: 'order.interleaved', also: ['who.one-buyer-five-tasks'] },
    named: ['who.one-buyer-five-tasks'],
  },
  { bug: 'delivers-for-messages', kills: 'order.message-after-end' },
  { bug: 'delivers-in-dispute', kills: 'order.dispute-in-work' },
  { bug: 'forgets-what-is-over', kills: 'order.late-copy-of-finished', named: ['order.cancelled-first'] },
  { bug: 'takes-first-attempts-alone', kills: 'order.held-up' },
]
