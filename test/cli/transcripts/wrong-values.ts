/** Each option whose value can be wrong by its form alone, typed so. */
import { wholeTable } from '../../../src/cli/command-table.ts'

/** What the help calls such a value. Texts, names and paths are never wrong by their form. */
const FORMS = new Set([
  ...['n', 'number', 'amount', 'ms', 'seconds', 'time', 'duration', 'size', 'hops', 'hex', 'json', 'path=value...'],
  ...['kind', 'mode', 'status', 'state', 'event', 'event or action', 'role', 'level', 'order', 'type', 'direction'],
  ...['pace', 'end', 'shares', 'outcome', 'what', 'program', 'check', 'check...', 'set', 'person'],
])
/** Of the options that nearly all commands have, one is as good as all. */
const ONCE = new Set(['--as', '--page', '--limit'])
const WORDS: Readonly<Record<string, string>> = {
  '<agent>': 'sample-agent',
  '[agent]': 'sample-agent',
  '<category>': 'code',
}

export async function wrongValues(): Promise<string[]> {
  const typed = new Set<string>()
  const lines: string[] = []
  const { chapters } = await wholeTable()
  for (const { name, takes = [], options } of chapters.flatMap(([, records]) => records)) {
    for (const [flags] of options) {
      const [, flag, form] = /(--[\w-]+) <(.+)>/.exec(flags) ?? []
      if (!flag || !FORMS.has(form!) || typed.has(flag)) continue
      if (ONCE.has(flag)) typed.add(flag)
      const words = takes.filter(word => word.startsWith('<')).map(word => WORDS[word] ?? 'none')
      lines.push([name, ...words, flag, 'x'].join(' '))
    }
  }
  return lines
}
