/** The commands of tasks, an endpoint each. Source. */
import { taskStates } from '../../api/flow.ts'
import { limits } from '../../api/limits.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { type EndpointRow, type FieldFlag, pageFlags } from '../endpoint/row.ts'
import { fromTo, inUnits } from '../output/numbers.ts'

const { price, reason, review, task: bounds } = limits

const TASK = ['id', 'status', 'agreedPrice', 'agent.slug', 'title', 'updatedAt']
const STATE = [
  'id',
  'status',
  'agreedPrice',
  'agent.slug',
  'title',
  'revisionCount',
  'dispute.status',
  'dispute.reason',
]
const FACTS = [
  ...STATE,
  ...[
    'description',
    'requirements',
    'buyerId',
    'builderId',
    'maxRevisions',
    'deliverable.content',
    'deliverable.notes',
  ],
  ...['deliverable.files', 'createdAt', 'submittedAt', 'acceptedAt', 'deliveredAt', 'completedAt', 'cancelledAt'],
]
const MESSAGE = ['createdAt', 'senderRole', 'content']
const REVIEW = ['id', 'rating', 'comment', 'createdAt']

const buyer = { person: 'buyer' } as const
const builder = { person: 'builder' } as const
const one = { takes: [['task-id', 'id']] } as const

const taskFields: readonly FieldFlag[] = [
  ['--agent <agent>', 'whom to hire, by id or slug', 'agentId', 'agent'],
  ['--title <text>', `${fromTo(bounds.title)} characters`, 'title'],
  ['--description <text>', `${fromTo(bounds.description)} characters`, 'description'],
  ['--price <amount>', `like 5.00; at least ${inUnits(price.min)}`, 'agreedPrice'],
  ['--requirements <text>', 'what the work has to have', 'requirements'],
]

const searchFlags: readonly FieldFlag[] = [
  ['--role <role>', 'buyer or builder: only those that you bought, or that your agents do', 'role'],
  ['--search <text>', 'only those that have it in their title', 'q'],
  ['--agent <agent>', 'only those of one agent, by id or slug', 'agent'],
  ['--disputed', 'only those in open dispute', { disputed: true }],
]

const looking: readonly EndpointRow[] = [
  {
    ...buyer,
    name: 'tasks list',
    endpoint: 'listTasks',
    summary: 'Your tasks, as buyer and as builder',
    flags: [
      [
        '--status <status>',
        'draft, pending, in_progress, delivered, completed or cancelled; or some, with commas between (default: all)',
        'status',
      ],
      ...searchFlags,
      ['--sort <order>', 'newest, oldest, updated or price (default: newest)', 'sort'],
      ...pageFlags,
    ],
    things: 'tasks',
    first: flags => `Whom to hire: ${nextSteps.searchAgents(flags)}`,
    shows: TASK,
    examples: ['marketplace tasks list', 'marketplace tasks list --role builder --status pending --as builder --json'],
  },
  {
    ...buyer,
    name: 'tasks count',
    endpoint: 'countTasks',
    summary: 'How many of your tasks are in each state',
    flags: searchFlags,
    shows: taskStates,
    examples: ['marketplace tasks count', 'marketplace tasks count --role builder --as builder --json'],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks show',
    endpoint: 'getTask',
    summary: 'One task, its latest work, and what is wrong',
    diagnoses: true,
    shows: FACTS,
    examples: ['marketplace tasks show TASK_ID', 'marketplace tasks show TASK_ID --json'],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks history',
    endpoint: 'getTaskHistory',
    summary: 'All that has happened to a task, in order',
    flags: pageFlags,
    things: 'things that happened to this task',
    shows: ['at', 'kind', 'action', 'event', 'attempt', 'status', 'from', 'to', 'amount', 'text'],
    examples: ['marketplace tasks history TASK_ID', 'marketplace tasks history TASK_ID --as builder --json'],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks deliverables',
    endpoint: 'listDeliverables',
    summary: 'Everything that was delivered, the latest first',
    flags: pageFlags,
    things: 'deliverables of this task',
    shows: ['id', 'createdAt', 'content', 'notes', 'files'],
    examples: ['marketplace tasks deliverables TASK_ID', 'marketplace tasks deliverables TASK_ID --json'],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks messages',
    endpoint: 'listMessages',
    summary: 'What buyer and builder wrote to each other',
    flags: pageFlags,
    things: 'messages of this task',
    shows: MESSAGE,
    examples: ['marketplace tasks messages TASK_ID', 'marketplace tasks messages TASK_ID --as builder --json'],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks review show',
    endpoint: 'getReview',
    summary: 'The review of a task',
    shows: REVIEW,
    examples: ['marketplace tasks review show TASK_ID', 'marketplace tasks review show TASK_ID --json'],
  },
]

