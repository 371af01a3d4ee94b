/** The commands of administrators, an endpoint each. Source. */

import type { CommandRecord } from '../command-line/command.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { endpointCommand } from '../endpoint/command.ts'
import { type EndpointRow, type FieldFlag, pageFlags } from '../endpoint/row.ts'
import { exitCodes } from '../exit-codes.ts'

const AGENT = ['id', 'slug', 'status', 'basePrice', 'builder.name', 'builder.email', 'lastCheckPassedAt']
const AGENT_FACTS = [
  'id',
  'slug',
  'name',
  'tagline',
  'status',
  'reviewReason',
  'basePrice',
  'builder.id',
  'builder.name',
]
const TASK_LIST = [
  ...['id', 'status', 'agreedPrice', 'title'],
  ...['buyer', 'builder'].flatMap(who => [`${who}.name`, `${who}.email`]),
  'dispute.status',
]
const TASK = ['id', 'status', 'agreedPrice', 'title', 'buyerId', 'builderId', 'dispute.status', 'dispute.reason']
const TASK_FACTS = [...TASK, 'dispute.outcome', 'dispute.refundAmount']
const PAYMENT = ['id', 'type', 'amount', 'status', 'user.name', 'user.email', 'createdAt']
const USER = ['id', 'email', 'name', 'trustTier', 'isBuilder', 'isAdmin', 'suspended', 'banned']
const USER_FACTS = [...USER, 'identityVerified', 'chargebacks', 'connectStatus', 'createdAt']
const PURGE = ['userId', 'rowsRemoved', 'bytesRemoved', 'openTasks', 'begunBy', 'begunAt', 'endedAt', 'done']
const CATEGORY = ['id', 'slug', 'name', 'activeAgentCount']

const SUMS = ['available', 'held', 'clearing', 'platform', 'payouts', 'world'].map(kind => `sums.${kind}`)

const admin = { person: 'admin' } as const

const categoryFields: readonly FieldFlag[] = [
  ['--name <text>', 'what people read', 'name'],
  ['--slug <word>', 'what addresses say: a–z, 0–9 and hyphens', 'slug'],
  ['--description <text>', 'what stands in it', 'description'],
]

const paymentStatus: FieldFlag = ['--status <status>', 'pending, completed or rejected (default: all)', 'status']

const reviewing: readonly EndpointRow[] = [
  {
    ...admin,
    name: 'admin agents list',
    endpoint: 'adminListAgents',
    summary: 'Agents of every builder, in any state',
    flags: [
      ['--status <status>', 'draft, pending_review, verified, active or inactive (default: all)', 'status'],
      ...pageFlags,
    ],
    things: 'agents',
    shows: AGENT,
    notes: 'Those that wait for a review: --status pending_review.',
    examples: ['marketplace admin agents list', 'marketplace admin agents list --status pending_review'],
  },
  {
    ...admin,
    name: 'admin agents show',
    endpoint: 'adminGetAgent',
    takes: [['agent-id', 'id']],
    summary: 'Any agent, in any state',
    shows: [
      ...AGENT_FACTS,
      'builder.email',
      'description',
      'webhookUrl',
      'visible',
      'hiddenReason',
      'lastCheckPassedAt',
    ],
    examples: ['marketplace admin agents show AGENT_ID', 'marketplace admin agents show AGENT_ID --json'],
  },
  {
    ...admin,
    name: 'admin agents approve',
    endpoint: 'approveAgent',
    takes: [['agent-id', 'id']],
    summary: 'List an agent that waits for its review',
    shows: AGENT_FACTS,
    examples: ['marketplace admin agents approve AGENT_ID', 'marketplace admin agents approve AGENT_ID --json'],
  },
  {
    ...admin,
    name: 'admin agents reject',
    endpoint: 'rejectAgent',
    takes: [['agent-id', 'id']],
    summary: 'Send an agent that waits for its review back to draft',
    flags: [['--reason <text>', 'what its builder should change', 'reason']],
    shows: AGENT_FACTS,
    examples: [
      'marketplace admin agents reject AGENT_ID --reason "The description does not say what it does."',
      'marketplace admin agents reject AGENT_ID --reason "It is a copy of another." --json',
    ],
  },
]

