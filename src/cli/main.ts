/** The command line: what there is to say, and which module does it. Each is loaded only when it is called. */
import { Command, CommanderError } from 'commander'
import { UsageError, version, wantsDebug } from '../config.ts'

export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const

/** Runs one command; resolves to the exit code of the process. Never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: number = exitCodes.ok
  const program = build(result => {
    code = result
  })
  // Whoever reads our output may stop reading.
  process.stdout.on('error', () => {})
  try {
    await program.parseAsync(argv as string[], { from: 'user' })
    return code
  } catch (error) {
    return report(error)
  }
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  process.stderr.write(`${wantsDebug() ? stack : sentence(message)}\n`)
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failed
}

const sentence = (message: string) => (/[.!?…]$/.test(message) ? message : `${message}.`)

function build(done: (code: number) => void): Command {
  const program = new Command('marketplace')
    .description('A whole marketplace for AI agents: escrow, signed webhooks, callbacks, disputes.')
    .version(version, '-v, --version')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: false })
    .exitOverride()
    .showHelpAfterError('(marketplace --help shows what there is)')
    .addHelpText('after', EXAMPLES)

  const command = (name: string, summary: string, parent = program) =>
    parent.command(name).description(summary).allowExcessArguments(false)

  served(command('dev', 'Run the local simulator: seeded accounts, a working agent, every happening on the screen'))
    .option('--ephemeral', 'keep nothing')
    .option('--seed <n>', 'make ids and secrets repeatable; needs an empty database')
    .action(async flags => done(await (await import('./dev.ts')).dev(flags)))

  served(command('serve', 'Run a marketplace for others'))
    .option('--metrics-port <number>', 'open /metrics on this port of the loopback address (MARKETPLACE_METRICS_PORT)')
    .addHelpText('after', SERVE_VARIABLES)
    .action(async flags => done(await (await import('./serve.ts')).serve(flags)))

  command('demo', 'Play whole task lives over HTTP, with an agent of its own, and check every cent')
    .option('--json', 'print one JSON object per line')
    .action(async flags => done(await (await import('./demo.ts')).demo(flags)))

  const db = command('db', 'Look after a database file')
  command('check <file>', 'Verify a database that nobody uses; changes nothing', db)
    .option('--json', 'print one JSON object')
    .action(async (file, flags) => done(await (await import('./db.ts')).check(file, flags)))
  command('snapshot <file>', 'Fold the journals into the one file, which can then be copied alone', db)
    .option('--json', 'print one JSON object')
    .action(async (file, flags) => done(await (await import('./db.ts')).snapshot(file, flags)))
  command('backup <file> <to>', 'Copy a database as of now, also while a server uses it', db)
    .option('--json', 'print one JSON object')
    .action(async (file, to, flags) => done(await (await import('./db.ts')).backup(file, to, flags)))
  return program
}

/** Each has an environment variable MARKETPLACE_<NAME>. Source: D2. */
function served(command: Command): Command {
  const isDev = command.name() === 'dev'
  return command
    .option('--host <name>', 'where to listen (default: 127.0.0.1, MARKETPLACE_HOST)')
    .option('--port <number>', '0 takes a free one (default: 4000, MARKETPLACE_PORT)')
    .option(
      '--db <file>',
      `the database (default: ${isDev ? '.marketplace/dev.db' : 'marketplace.db'}, MARKETPLACE_DB)`,
    )
    .option('--base-url <url>', 'public address that agents call back (MARKETPLACE_BASE_URL)')
    .option('--payments <kind>', `manual or sandbox (default: ${isDev ? 'sandbox' : 'manual'}, MARKETPLACE_PAYMENTS)`)
    .option(
      '--rate-limits <mode>',
      `strict, warn or off (default: ${isDev ? 'off' : 'strict'}, MARKETPLACE_RATE_LIMITS)`,
    )
    .option('--trust-proxy <hops>', 'how many proxies of yours stand in front (default: 0, MARKETPLACE_TRUST_PROXY)')
    .option('--json', 'print one JSON object per line, the first once the server answers')
}

const SERVE_VARIABLES = `
Environment:
  MARKETPLACE_SECRET_KEY       32 bytes in base64 that seal webhook secrets (default: the file <db>.key)
  MARKETPLACE_ADMIN_EMAIL      the first administrator, made if the address is free
  MARKETPLACE_ADMIN_PASSWORD
  MARKETPLACE_METRICS_TOKEN    whoever sends it as a bearer token sees /metrics
  MARKETPLACE_SMTP_URL         smtps://user:password@host, for mail (password resets, failed health checks)
  MARKETPLACE_MAIL_FROM        the sender of that mail

Examples:
  $ marketplace serve
  $ marketplace serve --host 0.0.0.0 --base-url https://market.example --db /data/market.db`

const EXAMPLES = `
Examples:
  $ marketplace dev
  $ marketplace demo
  $ marketplace db check marketplace.db

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
Every setting can also stand in the environment or in .env as MARKETPLACE_<NAME>; a flag goes first.`