const buying: readonly EndpointRow[] = [
  {
    ...buyer,
    name: 'tasks create',
    endpoint: 'createTask',
    summary: 'Make a task in draft; nothing is paid yet',
    flags: [
      ...taskFields,
      ['--budget <id>', 'of an authorization that pays for it: budgets list', 'budgetAuthorizationId'],
    ],
    file: true,
    shows: STATE,
    examples: [
      `marketplace tasks create --agent sample-agent --title "A letter" --price 5.00 --description "Count the words of this letter, please."`,
      'marketplace tasks create --file task.json --json',
    ],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks update',
    endpoint: 'updateTask',
    summary: 'Change a draft',
    flags: taskFields,
    file: true,
    shows: STATE,
    examples: [
      'marketplace tasks update TASK_ID --price 7.50',
      'marketplace tasks update TASK_ID --file task.json --json',
    ],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks submit',
    endpoint: 'submitTask',
    summary: 'Send a draft to its agent, the price to escrow',
    shows: STATE,
    examples: ['marketplace tasks submit TASK_ID', 'marketplace tasks submit TASK_ID --json'],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks cancel',
    endpoint: 'cancelTask',
    summary: 'End a task that nobody has accepted',
    confirms: 'ends the task for good',
    shows: STATE,
    notes: 'What was held comes back.',
    examples: ['marketplace tasks cancel TASK_ID', 'marketplace tasks cancel TASK_ID --yes --json'],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks approve',
    endpoint: 'approveTask',
    summary: 'Accept what was delivered; the builder is paid',
    confirms: 'pays the builder',
    shows: STATE,
    examples: ['marketplace tasks approve TASK_ID', 'marketplace tasks approve TASK_ID --yes --json'],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks revise',
    endpoint: 'requestRevision',
    summary: 'Send the work back, with what is to be different',
    flags: [['--reason <text>', `${fromTo(reason.revision)} characters`, 'reason']],
    shows: STATE,
    examples: [
      'marketplace tasks revise TASK_ID --reason "The second line is missing."',
      'marketplace tasks revise TASK_ID --reason "Shorter, please." --json',
    ],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks dispute',
    endpoint: 'disputeTask',
    summary: 'Ask an administrator to decide about the money',
    flags: [['--reason <text>', `${fromTo(reason.dispute)} characters`, 'reason']],
    confirms: 'opens a dispute, which only an administrator can end',
    shows: STATE,
    examples: [
      'marketplace tasks dispute TASK_ID --reason "This is another letter."',
      'marketplace tasks dispute TASK_ID --reason "This is another letter." --yes --json',
    ],
  },
  {
    ...buyer,
    ...one,
    name: 'tasks review add',
    endpoint: 'submitReview',
    summary: 'Review a completed task, once',
    flags: [
      ['--rating <n>', fromTo(review.rating), 'rating'],
      ['--comment <text>', 'for everyone to read', 'comment'],
    ],
    shows: REVIEW,
    examples: [
      'marketplace tasks review add TASK_ID --rating 5',
      'marketplace tasks review add TASK_ID --rating 4 --comment "Quick and careful." --json',
    ],
  },
]

const working: readonly EndpointRow[] = [
  {
    ...buyer,
    takes: [
      ['task-id', 'id'],
      ['text', 'content'],
    ],
    name: 'tasks message',
    endpoint: 'sendMessage',
    summary: 'Write to the other side of a task',
    shows: MESSAGE,
    examples: [
      'marketplace tasks message TASK_ID "Formal, please."',
      'marketplace tasks message TASK_ID "Formal it is." --as builder',
    ],
  },
  {
    ...builder,
    ...one,
    name: 'tasks accept',
    endpoint: 'acceptTask',
    summary: 'Take a pending task of your agent by hand',
    shows: STATE,
    examples: ['marketplace tasks accept TASK_ID', 'marketplace tasks accept TASK_ID --json'],
  },
  {
    ...builder,
    ...one,
    name: 'tasks reject',
    endpoint: 'agentReject',
    summary: 'Refuse a pending task of your agent; needs a key',
    flags: [['--reason <text>', 'for the buyer', 'reason']],
    confirms: 'ends the task for good',
    shows: STATE.map(field => `task.${field}`),
    notes: 'The buyer gets the money back.',
    examples: [
      'marketplace tasks reject TASK_ID --reason "Only letters, please."',
      'marketplace tasks reject TASK_ID --yes --json',
    ],
  },
]

export const taskRows: readonly EndpointRow[] = [...looking, ...buying, ...working]
