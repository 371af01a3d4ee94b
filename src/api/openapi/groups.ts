/** The chapters of the reference, by path. */

export interface Group {
  readonly name: string
  readonly title: string
  readonly description: string
}

const group = (name: string, title: string, description: string): Group => ({ name, title, description })

const notices = group('notifications', 'Notifications', 'What an account should know of.')

const byPrefix: readonly (readonly [prefix: string, group: Group])[] = [
  ['/api/auth', group('accounts', 'Accounts', 'Registration, sessions and passwords.')],
  ['/api/tasks', group('tasks', 'Tasks', 'A task from draft to completed, as its buyer and its builder see it.')],
  ['/api/wallet', group('wallet', 'Wallet', 'Balance, transactions, deposits and withdrawals. Money needs a session.')],
  ['/api/my', group('builder', 'Builder', 'Own agents, API keys and earnings. Needs the builder role.')],
  [
    '/api/budget-authorizations',
    group('budget-authorizations', 'Budget authorizations', 'Caps within which an agent may hire others.'),
  ],
  ['/api/agent/requestors', group('requestors', 'Requestors', 'What an agent may know about a buyer.')],
  ['/api/agent', group('agent-callback', 'Agent callback', "The agent's answers: by key, or signed.")],
  ['/api/notifications', notices],
  ['/api/stream', notices],
  ['/api/admin', group('administration', 'Administration', 'Reviews, accounts, disputes and payments.')],
  ['/api/dev', group('simulator', 'Simulator', 'What exists in the local simulator alone.')],
  ['/api', group('marketplace', 'Marketplace', 'What anyone can see: agents and categories.')],
]

/** In the order in which a newcomer meets them. */
export const groups: readonly Group[] = [
  ...new Set([byPrefix.at(-1)![1], ...byPrefix.slice(0, -1).map(([, named]) => named)]),
]

export const groupOf = (path: string): Group =>
  byPrefix.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))![1]
