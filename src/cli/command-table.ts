/** Every command, in the order of the help. */

import { agentEvents } from '../api/flow.ts'
import { durations, limits } from '../api/limits.ts'
import { defaults } from '../config.ts'
import type { Chapter } from './command.ts'
import type { CreateFlags } from './commands/agents-create.ts'
import type { CallFlags } from './commands/call.ts'
import type { DevFlags } from './commands/dev.ts'
import type { EmitFlags } from './commands/emit.ts'
import type { BuyerFlags } from './commands/simulate.ts'
import type { TestFlags } from './commands/test-connection.ts'
import type { ConnectionFlags } from './connection.ts'
import { databases } from './databases.ts'
import { exitCodes } from './exit-codes.ts'
import { fromTo, inUnits } from './numbers.ts'
import { operating } from './operating.ts'
import { jsonLines, jsonOnce, reach, served } from './options.ts'
import type { AnswerFlags } from './output.ts'

const { agent: agentLimits, price } = limits
const leastPrice = `${price.min} is ${inUnits(price.min)}`

const running: Chapter = [
  'Run a marketplace:',
  [
    {
      name: 'dev',
      summary: 'Run the local simulator: seeded accounts, a working agent, every event on the screen',
      options: [
        ...served('dev'),
        ['--ephemeral', 'keep nothing'],
        ['--seed <n>', 'make ids and secrets repeatable; needs an empty database'],
      ],
      examples: ['marketplace dev', 'marketplace dev --ephemeral --port 0 --seed 7'],
      run: async (_, flags: DevFlags) => {
        // SQLite is compiled on other threads while this one loads the rest. If that fails, dev reports it.
        import('../store/embedded/sqljs-internals.ts').then(({ compiled }) => compiled()).catch(() => {})
        return (await import('./commands/dev.ts')).dev(flags)
      },
    },
    {
      name: 'serve',
      summary: 'Run a marketplace for others',
      options: [
        ...served('serve'),
        ['--db-prepare <mode>', 'on, or off behind a Postgres pooler in transaction mode (MARKETPLACE_DB_PREPARE)'],
        ['--db-limit <size>', 'a database file of this size is full: 512MB, 1GB (default: 1GB, MARKETPLACE_DB_LIMIT)'],
        ['--db-pool <number>', `connections to Postgres at most (default: ${defaults.poolSize}, MARKETPLACE_DB_POOL)`],
        [
          '--files <folder or s3>',
          'where uploaded files are kept: a folder, or s3://bucket/prefix for several instances (default: beside the database, MARKETPLACE_FILES)',
        ],
        ['--new-secret-key', 'where the key of the webhook secrets is lost, make another and drop what it sealed'],
        ['--no-migrate', 'refuse a database that is not up to date, instead of migrating it'],
        ['--metrics-port <number>', 'open /metrics on this port of the loopback address (MARKETPLACE_METRICS_PORT)'],
      ],
      notes: `Environment:
  MARKETPLACE_SECRET_KEY       32 bytes in base64 that seal webhook secrets (default: the file <db>.key; needed with Postgres)
  MARKETPLACE_ADMIN_EMAIL      the first administrator, made if the address is free
  MARKETPLACE_ADMIN_PASSWORD
  MARKETPLACE_METRICS_TOKEN    whoever sends it as a bearer token sees /metrics
  MARKETPLACE_SMTP_URL         smtps://user:password@host, for mail (password resets, failed health checks)
  MARKETPLACE_MAIL_FROM        the sender of that mail
  AWS_ACCESS_KEY_ID            with --files s3://…; also AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
                               AWS_REGION and AWS_ENDPOINT_URL_S3`,
      examples: [
        'marketplace serve',
        'marketplace serve --host 0.0.0.0 --base-url https://market.example --db /data/market.db',
        'marketplace serve --db postgres://market@db.example/market --base-url https://market.example',
        'marketplace serve --db postgres://market@db.example/market --files s3://my-bucket/market',
      ],
      run: async (_, flags: DevFlags) => (await import('./commands/serve.ts')).serve(flags),
    },
    {
      name: 'demo',
      summary: 'Play whole task lives over HTTP, with an agent of its own, and check every cent',
      options: [jsonLines],
      examples: ['marketplace demo', 'marketplace demo --json'],
      run: async (_, flags: AnswerFlags) => (await import('./commands/demo.ts')).demo(flags),
    },
  ],
]

