/** What each step of a persona does, and how it is told. */
import type { TaskRecord } from '../api/records.ts'
import type { Act } from './acting.ts'
import type { Step } from './personas.ts'

interface Actors {
  buyer: Act
  admin: Act
}

type StepOf<Does> = Extract<Step, { does: Does }>

interface Deed<Does> {
  perform(actors: Actors, task: TaskRecord, step: StepOf<Does>): Promise<unknown>
  /** What follows the name of who does it. */
  words(step: StepOf<Does>): string
}

const deeds: { readonly [Does in Step['does']]: Deed<Does> } = {
  approve: {
    async perform({ buyer }, { id }, { rating, comment }) {
      await buyer('approveTask', { id })
      await buyer('submitReview', { id, rating, comment })
    },
    words: ({ rating }) => `approves, with ${rating} of 5`,
  },
  revise: {
    perform: ({ buyer }, { id }, { reason }) => buyer('requestRevision', { id, reason }),
    words: ({ reason }) => `asks for a revision: “${reason}”`,
  },
  cancel: {
    perform: ({ buyer }, { id }) => buyer('cancelTask', { id }),
    words: () => 'cancels',
  },
  dispute: {
    perform: ({ buyer }, { id }, { reason }) => buyer('disputeTask', { id, reason }),
    words: ({ reason }) => `disputes: “${reason}”`,
  },
  resolve: {
    perform: ({ admin }, { id, agreedPrice }, { outcome }) =>
      admin('resolveTask', { id, outcome, ...(outcome === 'split' && { refundAmount: Math.floor(agreedPrice / 2) }) }),
    words: ({ outcome }) => `decides the dispute: ${outcome}`,
  },
}

const deedOf = (step: Step) => deeds[step.does] as Deed<Step['does']>

/** Rejects with a Refusal if the task allows the step no more. */
export const perform = (actors: Actors, task: TaskRecord, step: Step): Promise<unknown> =>
  deedOf(step).perform(actors, task, step)

export const done = (step: Step): string => deedOf(step).words(step)
