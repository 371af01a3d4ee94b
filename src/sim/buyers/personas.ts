/** The characters of simulated buyers. Source. */
import { durations, limits, rates } from '../../api/limits.ts'
import { among, approvesWith, type Decision, HOUR, later, MINUTE, type Persona, persona, SECOND } from './persona.ts'

const MOST_WISHES = 3
/** Room for the number of the task behind its title. */
const NUMBER = 20
/** One more than an address may submit in an hour. */
const FLOOD = rates.task_submission.limit + 1

const nothing: Decision = () => 'waits'
const complaints = [
  'This is not what was asked for, and half of it is missing.',
  'It reads as if nobody had looked at the description.',
  'The same work was delivered to somebody else before.',
]
const wishes = [
  'Good so far. Please make it half as long, and begin with the date.',
  'Nearly. The tone should be warmer, and the second part needs an example.',
  'Please check the numbers once more, and say where they come from.',
]

const questions = [
  'Have you begun? And how long will it take?',
  'One thing that I forgot: who is it for, do you think, and should that show?',
  'Are you there?',
  'Could you say in a sentence how you will go about it?',
]

export const personas: readonly Persona[] = [
  persona({ name: 'easy', does: 'approves what is delivered, with 4 or 5 of 5', on: {} }),
  persona({
    name: 'picky',
    does: 'asks for one revision, then approves with 3 or 4',
    on: {
      delivered(task, draw) {
        const { revisionCount, maxRevisions, deliveredAt } = task
        if (revisionCount > 0 || maxRevisions === 0) return approvesWith(3, 4)(task, draw)
        const at = later(deliveredAt, draw('revision'), 10 * SECOND, MINUTE)
        return { step: { does: 'revise', reason: among(wishes, draw('wish')) }, at }
      },
    },
  }),
  persona({
    name: 'ghost',
    does: 'never comes back: hires each agent once, and its money stays held',
    on: { pending: nothing, in_progress: nothing, delivered: nothing },
  }),
  persona({
    name: 'fickle',
    does: 'cancels at once; where the agent was faster, approves with 2 or 3',
    on: {
      pending: ({ submittedAt }, draw) => ({
        step: { does: 'cancel' },
        at: later(submittedAt, draw('cancel'), 0, 50),
      }),
      delivered: approvesWith(2, 3),
    },
  }),
  persona({
    name: 'quarrelsome',
    does: 'disputes what is delivered; the administrator decides within minutes',
    on: {
      delivered: ({ deliveredAt }, draw) => ({
        step: { does: 'dispute', reason: among(complaints, draw('complaint')) },
        at: later(deliveredAt, draw('dispute'), 30 * SECOND, 2 * MINUTE),
      }),
    },
  }),
  persona({
    name: 'slow',
    does: 'looks at the work a day later, and approves it with 4 or 5',
    on: {
      delivered: (task, draw) => ({
        ...approvesWith(4, 5)(task, draw),
        at: later(task.deliveredAt, draw('look'), 20 * HOUR, 30 * HOUR),
      }),
    },
  }),
  persona({
    name: 'never-pleased',
    does: 'sends the work back as often as it may, three times at most, once more in vain, and disputes it',
    on: {
      delivered({ revisionCount, maxRevisions, deliveredAt }, draw) {
        const at = later(deliveredAt, draw(`look ${revisionCount}`), MINUTE, HOUR)
        const wish = { does: 'revise', reason: among(wishes, draw(`wish ${revisionCount}`)) } as const
        if (revisionCount < Math.min(MOST_WISHES, maxRevisions ?? MOST_WISHES)) return { step: wish, at }
        const isOver = maxRevisions !== null && revisionCount >= maxRevisions
        const complaint = { does: 'dispute', reason: among(complaints, draw('complaint')) } as const
        return { step: complaint, at, tries: isOver ? [{ step: wish, refusal: 'no_revisions_left' }] : [] }
      },
    },
  }),
  persona({
    name: 'regretful',
    does: 'approves, and disputes it in the last minute in which that is possible',
    on: {
      completed({ completedAt, dispute, deliveredAt }, draw) {
        if (dispute || deliveredAt === null) return 'ended'
        const at = later(completedAt, 0, durations.disputeWindowMs - MINUTE, durations.disputeWindowMs - MINUTE)
        return { step: { does: 'dispute', reason: among(complaints, draw('complaint')) }, at }
      },
    },
  }),
  persona({
    name: 'bargainer',
    does: 'offers the least that a task may cost, whatever the price; approves with 3 to 5',
    offer: () => limits.price.min,
    on: { delivered: approvesWith(3, 5) },
  }),
  persona({
    name: 'verbose',
    does: 'writes the longest texts there may be, with signs of every kind; approves with 4 or 5',
    brief: () => ({
      title: longest('A long story: ', limits.task.title[1] - NUMBER),
      description: longest('Umlaut ü, 漢字, 👩‍👩‍👧, <b>bold</b>, $(id), {{7*7}}.\n', limits.task.description[1]),
      requirements: longest('In “quotes”, with a \\ and a \t. ', limits.task.requirements[1]),
    }),
    on: {},
  }),
  persona({
    name: 'risky',
    does: 'has charged money back before; pays for this work, and approves with 4 or 5',
    tier: 'chargeback_risk',
    on: {},
  }),
  persona({
    name: 'talkative',
    does: 'asks three things before there is an answer, two while the work is done again, and says thanks twice',
    asks: draw => questionsFrom(draw('question'), 3),
    on: {
      delivered(task, draw) {
        const { revisionCount, maxRevisions, deliveredAt } = task
        if (revisionCount > 0 || maxRevisions === 0)
          return { ...approvesWith(4, 5)(task, draw), says: ['Thank you!', 'Thank you!'] }
        const step = { does: 'revise', reason: among(wishes, draw('wish')) } as const
        const at = later(deliveredAt, draw('revision'), 10 * SECOND, MINUTE)
        return { step, at, says: questionsFrom(draw('more'), 2) }
      },
    },
  }),
  persona({
    name: 'agent-buyer',
    does: 'is an agent, and pays by a budget authorization; half ask for a cent more than that allows first',
    overspends: draw => draw('overspend') < 1 / 2,
    on: {},
  }),
  persona({
    name: 'flooder',
    does: `comes with ${FLOOD} tasks at once, of which the limits of an hour let ${FLOOD - 1} pass; approves them`,
    atOnce: FLOOD,
    on: {},
  }),
  persona({
    name: 'suspended',
    does: 'is suspended while the agent works: may not hire again, and approves what is open',
    becomes: 'suspended',
    on: {
      delivered: (task, draw) => ({
        ...approvesWith(3, 5)(task, draw),
        tries: [{ step: { does: 'hire' }, refusal: 'suspended' }],
      }),
    },
  }),
  persona({
    name: 'banned',
    does: 'is banned while the agent works: may not even approve; the administrator lets the builder be paid',
    becomes: 'banned',
    on: {
      pending: nothing,
      in_progress: ({ updatedAt }) => ({
        step: { does: 'resolve', outcome: 'refund' },
        at: later(updatedAt, 0, 24 * HOUR, 24 * HOUR),
      }),
      delivered: (task, draw) => ({
        step: { does: 'resolve', outcome: 'release' },
        at: later(task.deliveredAt, draw('decision'), MINUTE, HOUR),
        tries: [{ step: approvesWith(3, 5)(task, draw).step, refusal: 'banned' }],
      }),
    },
  }),
  persona({
    name: 'too-late',
    does: 'approves, disputes and asks for a revision when it is too late for both, and rests',
    on: {
      completed({ completedAt, dispute, deliveredAt }, draw) {
        if (dispute || deliveredAt === null) return 'ended'
        const late = durations.disputeWindowMs + MINUTE
        return {
          step: { does: 'rest' },
          at: later(completedAt, 0, late, late),
          tries: [
            { step: { does: 'dispute', reason: among(complaints, draw('complaint')) }, refusal: 'dispute_too_late' },
            { step: { does: 'revise', reason: among(wishes, draw('wish')) }, refusal: 'task_out_of_turn' },
          ],
        }
      },
    },
  }),
]

/** So many of the questions, which follow each other. */
function questionsFrom(share: number, count: number): string[] {
  const first = Math.floor(share * questions.length)
  return Array.from({ length: count }, (_, n) => questions[(first + n) % questions.length]!)
}

/** Repeats a text up to a length in characters. */
function longest(text: string, most: number): string {
  const characters = [...text]
  return Array.from({ length: most }, (_, at) => characters[at % characters.length])
    .join('')
    .trim()
}
