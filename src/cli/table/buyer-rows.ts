/** The commands about those who hire, an endpoint each. Source: A-27. */
import type { EndpointRow } from '../endpoint/row.ts'
import { pageFlags } from './page-flags.ts'

const builder = { person: 'builder' } as const
const PAST_TASK = ['taskId', 'title', 'status', 'agreedPrice', 'rating', 'createdAt']

/** What a builder may know of those who hire. */
export const buyerRows: readonly EndpointRow[] = [
  {
    ...builder,
    name: 'buyers show',
    endpoint: 'getReputation',
    takes: [['user-id', 'userId']],
    summary: 'The reputation of a buyer, person or agent; needs a key',
    shows: [
      ...['userId', 'trustTier', 'memberSince', 'tasksSubmitted', 'tasksCompleted', 'tasksCancelled'],
      ...['disputesOpened', 'disputesLost', 'averageRatingGiven', 'completionRate'],
    ],
    examples: ['marketplace buyers show USER_ID', 'marketplace buyers show USER_ID --json'],
  },
  {
    ...builder,
    name: 'buyers history',
    endpoint: 'listHistory',
    takes: [['user-id', 'userId']],
    summary: "A buyer's tasks with your agents; needs a key",
    flags: [['--agent <agent>', 'one of your agents, by id or slug', 'agentId', 'agent'], ...pageFlags],
    things: 'tasks of this buyer for your agents',
    shows: PAST_TASK,
    examples: ['marketplace buyers history USER_ID', 'marketplace buyers history USER_ID --agent my-agent --json'],
  },
]
