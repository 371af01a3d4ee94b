/** Makes the parser of a command line from the command records. */
import { type Argument, Command, CommanderError } from 'commander'
import { programName, UsageError, version, wantsJson } from '../settings/config.ts'
import type { CommandRecord } from './command-line/command.ts'
import { wordFor } from './command-line/filled-by.ts'
import { commandList } from './command-list.ts'
import { commandsOf, groups, wholeTable } from './command-table.ts'
import { exitCodesInWords, Fault } from './exit-codes.ts'
import { commandRows, hangingIndent, rowsOf, wordsOf } from './output/text-rows.ts'
import { print } from './output/ui.ts'

/** The columns of a usual terminal. */
const WIDTH = 80

/** The words make no command. `shown`: what people read, with advice or the whole help. */
export class WrongWords extends UsageError {
  readonly hint: string
  readonly shown: string
  constructor(shown: string, isHelp: boolean) {
    const [first = '', ...advice] = shown.trim().split('\n')
    super(isHelp ? 'Which command?' : first.replace(/^error: /, ''))
    this.shown = shown
    this.hint = isHelp ? shown.trim() : advice.map(line => line.replace(/^\((.*)\)$/, '$1')).join(' ')
  }
}

/** Runs the command that the words name. Resolves to its exit code; rejects with WrongWords if they name none. `onHelp` takes its help. */
export async function runWords(
  argv: readonly string[],
  onHelp: (text: string) => unknown = text => print(text, { whole: true }),
): Promise<number> {
  let code = 0
  let shown = ''
  const program = await parserOf(
    argv[0] ?? '',
    { writeOut: onHelp, writeErr: text => (shown += text) },
    result => (code = result),
  )
  try {
    // A group takes no flags of its own, but a program that asks for half a command is to be answered in JSON.
    const words = argv.filter(word => word !== '--json')
    const isGroup = words.length === 0 || words.join(' ') in groups
    await program.parseAsync([...(isGroup ? words : argv)], { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return 0
    const [word = ''] = argv
    const { otherWords } = await import('./command-line/other-words.ts')
    // A word of a group is another word there.
    if (error.code === 'commander.unknownCommand' && Object.hasOwn(otherWords, word))
      throw new WrongWords(
        `error: there is no ${word} here; this does it:\n(${programName()} ${otherWords[word]})\n`,
        false,
      )
    throw new WrongWords(shown, error.code === 'commander.help')
  }
}

/** Each start pays for what is loaded and added, so other commands than the wanted ones are there only where none is wanted. */
async function parserOf(
  wanted: string,
  output: { writeOut(text: string): unknown; writeErr(text: string): unknown },
  done: (code: number) => void,
): Promise<Command> {
  const program = new Command(programName())
    .description('A whole marketplace for AI agents: escrow, signed webhooks, callbacks, disputes.')
    .version(version, '-v, --version')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: false, subcommandTerm })
    .configureOutput(output)
    .exitOverride()
    .showHelpAfterError(`(${programName()} --help shows what there is)`)
    .addHelpText('after', AFTER.replaceAll('$ marketplace ', `$ ${programName()} `))
  if (isVersion(wanted)) return program
  const own = await commandsOf(wanted)
  if (own) {
    for (const record of own) add(parentOf(program, record.name), record, done)
    return program
  }
  // For the list of commands, and for the advice on a wrong name.
  for (const { heading, word, summary } of await commandList())
    program.command(word).description(summary).helpGroup(heading)
  return program
}

/** Every command takes flags, so a list of commands does not say so of each. */
const subcommandTerm = (command: Command) =>
  [command.name(), ...command.registeredArguments.map(shownArgument)].join(' ')

const shownArgument = (argument: Argument) => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

const isVersion = (word: string) => word === '-v' || word === '--version'

/** Returns the program itself, or the group that the words before the last one name. Groups may be nested. */
function parentOf(program: Command, name: string): Command {
  const words = name.split(' ').slice(0, -1)
  return words.reduce((parent, word, at) => {
    const known = parent.commands.find(command => command.name() === word)
    if (known) return known
    const path = words.slice(0, at + 1).join(' ')
    const about = groups[path]!
    return parent
      .command(word)
      .description(about.summary)
      .helpCommand(false)
      .showHelpAfterError(`(${programName()} ${path} --help shows what there is)`)
      .addHelpText('after', examplesIn(about.examples))
  }, program)
}

function add(parent: Command, record: CommandRecord, done: (code: number) => void): void {
  const { name, takes = [], summary, options, notes, examples } = record
  const command = parent
    .command([name.split(' ').at(-1), ...takes].join(' '))
    .description(summary)
    .allowExcessArguments(false)
    .showHelpAfterError(`(${programName()} ${name} --help shows how)`)
    .addHelpText('after', `${notes ? `\n${wrappedNotes(calledIn(notes))}\n` : ''}${examplesIn(examples)}`)
    .action(async (...given: unknown[]) => {
      // One that may be left out, and was, comes as undefined.
      const words = given
        .slice(0, takes.length)
        .flat()
        .filter(word => word !== undefined) as string[]
      const chosen = given[takes.length] as Record<string, unknown>
      if (chosen.json === undefined && options.some(([flag]) => flag === '--json') && wantsJson()) chosen.json = true
      done(await record.run(words, chosen as never, wholeTable).catch(error => throwInWords(error, record, chosen)))
    })
  for (const [flags, words] of options) command.option(flags, words)
}

/** Refusals come with the fields of the request, and people typed flags. */
function throwInWords(error: unknown, record: CommandRecord, chosen: Readonly<Record<string, unknown>>): never {
  if (error instanceof Fault) error.wordFor = field => wordFor(record, chosen, field)
  throw error
}

const examplesIn = (lines: readonly string[]) =>
  `\nExamples:\n${lines.map(line => wrappedExample(called(line))).join('\n')}`

/** The records write `marketplace`, also within `$(…)`. */
const called = (line: string) => line.replaceAll(/(?<=^|\$\()marketplace /g, `${programName()} `)

/** The same within a sentence, where `marketplace` may also be a word. */
const calledIn = (notes: string) => notes.replace(/(?<=: |`| {2})marketplace (?=[a-z])/g, `${programName()} `)

const AFTER = `
Examples:
  $ marketplace dev
  $ marketplace simulate buyer sample-agent

The first runs a marketplace on this laptop, the second hires its agent from
another terminal in the same folder.

${wrappedNotes(`Exit codes: ${exitCodesInWords}.`)}

Every setting can also stand in the environment or in .env as
MARKETPLACE_<NAME>, or in marketplace.json by the name of its flag; a flag goes
first, then the environment, .env, the file.`

/** Wraps paragraphs; lines that begin with spaces are the rows of a table, and go on below their second column. @internal A test wraps the help of every command. */
export function wrappedNotes(text: string): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const isRow = line.startsWith(' ')
    const isMore = lines.length > 0 && (isRow ? /^ {4}/.test(line) : !lines.at(-1)!.startsWith(' '))
    if (isMore) lines.push(`${lines.pop()} ${line.trim()}`)
    else lines.push(line)
  }
  return lines.map(wrapped).join('\n')
}

function wrapped(line: string): string {
  const indent = hangingIndent(line)
  return rowsOf(wordsOf(line), WIDTH, WIDTH - indent.length).join(`\n${indent}`)
}

/** A command line that is too long goes on in lines that a shell takes as one. @internal As above. */
export const wrappedExample = (line: string): string =>
  commandRows(line, '  $', { width: WIDTH, indent: '      ' }).join('\n')
