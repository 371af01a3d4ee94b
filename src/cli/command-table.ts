/**
 * Every command, in the order of the help. The records are in files of `table/`, of which a command line loads the one of its
 * first word: a start with all of them takes some milliseconds longer.
 */
import type { Chapter, CommandRecord, CommandTable, Group } from './command-line/command.ts'

/** First words of commands, and the records of these. */
type Part = readonly [words: readonly string[], load: () => Promise<readonly CommandRecord[]>]

const parts: readonly (readonly [heading: string, ...parts: Part[]])[] = [
  ['Run a marketplace:', [['dev', 'serve', 'demo', 'exec'], async () => (await import('./table/running.ts')).running]],
  [
    'Build an agent:',
    [['agents', 'buyers', 'secret', 'test-connection'], async () => (await import('./table/building.ts')).building],
    [['verify', 'sign'], async () => (await import('./table/signing.ts')).signing],
    [['conformance'], async () => (await import('./table/conformance.ts')).conformanceCommands],
    [['simulate'], async () => (await import('./table/simulation.ts')).simulation],
  ],
  ['See what is wrong:', [['why', 'exchanges', 'logs'], async () => (await import('./table/diagnosis.ts')).diagnosing]],
  [
    'Webhooks:',
    [['emit', 'deliveries'], async () => (await import('./table/webhooks.ts')).webhooks],
    [['fault'], async () => (await import('./table/faults.ts')).faultCommands],
    [['clock'], async () => (await import('./table/time.ts')).time],
  ],
  [
    'Hire agents:',
    [['tasks'], async () => (await import('./table/tasks.ts')).tasks],
    [['wallet', 'budgets'], async () => (await import('./table/wallet-rows.ts')).money],
  ],
  [
    'Your account:',
    [['login', 'register', 'logout', 'profiles', 'whoami'], async () => (await import('./table/sign-in.ts')).signIn],
    [['keys', 'notifications', 'account'], async () => (await import('./table/account-rows.ts')).account],
  ],
  ['Operate a marketplace:', [['admin'], async () => (await import('./table/admin-rows.ts')).operating]],
  ['Look after a database:', [['db'], async () => (await import('./table/databases.ts')).databases]],
  [
    'More:',
    [
      ['doctor', 'call', 'mcp', 'openapi', 'completion', 'help', 'version'],
      async () => (await import('./table/more.ts')).more,
    ],
  ],
]

/** The commands that begin with a word; undefined if there is none. */
export async function commandsOf(word: string): Promise<readonly CommandRecord[] | undefined> {
  const [, load] = parts.flatMap(([, ...loaders]) => loaders).find(([words]) => words.includes(word)) ?? []
  return (await load?.())?.filter(({ name }) => name.split(' ', 1)[0] === word)
}

/** All commands. */
export const wholeTable = async (): Promise<CommandTable> => ({
  chapters: await Promise.all(parts.map(chapterOf)),
  groups,
})

/** The words of each group and of each command. */
export async function commandPaths() {
  const { chapters } = await wholeTable()
  const commands = new Set(chapters.flatMap(([, records]) => records.map(({ name }) => name)))
  return { commands, groups: new Set(Object.keys(groups)) }
}

const chapterOf = async ([heading, ...loaders]: (typeof parts)[number]): Promise<Chapter> => [
  heading,
  (await Promise.all(loaders.map(([, load]) => load()))).flat(),
]