const payments = (
  kind: 'deposit' | 'withdrawal',
  words: Record<'came' | 'not' | 'paid' | 'kept', string>,
): readonly EndpointRow[] => {
  const names = {
    deposit: ['adminListDeposits', 'confirmDeposit', 'rejectDeposit'],
    withdrawal: ['adminListWithdrawals', 'confirmWithdrawal', 'rejectWithdrawal'],
  } as const
  const [list, confirm, reject] = names[kind]
  const group = `admin ${kind}s`
  return [
    {
      ...admin,
      name: `${group} list`,
      endpoint: list,
      summary: `${kind === 'deposit' ? 'Deposits' : 'Withdrawals'} of everyone; those to be settled: --status pending`,
      flags: [paymentStatus, ...pageFlags],
      things: `${kind}s`,
      shows: PAYMENT,
      examples: [`marketplace ${group} list`, `marketplace ${group} list --status pending`],
    },
    {
      ...admin,
      name: `${group} confirm`,
      endpoint: confirm,
      takes: [['id', 'id']],
      summary: words.came,
      confirms: words.paid,
      shows: PAYMENT,
      examples: [`marketplace ${group} confirm ID`, `marketplace ${group} confirm ID --yes --json`],
    },
    {
      ...admin,
      name: `${group} reject`,
      endpoint: reject,
      takes: [['id', 'id']],
      summary: words.not,
      flags: [['--reason <text>', 'why, which its owner reads', 'reason']],
      confirms: words.kept,
      shows: PAYMENT,
      examples: [`marketplace ${group} reject ID`, `marketplace ${group} reject ID --yes --json`],
    },
  ]
}

const settling: readonly EndpointRow[] = [
  {
    ...admin,
    name: 'admin queues',
    endpoint: 'adminQueues',
    summary: 'What waits, and since when',
    shows: ['agents', 'disputes', 'deposits', 'withdrawals', 'webhooks', 'mails'].flatMap(queue => [
      `${queue}.count`,
      `${queue}.oldestAt`,
    ]),
    examples: ['marketplace admin queues', 'marketplace admin queues --json'],
  },
  {
    ...admin,
    name: 'admin message',
    endpoint: 'adminSendMessage',
    takes: [
      ['task-id', 'id'],
      ['text', 'content'],
    ],
    summary: 'Write to both parties of a task',
    shows: ['id', 'senderRole', 'content', 'createdAt'],
    examples: [
      'marketplace admin message TASK_ID "Please say what was agreed."',
      'marketplace admin message TASK_ID "Please say what was agreed." --json',
    ],
  },
  {
    ...admin,
    name: 'admin tasks',
    endpoint: 'adminListTasks',
    summary: 'Tasks of everyone',
    flags: [
      ['--disputed', 'those in open dispute alone', { disputed: true }],
      ['--status <status>', 'those in this status alone, or in some, with commas between', 'status'],
      ['--user <user-id>', 'those that this account sees', 'userId'],
      ['--agent <agent>', 'those of one agent, by id or slug', 'agent'],
      ['--search <text>', 'those that have it in their title', 'q'],
      ...pageFlags,
    ],
    things: 'tasks',
    shows: TASK_LIST,
    examples: ['marketplace admin tasks', 'marketplace admin tasks --disputed'],
  },
  {
    ...admin,
    name: 'admin resolve',
    endpoint: 'resolveTask',
    takes: [['task-id', 'id']],
    summary: 'Decide who gets the money of a task; needs a session',
    flags: [
      ['--outcome <outcome>', 'refund: all to the buyer; release: all to the builder; split', 'outcome'],
      ['--refund-amount <amount>', 'with split: what the buyer gets back, like 6.00', 'refundAmount'],
      ['--reason <text>', 'why, which both read', 'reason'],
    ],
    confirms: 'settles the money of the task',
    shows: TASK_FACTS,
    notes: 'A task in work or delivered can be decided without a dispute: one is opened and resolved at once.',
    examples: [
      'marketplace admin resolve TASK_ID --outcome refund',
      'marketplace admin resolve TASK_ID --outcome split --refund-amount 6.00 --yes',
    ],
  },
  ...payments('deposit', {
    came: 'Say that the money has come; needs a session',
    not: 'Say that no money came; needs a session',
    paid: 'puts the money into the wallet',
    kept: 'rejects the deposit for good',
  }),
  ...payments('withdrawal', {
    came: 'Say that the money was paid out; needs a session',
    not: 'Refuse to pay it out: the money goes back; needs a session',
    paid: 'takes the money out of the wallet for good',
    kept: 'rejects the withdrawal for good',
  }),
  {
    ...admin,
    name: 'admin ledger',
    endpoint: 'checkLedger',
    summary: 'Check that the money adds up',
    proves: 'ok',
    notes: `Exit code ${exitCodes.check}: it does not.`,
    shows: ['ok', 'accounts', 'entries', ...SUMS, 'problems'],
    examples: ['marketplace admin ledger', 'marketplace admin ledger --json'],
  },
]

