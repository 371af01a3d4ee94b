/** What each step of a persona does, and how it is told. */
import { Refusal } from '../../api/failures.ts'
import type { TaskRecord } from '../../api/records.ts'
import type { Act } from '../verb-calls.ts'
import type { Persona, PlannedStep, Step } from './persona.ts'

export interface Actors {
  buyer: Act
  admin: Act
}

type StepOf<Does> = Extract<Step, { does: Does }>

interface Deed<Does> {
  perform(actors: Actors, task: TaskRecord, step: StepOf<Does>): Promise<unknown>
  /** What follows the name of who does it. */
  words(step: StepOf<Does>, task: TaskRecord): string
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
    words: ({ outcome }, { dispute }) => `${dispute ? 'decides the dispute' : 'settles the task'}: ${outcome}`,
  },
  hire: {
    perform: ({ buyer }, { agentId, title, description, agreedPrice }) =>
      buyer('createTask', { agentId, title, description, agreedPrice }),
    words: () => 'hires again',
  },
  rest: { perform: async () => {}, words: () => 'rests' },
}

const deedOf = (step: Step) => deeds[step.does] as Deed<Step['does']>

/** `does`: a step, or what follows from one. `words` follow the name of the buyer, or of the administrator. */
export interface Told {
  readonly does: Step['does'] | 'submit' | 'say' | 'refused' | 'suspended' | 'banned'
  readonly words: string
  readonly byAdmin?: boolean
}

type Tell = (told: Told) => void

/** Does what is planned; each thing is told before. Rejects with a Refusal if the task allows the step no more. */
export async function carryOut(
  actors: Actors,
  persona: Persona,
  task: TaskRecord,
  plan: PlannedStep,
  tell: Tell,
): Promise<void> {
  // It was lifted if the account has hired somebody since. What could not be submitted was no reason for it.
  await setStanding(actors.admin, task.buyerId, persona, task.status !== 'draft')
  const { step, tries = [], says = [] } = plan
  const perform = (one: Step) => {
    tell({ does: one.does, words: deedOf(one).words(one, task), byAdmin: one.does === 'resolve' })
    return deedOf(one).perform(actors, task, one)
  }
  for (const attempt of tries) await refused(attempt.refusal, perform(attempt.step), tell)
  await perform(step)
  await say(actors.buyer, task.id, says, tell)
}

/** Waits for the refusal that was to come. Rejects if it did not. */
export async function refused(code: Refusal['code'], attempt: Promise<unknown>, tell: Tell): Promise<void> {
  const error = await attempt.then(
    () => new Error(`The marketplace has let pass what it should have refused with ${code}`),
    error => error,
  )
  if (!(error instanceof Refusal) || error.code !== code) throw error
  tell({ does: 'refused', words: `is refused: ${error.message}` })
}

/** One message after the other. An agent that has rejected the task meanwhile has no more of them. */
export async function say(buyer: Act, id: string, messages: readonly string[], tell: Tell): Promise<void> {
  if (messages.length === 0) return
  tell({ does: 'say', words: `writes: ${messages.map(text => `“${text}”`).join(' ')}` })
  try {
    for (const content of messages) await buyer('sendMessage', { id, content })
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'task_out_of_turn') throw error
  }
}

/** Suspends or bans the account of such a character, or lifts that. */
export async function setStanding(admin: Act, id: string, { becomes }: Persona, is: boolean): Promise<void> {
  if (becomes) await admin('adminUpdateUser', { id, [becomes]: is })
}