export const groups: Readonly<Record<string, Group>> = {
  agents: {
    summary: 'Agents: your own, and those that can be hired',
    examples: ['marketplace agents create', 'marketplace agents list', 'marketplace agents search --query letters'],
  },
  'agents samples': {
    summary: 'Pieces of work that an agent shows: list, add, delete',
    examples: [
      'marketplace agents samples list sample-agent',
      'marketplace agents samples add my-agent --file sample.json',
    ],
  },
  secret: {
    summary: 'The webhook secret of an agent',
    examples: ['marketplace secret rotate my-agent', 'marketplace secret rotate my-agent --grace-hours 2'],
  },
  deliveries: {
    summary: 'The webhooks of your agents: list, show, resend',
    examples: ['marketplace deliveries list sample-agent', 'marketplace deliveries resend --failed --agent my-agent'],
  },
  exchanges: {
    summary: 'What went over the wire in a simulator: list, show, replay',
    examples: ['marketplace exchanges list --failed', 'marketplace exchanges show exchange_17'],
  },
  simulate: {
    summary: 'Play a part against an agent',
    examples: ['marketplace simulate buyer sample-agent', 'marketplace simulate buyer my-agent --revisions 2'],
  },
  buyers: {
    summary: 'What you may know of those who hire your agents',
    examples: ['marketplace buyers show USER_ID', 'marketplace buyers history USER_ID'],
  },
  tasks: {
    summary: 'Tasks: hire an agent, follow the work, end it',
    examples: [
      'marketplace tasks list',
      'marketplace tasks create --file task.json',
      'marketplace tasks submit TASK_ID',
    ],
  },
  'tasks review': {
    summary: 'The review of a task: show, add',
    examples: ['marketplace tasks review show TASK_ID', 'marketplace tasks review add TASK_ID --rating 5'],
  },
  wallet: {
    summary: 'Your money: look, deposit, withdraw',
    examples: ['marketplace wallet show', 'marketplace wallet deposit 50.00'],
  },
  budgets: {
    summary: 'What agents may spend of your money',
    examples: ['marketplace budgets list', 'marketplace budgets pause BUDGET_ID'],
  },
  keys: {
    summary: 'Your API keys: list, create, delete',
    examples: ['marketplace keys list', 'marketplace keys create --name laptop'],
  },
  notifications: {
    summary: 'What the marketplace tells you: list, read',
    examples: ['marketplace notifications list', 'marketplace notifications read ID'],
  },
  account: {
    summary: 'Your name and role, password, sessions, second factor',
    examples: ['marketplace account update --builder', 'marketplace account sessions list'],
  },
  'account password': {
    summary: 'Your password: change it, or set a new one if it is forgotten',
    examples: ['marketplace account password change', 'marketplace account password forgot you@market.example'],
  },
  'account sessions': {
    summary: 'Where you are signed in: list, end',
    examples: ['marketplace account sessions list', 'marketplace account sessions end-others'],
  },
  'account totp': {
    summary: 'The second factor: show, begin, confirm, remove',
    examples: ['marketplace account totp show', 'marketplace account totp begin'],
  },
  admin: {
    summary: 'What administrators do: agents, money, disputes, accounts',
    examples: ['marketplace admin agents list --status pending_review', 'marketplace admin tasks --disputed'],
  },
  'admin agents': {
    summary: 'Agents of every builder: list, show, approve, reject',
    examples: ['marketplace admin agents list --status pending_review', 'marketplace admin agents approve AGENT_ID'],
  },
  'admin deposits': {
    summary: 'Deposits: list, confirm, reject',
    examples: ['marketplace admin deposits list --status pending', 'marketplace admin deposits confirm ID'],
  },
  'admin withdrawals': {
    summary: 'Withdrawals: list, confirm, reject',
    examples: ['marketplace admin withdrawals list --status pending', 'marketplace admin withdrawals confirm ID'],
  },
  'admin key': {
    summary: 'The key that seals secrets: show, rotate',
    examples: ['marketplace admin key show', 'marketplace admin key rotate'],
  },
  'admin users': {
    summary: 'Accounts: list, show, update',
    examples: ['marketplace admin users list', 'marketplace admin users update USER_ID --suspend'],
  },
  'admin categories': {
    summary: 'Categories: list, create, update, delete',
    examples: ['marketplace admin categories list', 'marketplace admin categories delete code'],
  },
  fault: {
    summary: 'What goes wrong on purpose: arm it, list it, clear it',
    examples: ['marketplace fault arm answer-lost', 'marketplace fault list'],
  },
  clock: {
    summary: 'The clock of a simulator: show it, move it',
    examples: ['marketplace clock show', 'marketplace clock advance 48h'],
  },
  db: {
    summary: 'Check, snapshot, back up, migrate or copy a database',
    examples: ['marketplace db check marketplace.db', 'marketplace db backup marketplace.db copy.db'],
  },
}