const looking: readonly EndpointRow[] = [
  {
    ...admin,
    name: 'admin users list',
    endpoint: 'adminListUsers',
    summary: 'Every account',
    flags: [
      ['--search <text>', 'whose name or email begins so', 'q'],
      ['--email <address>', 'the one with this address', 'email'],
      ['--without-second-factor', 'administrators who have none', { secondFactor: 'missing' }],
      ...pageFlags,
    ],
    things: 'accounts',
    shows: USER,
    examples: ['marketplace admin users list', 'marketplace admin users list --limit 100 --json'],
  },
  {
    ...admin,
    name: 'admin users show',
    endpoint: 'adminGetUser',
    takes: [['user-id', 'id']],
    summary: 'One account, and what is in its wallet',
    shows: [...USER, 'wallet.available', 'wallet.held', 'wallet.clearing'],
    examples: ['marketplace admin users show USER_ID', 'marketplace admin users show ada@example.com --json'],
  },
  {
    ...admin,
    name: 'admin users update',
    endpoint: 'adminUpdateUser',
    takes: [['user-id', 'id']],
    summary: 'Suspend, ban or verify one, or change its role',
    flags: [
      ['--suspend', 'nothing new may be begun; open work can be closed', { suspended: true }],
      ['--unsuspend', 'the opposite', { suspended: false }],
      ['--ban', 'nothing at all may be done', { banned: true }],
      ['--unban', 'the opposite', { banned: false }],
      ['--verify-identity', 'a new account counts as verified', { identityVerified: true }],
      ['--unverify-identity', 'the opposite', { identityVerified: false }],
      ['--chargebacks <n>', 'how many payments were taken back', 'chargebacks'],
      ['--builder', 'may list agents and hold keys', { isBuilder: true }],
      ['--not-builder', 'the opposite', { isBuilder: false }],
      ['--connect-status <status>', 'of the payout account: not_connected, pending or connected', 'connectStatus'],
    ],
    shows: USER_FACTS,
    examples: [
      'marketplace admin users update ada@example.com --suspend',
      'marketplace admin users update USER_ID --verify-identity --chargebacks 0',
    ],
  },
  {
    ...admin,
    name: 'admin users purge',
    endpoint: 'purgeUser',
    takes: [['user-id', 'id']],
    summary: 'Remove what a banned account has written',
    confirms: 'removes for good what the account has written',
    shows: PURGE,
    notes:
      'Money stays, and so does what buyers have bought. While done is false, type it again: it goes on where it was.',
    examples: ['marketplace admin users purge USER_ID', 'marketplace admin users purge USER_ID --yes --json'],
  },
  {
    ...admin,
    name: 'admin fill',
    endpoint: 'adminUsage',
    summary: 'How full the database and the files are',
    shows: ['database.bytes', 'database.limit', 'files.bytes', 'files.limit'],
    notes: 'Who fills them: marketplace admin usage.',
    examples: ['marketplace admin fill', 'marketplace admin fill --json'],
  },
  {
    ...admin,
    name: 'admin key show',
    endpoint: 'adminSecretKey',
    summary: 'The keys that seal secrets, and how much each has sealed',
    shows: ['keys'],
    notes: 'A key can go when canGo says so. Then nothing is sealed with it, except in older backups.',
    examples: ['marketplace admin key show', 'marketplace admin key show --json'],
  },
  {
    ...admin,
    name: 'admin key rotate',
    endpoint: 'rotateSecretKey',
    summary: 'Seal all secrets with a new key',
    confirms: 'seals all secrets anew; older backups need the old key',
    shows: ['done', 'resealed', 'keys'],
    notes: 'While done is false, type it again: it goes on where it was. Requests and webhooks go on.',
    examples: ['marketplace admin key rotate', 'marketplace admin key rotate --yes --json'],
  },
  {
    ...admin,
    name: 'admin usage',
    endpoint: 'adminListUsage',
    summary: 'The accounts that take most of it',
    flags: [['--by <what>', 'texts or files (default: texts)', 'by'], ...pageFlags],
    things: 'accounts',
    shows: ['id', 'name', 'email', 'banned', 'textBytes', 'fileBytes'],
    examples: ['marketplace admin usage', 'marketplace admin usage --by files'],
  },
  {
    ...admin,
    name: 'admin users reset-second-factor',
    endpoint: 'adminUpdateUser',
    takes: [['user-id', 'id']],
    sets: { secondFactor: false },
    session: true,
    summary: 'Turn it off where it is lost; needs a session',
    confirms: 'lets the password alone sign in',
    shows: USER_FACTS,
    examples: [
      'marketplace admin users reset-second-factor USER_ID',
      'marketplace admin users reset-second-factor USER_ID --yes --json',
    ],
  },
  {
    ...admin,
    name: 'admin categories list',
    endpoint: 'listCategories',
    summary: 'The categories that agents stand in',
    things: 'categories',
    first: () => `How to add one: ${nextSteps.helpOf('admin categories create')}`,
    shows: CATEGORY,
    examples: ['marketplace admin categories list', 'marketplace admin categories list --json'],
  },
  {
    ...admin,
    name: 'admin categories create',
    endpoint: 'createCategory',
    summary: 'Add a category',
    flags: categoryFields,
    shows: CATEGORY,
    examples: [
      'marketplace admin categories create --name Music --description "Scores, lyrics and sound."',
      'marketplace admin categories create --name Music --slug music --description "Scores and sound." --json',
    ],
  },
  {
    ...admin,
    name: 'admin categories update',
    endpoint: 'updateCategory',
    takes: [['category', 'id', 'category']],
    summary: 'Change a category',
    flags: categoryFields,
    shows: CATEGORY,
    examples: [
      'marketplace admin categories update code --name "Code and tests"',
      'marketplace admin categories update "Code and tests" --slug code --json',
    ],
  },
  {
    ...admin,
    name: 'admin categories delete',
    endpoint: 'deleteCategory',
    takes: [['category', 'id', 'category']],
    summary: 'Delete a category that no agent stands in',
    confirms: 'deletes the category for good',
    shows: ['id'],
    examples: ['marketplace admin categories delete code', 'marketplace admin categories delete code --yes --json'],
  },
]

export const adminRows: readonly EndpointRow[] = [...reviewing, ...settling, ...looking]

/** Commands for administrators, an endpoint each. Source: A-13. */
export const operating: readonly CommandRecord[] = adminRows.map(endpointCommand)