const building: Chapter = [
  'Build an agent:',
  [
    {
      name: 'agents create',
      summary: 'Make an agent in draft; asks on a terminal for what no flag or file gives',
      options: [
        ['--file <agent.json>', 'its fields as the API takes them; - is stdin; flags go over it'],
        ['--name <text>', `${fromTo(agentLimits.name)} characters`],
        ['--tagline <text>', `${fromTo(agentLimits.tagline)} characters`],
        ['--description <text>', `${fromTo(agentLimits.description)} characters`],
        ['--base-price <cents>', `${leastPrice}, the least`],
        ['--pricing-model <kind>', 'fixed, hourly or token (default: fixed)'],
        [
          '--category <name...>',
          `${fromTo(agentLimits.categories)}, by name, slug or id: marketplace call GET /api/categories`,
        ],
        ['--webhook-url <url>', 'where webhooks go: https://'],
        [
          '--turnaround-hours <n>',
          `${fromTo(agentLimits.turnaroundHours)} (default: ${agentLimits.turnaroundHoursDefault})`,
        ],
        ['--max-revisions <n>', `${fromTo(agentLimits.maxRevisions)} (default: any number)`],
        ['--tag <word...>', `at most ${agentLimits.tags}`],
        ...reach('builder'),
        jsonOnce,
      ],
      notes: 'The file: {"name", "tagline", "description", "basePrice", "categoryIds", "webhookUrl", …}',
      examples: [
        'marketplace agents create',
        'marketplace agents create --file agent.json --json',
        `marketplace agents create --name "My Agent" --tagline "Translates short letters" --base-price 500
      --description "Translates letters of up to two pages from German into English." --category translation`,
      ],
      run: async (_, flags: CreateFlags) => (await import('./commands/agents-create.ts')).create(flags),
    },
    {
      name: 'agents list',
      summary: 'Your agents: state, price, whether they are listed',
      options: [...reach('builder'), jsonOnce],
      examples: ['marketplace agents list', 'marketplace agents list --json'],
      run: async (_, flags: ConnectionFlags) => (await import('./commands/agents.ts')).list(flags),
    },
    {
      name: 'agents show',
      takes: ['<agent>'],
      summary: 'One agent, by id or slug',
      options: [...reach('builder'), jsonOnce],
      examples: ['marketplace agents show sample-agent', 'marketplace agents show sample-agent --as buyer --json'],
      run: async ([agent = ''], flags: ConnectionFlags) => (await import('./commands/agents.ts')).show(agent, flags),
    },
    {
      name: 'agents publish',
      takes: ['<agent>'],
      summary: 'Submit an agent for review; its connection test must have passed',
      options: [...reach('builder'), jsonOnce],
      examples: ['marketplace agents publish my-agent', 'marketplace agents publish my-agent --json'],
      run: async ([agent = ''], flags: ConnectionFlags) => (await import('./commands/agents.ts')).publish(agent, flags),
    },
    {
      name: 'secret rotate',
      takes: ['<agent>'],
      summary: 'Make a new webhook secret; it is shown this once, alone on stdout',
      options: [
        [
          '--grace-hours <n>',
          `take callbacks signed with the old one for 0 to ${durations.secretGraceMaxHours} hours (default: 0)`,
        ],
        ...reach('builder'),
        jsonOnce,
      ],
      examples: [
        'marketplace secret rotate my-agent > secret.txt',
        'marketplace secret rotate my-agent --grace-hours 2',
      ],
      run: async ([agent = ''], flags: ConnectionFlags) =>
        (await import('./commands/agents.ts')).rotateSecret(agent, flags),
    },
    {
      name: 'test-connection',
      takes: ['<agent>'],
      summary: 'Run the five checks of an agent: URL, https, secret, a webhook answered 200, a signed callback',
      options: [['--strict', 'a warning fails too'], ...reach('builder'), jsonOnce],
      notes: `Exit code ${exitCodes.check}: a check failed. That no callback came within ${durations.testCallbackMs / 1000} s is a warning.`,
      examples: [
        'marketplace test-connection sample-agent',
        'marketplace test-connection sample-agent --strict --json',
      ],
      run: async ([agent = ''], flags: TestFlags) =>
        (await import('./commands/test-connection.ts')).testConnection(agent, flags),
    },
    {
      name: 'emit',
      takes: ['<event>'],
      summary: 'Send one signed webhook to an agent, without any marketplace, and print its answer',
      options: [
        ['--to <url>', "the agent's webhook; http:// is fine on this machine"],
        ['--secret <whsec>', 'what it is signed with (MARKETPLACE_WEBHOOK_SECRET)'],
        ['--callback-url <url>', 'data.callbackUrl (default: one that leads nowhere)'],
        ['-d, --data <json>', 'fields of data that are to be different: JSON, @file, or - for stdin'],
        jsonOnce,
      ],
      notes: `Events: ${agentEvents.slice(0, 6).join(', ')},
  ${agentEvents.slice(6).join(', ')}. Exit code ${exitCodes.failed}: the answer was not 2xx; ${exitCodes.network}: there was none. Nothing else is looked at.`,
      examples: [
        'marketplace emit task.submitted --to http://127.0.0.1:3000/webhook --secret whsec_c2VjcmV0',
        `marketplace emit task.message --to http://127.0.0.1:3000/webhook --secret whsec_c2VjcmV0 -d '{"message": "Hi"}'`,
      ],
      run: async ([event = ''], flags: EmitFlags) => (await import('./commands/emit.ts')).emit(event, flags),
    },
    {
      name: 'simulate buyer',
      takes: ['<agent>'],
      summary: 'Hire an agent and play the buyer to the end: submit, wait for its answers, approve, review',
      options: [
        ['--outcome <end>', 'approve, cancel or dispute (default: approve)'],
        ['--revisions <n>', 'send the work back so many times (default: 0)'],
        ['--title <text>', 'of the task'],
        ['--description <text>', 'of the task'],
        ['--requirements <text>', 'of the task'],
        ['--price <cents>', `${leastPrice} (default: the agent's price)`],
        ['--rating <n>', `${fromTo(limits.review.rating)} (default: 5)`],
        ['--timeout <seconds>', 'for each answer of the agent (default: 60)'],
        ...reach('buyer'),
        ['--json', 'print one JSON object per line: a step each, then the end'],
      ],
      examples: [
        'marketplace simulate buyer sample-agent',
        'marketplace simulate buyer sample-agent --revisions 2 --rating 4',
        'marketplace simulate buyer sample-agent --outcome dispute --json',
      ],
      run: async ([agent = ''], flags: BuyerFlags) => (await import('./commands/simulate.ts')).buyer(agent, flags),
    },
    {
      name: 'call',
      takes: ['<METHOD>', '<PATH>'],
      summary: 'Make any request of the API and print the answer',
      options: [
        ['-d, --data <json>', 'the body: JSON, @file, or - for stdin'],
        ...reach('builder'),
        ['--json', 'print the answer as it came'],
      ],
      examples: [
        'marketplace call GET /api/agents',
        'marketplace call GET /api/wallet --as buyer',
        `marketplace call POST /api/my/api-keys --data '{"name": "laptop"}'`,
        'marketplace call PUT /api/my/agents/AGENT_ID --data @changes.json',
      ],
      run: async ([method = '', path = ''], flags: CallFlags) =>
        (await import('./commands/call.ts')).call(method, path, flags),
    },
  ],
]

export const chapters: readonly Chapter[] = [running, building, operating, databases]

/** The descriptions of groups of commands. */
export const groups: Readonly<Record<string, string>> = {
  agents: 'Your agents: create, list, show, publish',
  secret: 'The webhook secret of an agent',
  wallet: 'Your money: look, deposit, withdraw',
  admin: 'What administrators do: review agents, settle money and disputes, look after accounts',
  'admin agents': 'Agents of every builder: list, show, approve, reject',
  'admin deposits': 'Deposits: list, confirm, reject',
  'admin withdrawals': 'Withdrawals: list, confirm, reject',
  'admin users': 'Accounts: list, update',
  'admin categories': 'Categories: list, create, update, delete',
  simulate: 'Play a part against an agent',
  db: 'Check, snapshot, back up, migrate or copy a database',
}
