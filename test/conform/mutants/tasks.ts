/** Bugs of agents in what they do about a task. */
import type { Sample } from '../../../src/conform/agent/declared.ts'
import type { Mutant } from './mutant.ts'

const sample: Sample = {
  kind: 'accepts',
  title: 'A notice for the harbour',
  description: 'Please write a notice for the harbour: the ferry does not go on Sunday, because of the regatta.',
  requirements: '',
  price: 500,
}

export const life: readonly Mutant[] = [
  { bug: 'never-decides', kills: 'life.decides' },
  { bug: 'writes-in-place-of-accepting', kills: 'life.accepts', also: ['life.decides'] },
  { bug: 'delivers-without-accepting', kills: 'life.accept-before-deliver', also: ['life.decides'] },
  { bug: 'delivers-first', kills: 'life.accept-before-deliver', beside: ['life.cancelled'] },
  { bug: 'never-delivers', kills: 'life.delivers' },
  {
    bug: 'sends-a-draft',
    kills: 'life.one-deliverable',
    beside: ['sig.reflected', 'order.interleaved', 'cb.slow', 'rel.hang-up', 'rel.down-and-up'],
  },
  { bug: 'tires-of-a-title', kills: 'life.sample-accepted', declared: { accepts: [sample], sample } },
  { bug: 'accepts-everything', kills: 'life.sample-rejected' },
  { bug: 'sends-60000-characters', kills: 'life.content' },
  { bug: 'delivers-after-rejecting', kills: 'life.rejects' },
  { bug: 'rejects-without-reason', kills: 'life.reject-reason' },
  { bug: 'needs-two-sentences', kills: 'life.smallest' },
  { bug: 'base-price-alone', kills: 'life.price-is-free', also: ['life.smallest'] },
  {
    bug: 'ignores-revisions',
    kills: 'life.revision',
    beside: ['dup.not-by-task', 'life.deactivated', 'life.day-later'],
  },
  { bug: 'accepts-again', kills: 'life.revision-in-progress' },
  { bug: 'same-words-again', kills: 'life.revision-differs' },
  { bug: 'one-revision-alone', kills: 'life.revision-rounds' },
  { bug: 'first-reason-alone', kills: 'life.second-reason' },
  { bug: 'delivers-all-twice', kills: 'life.done-once' },
  { bug: 'writes-at-length', kills: 'life.message-length' },
  { bug: 'works-although-refused', kills: 'life.cancelled' },
  { bug: 'accepts-for-ever', kills: 'life.cancel-race' },
  { bug: 'delivers-when-disputed', kills: 'life.dispute-refund', beside: ['life.dispute-release'] },
  { bug: 'gives-in-once', kills: 'life.dispute-release', named: ['life.dispute-refund'] },
  { bug: 'delivers-when-approved', kills: 'life.approved' },
  { bug: 'refuses-what-is-over', kills: 'life.dispute-last-minute', also: ['order.message-after-end'] },
  { bug: 'writes-after-cancellation', kills: 'life.cancelled' },
  { bug: 'refuses-messages', kills: 'life.message', also: ['order.message-first'], named: ['http.ack'] },
  { bug: 'looks-itself-up', kills: 'life.deactivated' },
  { bug: 'closes-after-a-day', kills: 'life.day-later' },
]
