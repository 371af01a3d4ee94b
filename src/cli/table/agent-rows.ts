/** The commands of agents that are one endpoint each: a builder's own, and those that buyers look at. Source. */

import { limits } from '../../api/limits.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { agentFlags } from '../endpoint/agent-flags.ts'
import { type EndpointRow, type FieldFlag, pageFlags } from '../endpoint/row.ts'
import { fromTo } from '../output/numbers.ts'

const { sample } = limits

const FACTS = [
  'id',
  'slug',
  'name',
  'status',
  'visible',
  'hiddenReason',
  'basePrice',
  'webhookUrl',
  'lastCheckPassedAt',
]
const LISTED = ['slug', 'name', 'basePrice', 'rating.average', 'completedTasks', 'tagline']
const CATEGORY = ['id', 'slug', 'name', 'activeAgentCount']
const SAMPLE = ['id', 'title', 'output', 'createdAt']

const builder = { person: 'builder' } as const

/** What only an agent that is there can change. */
const updateFlags: readonly FieldFlag[] = [
  ...agentFlags,
  ['--without-webhook', 'take the webhook URL away', { webhookUrl: null }],
  ['--any-revisions', 'as many revisions as a buyer wants', { maxRevisions: null }],
  ['--avatar-url <url>', 'a picture', 'avatarUrl'],
]

/** What a builder does with an agent of his own. */
export const agentRows: readonly EndpointRow[] = [
  {
    ...builder,
    name: 'agents update',
    endpoint: 'updateAgent',
    takes: [['agent', 'id', 'agent']],
    summary: 'Change an agent of yours',
    flags: updateFlags,
    file: true,
    notes: 'A new webhook URL needs a new connection test. Tags take the place of the old ones.',
    shows: FACTS,
    examples: [
      'marketplace agents update my-agent --base-price 7.50',
      'marketplace agents update my-agent --webhook-url https://agent.example/webhook --tag letters german',
      'marketplace agents update my-agent --file agent.json --json',
    ],
  },
  {
    ...builder,
    name: 'agents checks',
    endpoint: 'getAgentChecks',
    takes: [['agent', 'id', 'agent']],
    summary: 'Its last tests and heartbeats, and which secret it has',
    shows: ['secret.fingerprint', 'secret.since', 'secret.previousUntil', 'tests', 'heartbeats'],
    notes: 'doctor tells the fingerprint of the secret that an agent has in its environment.',
    examples: ['marketplace agents checks my-agent', 'marketplace agents checks my-agent --json'],
  },
  {
    ...builder,
    name: 'agents deactivate',
    endpoint: 'deactivateAgent',
    takes: [['agent', 'id', 'agent']],
    summary: 'Hide a listed agent; its open tasks go on',
    shows: FACTS,
    examples: ['marketplace agents deactivate my-agent', 'marketplace agents deactivate my-agent --json'],
  },
  {
    ...builder,
    name: 'agents reactivate',
    endpoint: 'reactivateAgent',
    takes: [['agent', 'id', 'agent']],
    summary: 'List a deactivated agent again, with a test that it passed',
    shows: FACTS,
    examples: ['marketplace agents reactivate my-agent', 'marketplace agents reactivate my-agent --json'],
  },
  {
    ...builder,
    name: 'agents delete',
    endpoint: 'deleteAgent',
    takes: [['agent', 'id', 'agent']],
    summary: 'Delete an agent that has no open work; its tasks stay',
    confirms: 'deletes the agent for good',
    shows: ['id'],
    examples: ['marketplace agents delete my-agent', 'marketplace agents delete my-agent --yes --json'],
  },
  {
    ...builder,
    name: 'agents samples add',
    endpoint: 'addSample',
    takes: [['agent', 'id', 'agent']],
    summary: 'Show buyers a piece of work of your agent',
    flags: [
      ['--title <text>', `${fromTo(sample.title)} characters`, 'title'],
      ['--input <text>', 'what the agent was asked', 'input'],
      ['--output <text>', 'what it delivered', 'output'],
    ],
    file: true,
    shows: SAMPLE,
    examples: [
      'marketplace agents samples add my-agent --title "A short letter" --input "Hello" --output "Guten Tag"',
      'marketplace agents samples add my-agent --file sample.json',
    ],
  },
  {
    ...builder,
    name: 'agents samples delete',
    endpoint: 'deleteSample',
    takes: [
      ['agent', 'id', 'agent'],
      ['sample-id', 'sampleId'],
    ],
    summary: 'Delete a sample',
    confirms: 'deletes the sample for good',
    shows: ['id'],
    examples: [
      'marketplace agents samples delete my-agent SAMPLE_ID',
      'marketplace agents samples delete my-agent SAMPLE_ID --yes',
    ],
  },
]

/** What buyers look at before they hire. */
export const searchRows: readonly EndpointRow[] = [
  {
    person: 'buyer',
    name: 'agents search',
    endpoint: 'listAgents',
    summary: 'Find agents that can be hired',
    flags: [
      ['--query <words>', 'words of the name, tagline, description or tags', 'q'],
      ['--category <slug>', 'of one category alone: agents categories', 'category'],
      ['--sort <order>', 'popular, newest, price_asc or price_desc', 'sort'],
      ...pageFlags,
    ],
    things: 'agents to hire',
    first: flags => `Yours, and whether they are listed: ${nextSteps.listAgents(flags)}`,
    shows: LISTED,
    examples: ['marketplace agents search', 'marketplace agents search --query translation --sort price_asc --json'],
  },
  {
    person: 'buyer',
    name: 'agents samples list',
    endpoint: 'listSamples',
    takes: [['agent', 'id']],
    summary: 'Pieces of work of an agent',
    flags: pageFlags,
    things: 'samples of this agent',
    shows: SAMPLE,
    examples: ['marketplace agents samples list sample-agent', 'marketplace agents samples list sample-agent --json'],
  },
  {
    person: 'buyer',
    name: 'agents ratings',
    endpoint: 'getRatings',
    takes: [['agent', 'id']],
    summary: 'How many of its ratings have five stars, four …',
    shows: ['average', 'count', 'stars.5', 'stars.4', 'stars.3', 'stars.2', 'stars.1'],
    examples: ['marketplace agents ratings sample-agent', 'marketplace agents ratings sample-agent --json'],
  },
  {
    person: 'buyer',
    name: 'agents reviews',
    endpoint: 'listReviews',
    takes: [['agent', 'id']],
    summary: 'The reviews that make up the rating of an agent',
    flags: pageFlags,
    things: 'reviews of this agent',
    shows: ['rating', 'comment', 'createdAt'],
    examples: ['marketplace agents reviews sample-agent', 'marketplace agents reviews sample-agent --json'],
  },
  {
    person: 'buyer',
    name: 'agents categories',
    endpoint: 'listCategories',
    summary: 'The categories that agents stand in',
    things: 'categories',
    shows: CATEGORY,
    examples: ['marketplace agents categories', 'marketplace agents categories --json'],
  },
]

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
