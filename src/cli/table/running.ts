/** Commands that run a marketplace. */
import { limits } from '../../api/limits.ts'
import { defaults } from '../../settings/config.ts'
import type { CommandRecord } from '../command-line/command.ts'
import { jsonLines, served } from '../command-line/options.ts'
import type { DevFlags } from '../commands/dev.ts'
import type { ExecFlags } from '../commands/exec.ts'
import type { AnswerFlags } from '../output/output.ts'
import { keepYoungSmall } from '../young-heap.ts'

export const running: readonly CommandRecord[] = [
  {
    name: 'dev',
    summary: 'Run the local simulator, with every event on the screen',
    options: [
      ...served('dev'),
      ['--forward-to <url...>', 'your agent, http:// on this machine: listed as my-agent, and its webhooks go there'],
      ['--agent <name=url...>', 'the same under a name of your own; without =url, the agent of --run'],
      ['--run <command>', 'start your agent, with PORT and MARKETPLACE_… in its environment'],
      ['--watch <folder...>', 'start it anew when a file there changes'],
      ['--print-env [shell]', 'print what your agent needs, for sh, fish, pwsh or as json, and start nothing'],
      ['--show-keys', 'print the accounts, keys and secrets of the dev of this folder, and start nothing'],
      [
        '--persona <name...>',
        'a simulated buyer that hires every agent each minute, such as easy or picky; an unknown name lists all',
      ],
      ['--public-url <url>', 'where agents elsewhere reach it, as in a container (the same as --base-url)'],
      ['--reset', 'delete what is kept in this folder first; asks'],
      ['--yes', 'with --reset: do not ask'],
      ['--ephemeral', 'keep nothing'],
      ['--new', 'start another one where one runs; without it, the log of that one is shown'],
      ['--seed <n>', 'make ids and secrets repeatable; needs an empty database'],
      ['--clock-scale <n>', 'let the clock run so many times as fast as real time (default: 1)'],
      [
        '--retries <pace>',
        'quick: a webhook is tried again within seconds; real: for more than a day, as elsewhere (default: quick)',
      ],
    ],
    notes: 'It has seeded accounts with money and keys, and an agent that works.',
    examples: [
      'marketplace dev',
      'marketplace dev --forward-to http://localhost:3000/webhook',
      'marketplace dev --run "node agent.mjs" --watch src',
      'marketplace dev --persona easy --persona picky --clock-scale 60',
      'eval "$(marketplace dev --print-env)" && node agent.mjs',
      'marketplace dev --agent writer=http://localhost:3000/hook --agent editor=http://localhost:3001/hook',
      'marketplace dev --ephemeral --port 0 --seed 7',
    ],
    run: async (_, flags: DevFlags, wholeTable) => {
      // Until it is ready: 77 MB then instead of 83, in the same time.
      keepYoungSmall()
      // SQLite is compiled on other threads while this one loads the rest. If that fails, dev reports it.
      import('../../store/embedded/sqljs-internals.ts')
        .then(({ compiled, optimiseLater }) => {
          optimiseLater()
          return compiled()
        })
        .catch(() => {})
      return (await import('../commands/dev.ts')).dev(flags, wholeTable)
    },
  },
  {
    name: 'serve',
    summary: 'Run a marketplace for others',
    options: [
      ...served('serve'),
      [
        '--db-prepare <mode>',
        'off, on, or auto: off behind a pooler of Postgres (default: auto, MARKETPLACE_DB_PREPARE)',
      ],
      [
        '--db-limit <size>',
        `a database of this size is full: 512MB, 1GB (default: ${limits.database.fullMebibytes / 1024}GB, on Postgres none; MARKETPLACE_DB_LIMIT)`,
      ],
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
  MARKETPLACE_TRACING          on: spans for the OpenTelemetry that you start before it
  MARKETPLACE_METRICS_TOKEN    whoever sends it as a bearer token sees /metrics
  MARKETPLACE_SMTP_URL         smtps://user:password@host, for mail (password resets, failed health checks, decisions)
  MARKETPLACE_MAIL_FROM        the sender of that mail
  MARKETPLACE_BRAND_NAME       on the public pages; also MARKETPLACE_BRAND_COLORS and MARKETPLACE_BRAND_LOGO
  AWS_ACCESS_KEY_ID            with --files s3://…; also AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
                               AWS_REGION and AWS_ENDPOINT_URL_S3`,
    examples: [
      'marketplace serve',
      'marketplace serve --host 0.0.0.0 --base-url https://market.example --db /data/market.db',
      'marketplace serve --db postgres://market@db.example/market --base-url https://market.example',
      'marketplace serve --db postgres://market@db.example/market --files s3://my-bucket/market',
    ],
    run: async (_, flags: DevFlags) => (await import('../commands/serve.ts')).serve(flags),
  },
  {
    name: 'demo',
    summary: 'Play whole lives of tasks over HTTP, and check every cent',
    options: [jsonLines],
    examples: ['marketplace demo', 'marketplace demo --json'],
    run: async (_, flags: AnswerFlags) => (await import('../commands/demo.ts')).demo(flags),
  },
  {
    name: 'exec',
    takes: ['<command...>'],
    summary: 'Run a command, such as tests, in a marketplace of its own',
    options: [
      ['--forward-to <url...>', 'your agent, which the command starts: listed as my-agent once it answers'],
      ['--agent <name=url...>', 'the same under a name of your own'],
      ['--log <file>', "write the marketplace's log to this file, one JSON object per line"],
      ['--json', 'write it to stderr instead'],
    ],
    notes: `The marketplace ends with the command, whose exit code is handed on.
The command gets these variables:
  MARKETPLACE_URL              the address of the marketplace
  MARKETPLACE_BUYER_KEY        an API key of each account: a buyer with money, the builder of the agents, an administrator
  MARKETPLACE_BUILDER_KEY
  MARKETPLACE_ADMIN_KEY
  MARKETPLACE_KEY              the builder's, for an agent; \`marketplace\` itself uses the key that fits each command
  MARKETPLACE_AGENT_ID         your agent, with PORT; without one sample-agent, which accepts every task and delivers at once
  MARKETPLACE_WEBHOOK_SECRET   its secret
  MARKETPLACE_CREDENTIALS      all of it as JSON, with emails and passwords
Exit code 127: there is no such command; 126: it can't be run; 128 and more: a signal ended it.`,
    examples: [
      'marketplace exec -- npm test',
      'marketplace exec --forward-to http://localhost:3000/webhook -- npm test',
      "marketplace exec --log market.log -- sh -c 'npx agent-marketplace simulate buyer sample-agent'",
    ],
    run: async (command, flags: ExecFlags) => {
      import('../../store/embedded/sqljs-internals.ts').then(({ compiled }) => compiled()).catch(() => {})
      return (await import('../commands/exec.ts')).exec(command, flags)
    },
  },
]
