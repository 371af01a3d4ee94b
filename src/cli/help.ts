/** `marketplace help`: the help of a command, as --help prints it, and the exit codes. */
import { commandPaths } from './command-table.ts'
import { exitCodes, exitCodesInWords } from './exit-codes.ts'
import { createUi } from './output/ui.ts'
import { runWords } from './parser.ts'

/** What `help` explains besides commands. */
const topics: Readonly<Record<string, string>> = {
  'exit-codes': `${exitCodesInWords.replaceAll(', ', '\n')}\n`,
}

/** `words`: what stands behind `help`. Rejects as an unknown command does if they are none. */
export async function runHelp(words: readonly string[]): Promise<number> {
  const asked = words.filter(word => word !== '--json')
  const help = topics[asked.join(' ')] ?? (await helpOf(asked))
  if (words.includes('--json')) createUi().json({ success: true, data: { help } })
  else process.stdout.write(help)
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
