/**
 * A file of commands, and of what each of them prints to a program: `$ ` begins what is typed, `2> ` a line of stderr, and a number in brackets
 * is an exit code that is not 0. What differs each time has a name instead: `task_1` for the first id of a task that is seen, which may be typed
 * as well, `TIME`, `N` for what was measured. Columns are two spaces
 * apart. Where the output is `…`, it depends on who was faster, and any is right.
 */
import { runHere } from '../in-process.ts'

const TYPED = '$ marketplace '
const ANY = '…'

/** Each with what it printed. */
export const commandsIn = (transcript: string): string[] =>
  transcript
    .split(TYPED)
    .slice(1)
    .map(part => TYPED + part.trimEnd())

export const transcriptOf = (commands: readonly string[]) => `${commands.join('\n\n')}\n`

/** Types all of them again, in the working folder. */
export async function typedAgain(commands: readonly string[]): Promise<string[]> {
  const names = new Names()
  const parts: string[] = []
  for (const command of commands) {
    const [line = '', ...before] = command.slice(TYPED.length).split('\n')
    const { code, out, err } = await runHere(...wordsOf(line).map(word => names.meant(word)))
    const said = [...linesOf(out), ...linesOf(err).map(text => `2> ${text}`), ...(code ? [`(${code})`] : [])]
    const masked = said.map(text => names.masked(text))
    parts.push([TYPED + line, ...(before.join() === ANY ? before : masked)].join('\n').trimEnd())
  }
  return parts
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/** As a shell reads them: double quotes hold what has spaces. */
const wordsOf = (line: string) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

const ID = /\b(?!whsec|svc)([a-z]+)_(?:[0-9a-f]{32})|\b(exchange)_\d+/g

/** The ids that were seen, under the names that stand for them. */
class Names {
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  meant(word: string): string {
    return [...this.#names].find(([, name]) => name === word)?.[0] ?? word
  }

  masked(text: string): string {
    return text
      .replace(ID, (id, kind, exchange) => this.#nameOf(id, kind ?? exchange))
      .replace(/\bwhsec_[\w+/]+=*/g, 'whsec_…')
      .replace(/\bsvc_[0-9a-f]+/g, 'svc_')
      .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d\.\d{3}Z)?|\b\d\d:\d\d:\d\d\b/g, 'TIME')
      .replace(/\b\d+ ms\b/g, 'N ms')
      .replace(/("durationMs":|bytes removed {2,})\d+/g, '$1N')
      .replace(/\b(127\.0\.0\.1|localhost):\d{4,}/g, '$1:PORT')
      .replaceAll(/ {2,}(?=\S)/g, (gap, at: number) => (at === 0 || (text.startsWith('2> ') && at < 4) ? gap : '  '))
      .replace(/\b([1-5]\d\d {2})\d+(?= {2})/g, '$1N')
      .trimEnd()
  }

  #nameOf(id: string, kind: string): string {
    const known = this.#names.get(id)
    if (known) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    this.#names.set(id, `${kind}_${count}`)
    return `${kind}_${count}`
  }
}
