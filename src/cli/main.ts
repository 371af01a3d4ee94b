/** The command line: makes a parser of the command records, runs one, and prints its error. */
import { Command, CommanderError } from 'commander'
import { UsageError, version, wantedDebug, wantsJson } from '../config.ts'
import { waitForSlowAddresses } from '../world/egress/happy-eyeballs.ts'
import type { CommandRecord } from './command.ts'
import { chapters, groups } from './command-table.ts'
import { exitCodes, exitCodesInWords, Fault } from './exit-codes.ts'
import { plain } from './ui.ts'

/** Runs one command; resolves to the exit code of the process. Never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: number = exitCodes.ok
  const program = build(result => {
    code = result
  })
  waitForSlowAddresses()
  // The reader of our output may close it.
  process.stdout.on('error', () => {})
  let stacks = false
  try {
    stacks = wantedDebug().stacks
    await program.parseAsync(argv as string[], { from: 'user' })
    return code
  } catch (error) {
    return report(error, stacks)
  }
}

function report(error: unknown, stacks: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  process.stderr.write(`${stacks ? stack : sentence(message)}\n`)
  if (!(error instanceof Fault)) return error instanceof UsageError ? exitCodes.usage : exitCodes.failed
  const { code, hint, errors } = error.details
  for (const [field, words] of Object.entries(errors ?? {})) {
    process.stderr.write(`  ${plain(field)}: ${plain(words.join('; '))}\n`)
  }
  if (hint) process.stderr.write(`${hint}\n`)
  return code
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
    .addHelpText('after', AFTER)
  for (const [heading, commands] of chapters) {
    for (const record of commands) add(parentOf(program, record.name, heading), record, heading, done)
  }
  return program
}

/** Returns the program itself, or the group that the words before the last one name. Groups may be nested. */
function parentOf(program: Command, name: string, heading: string): Command {
  const words = name.split(' ').slice(0, -1)
  return words.reduce((parent, word, at) => {
    const known = parent.commands.find(command => command.name() === word)
    if (known) return known
    const about = groups[words.slice(0, at + 1).join(' ')] ?? ''
    const group = parent.command(word).description(about).helpCommand(false)
    return parent === program ? group.helpGroup(heading) : group
  }, program)
}

function add(parent: Command, record: CommandRecord, heading: string, done: (code: number) => void): void {
  const { name, takes = [], summary, options, notes, examples } = record
  const command = parent
    .command([name.split(' ').at(-1), ...takes].join(' '))
    .description(summary)
    .allowExcessArguments(false)
    .showHelpAfterError(`(marketplace ${name} --help shows how)`)
    .addHelpText(
      'after',
      `${notes ? `\n${notes}\n` : ''}\nExamples:\n${examples.map(line => `  $ ${line}`).join('\n')}`,
    )
    .action(async (...given: unknown[]) => {
      const words = given.slice(0, takes.length).flat() as string[]
      const chosen = given[takes.length] as { json?: boolean }
      if (chosen.json === undefined && options.some(([flag]) => flag === '--json') && wantsJson()) chosen.json = true
      done(await record.run(words, chosen as never))
    })
  if (parent.parent === null) command.helpGroup(heading)
  for (const [flags, words] of options) command.option(flags, words)
}

const AFTER = `
Examples:
  $ marketplace dev                               a marketplace on this laptop
  $ marketplace simulate buyer sample-agent       hire its agent, from another terminal in the same folder

Exit codes: ${exitCodesInWords}.
Every setting can also stand in the environment or in .env as MARKETPLACE_<NAME>, or in marketplace.json by the name
of its flag; a flag goes first, then the environment, .env, the file.`
