/** The command line: runs the command that the words name, and prints its error. */
import { asTypedHere, UsageError, wantedDebug, wantsJson } from '../settings/config.ts'
import { waitForSlowAddresses } from '../world/egress/happy-eyeballs.ts'
import { commandPaths, wholeTable } from './command-table.ts'
import { noteTyped, typed } from './connection/next-steps.ts'
import { exitCodes, exitCodesInWords, Fault } from './exit-codes.ts'
import { loadColours } from './output/colours.ts'
import { proveWritten, watchOutput, withSystemReason } from './output/disk-faults.ts'
import { inAmounts, isPrice } from './output/numbers.ts'
import { failure, isPrinted } from './output/output.ts'
import { createUi, plain, print, write } from './output/ui.ts'
import { runWords, WrongWords } from './parser.ts'

/** Runs one command; resolves to the exit code of the process. Never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  noteTyped(argv)
  waitForSlowAddresses()
  watchOutput()
  let stacks = false
  try {
    stacks = wantedDebug().stacks
    await loadColours()
    const code = argv[0] === 'help' ? await runHelp(argv.slice(1)) : await runWords(argv)
    await proveWritten()
    return code
  } catch (thrown) {
    const error = thrown instanceof Error ? withSystemReason(thrown) : thrown
    // What is found before a command begins is on stdout too, as everything that programs read.
    if (isForPrograms(argv) && !isPrinted(thrown)) createUi().json(failure(error))
    return await report(error, stacks, argv)
  }
}

function isForPrograms(argv: readonly string[]): boolean {
  try {
    return argv.includes('--json') || wantsJson()
  } catch {
    return false
  }
}

async function report(error: unknown, stacks: boolean, argv: readonly string[]): Promise<number> {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  if (error instanceof WrongWords) write(process.stderr, error.shown)
  else if (stacks) write(process.stderr, `${stack}\n`)
  else createUi(process.stderr).line(await said(sentence(message), argv))
  if (error instanceof Fault) return reportFault(error, argv)
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failed
}

async function reportFault(
  { details: { code, hint, errors }, wordFor }: Fault,
  argv: readonly string[],
): Promise<number> {
  const ui = createUi(process.stderr)
  for (const [field, words] of Object.entries(errors ?? {})) {
    // One field may be held against another.
    const text = (await said(words.join('; '), argv)).replaceAll(/\b[a-z]+[A-Z]\w*/g, word => wordFor(word))
    ui.line(`  ${plain(wordFor(field))}: ${plain(isPrice(field) ? inAmounts(text) : text)}`)
  }
  if (hint) ui.line(await said(hint, argv))
  return code
}

/** As whoever has typed a command can do it. `call` takes requests as they are. */
async function said(text: string, [command]: readonly string[]): Promise<string> {
  if (command === 'call' || !text.includes(' /api/')) return asTypedHere(text)
  // The records of all endpoints are loaded where one is named.
  const { inCommands } = await import('./command-line/endpoint-words.ts')
  return asTypedHere(await inCommands(text, typed, wholeTable))
}

/** A list at the end needs no full stop. */
const sentence = (message: string) => (/[.!?…]$|\n .*$/.test(message) ? message : `${message}.`)

/** What `help` explains besides commands. */
const topics: Readonly<Record<string, string>> = {
  'exit-codes': `${exitCodesInWords.replaceAll(', ', '\n')}\n`,
}

/** `words`: what stands behind `help`. Rejects as an unknown command does if they are none. */
async function runHelp(words: readonly string[]): Promise<number> {
  const asked = words.filter(word => word !== '--json')
  const help = topics[asked.join(' ')] ?? (await helpOf(asked))
  if (words.includes('--json')) createUi().json({ success: true, data: { help } })
  else print(help, { whole: true })
  return exitCodes.ok
}

async function helpOf(asked: readonly string[]): Promise<string> {
  const { groups, commands } = await commandPaths()
  const path: string[] = []
  for (const word of asked) {
    if (commands.has(path.join(' '))) break
    path.push(word)
    // Nothing runs: the words end where no command is.
    if (!groups.has(path.join(' ')) && !commands.has(path.join(' '))) await runWords(path)
  }
  let help = ''
  await runWords([...path, '--help'], text => (help += text))
  return help
}
