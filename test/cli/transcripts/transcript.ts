/**
 * A file of commands, and of what each of them prints to a program: `$ ` begins what is typed, `2> ` a line of stderr, and a number in brackets
 * is an exit code that is not 0. What differs each time has a name instead, such as `task_1`, which may be typed as well; `task_9` is of no task.
 * Columns are two spaces apart. Where stdout is `…`, it depends on who was faster, and any is right.
 */
import { Masked } from '../../support/masked.ts'
import { runHere } from '../in-process.ts'

const TYPED = '$ marketplace '
const ANY = '…'

/** Each with what it printed, where examples stand further to the right. */
export const commandsIn = (transcript: string): string[] =>
  transcript
    .split(/^\$ marketplace /m)
    .slice(1)
    .map(part => TYPED + part.trimEnd())

export const typedAs = (line: string) => TYPED + line
export const lineOf = (command: string) => command.split('\n', 1)[0]!

export const transcriptOf = (commands: readonly string[]) => `${commands.join('\n\n')}\n`

/** Types all of them again, in the working folder; each when what the one before has begun is `settled`. */
export async function typedAgain(commands: readonly string[], settled: () => Promise<unknown>): Promise<string[]> {
  const masked = new Masked()
  const parts: string[] = []
  for (const command of commands) {
    const [line = '', ...before] = command.slice(TYPED.length).split('\n')
    const { code, out, err } = await runHere(...wordsOf(line).map(word => meant(word, masked)))
    const shown = before[0] === ANY ? [ANY] : linesOf(settledOf(out)).map(text => spaced(masked.in(text)))
    const said = linesOf(err).map(text => `2> ${spaced(masked.in(text))}`)
    parts.push([TYPED + line, ...shown, ...said, ...(code ? [`(${code})`] : [])].join('\n').trimEnd())
    await settled()
  }
  return parts
}

function meant(word: string, masked: Masked): string {
  const id = masked.idOf(word)
  if (id === undefined && /^[a-z]+_[1-8]\d*$/.test(word))
    throw new Error(`Nothing was called ${word} before it was typed.`)
  return id ?? word
}

/** What a machine has, and what is drawn anew. */
const settledOf = (out: string) =>
  out
    .replace(/^. node {2,}.*\n(?: {8,}.*\n)*/m, '✔ node         Node of some version\n')
    .replace(/\{"check":"node",.*?\},/, '')
    .replaceAll(process.version, 'NODE')
    .replace(/(password) (buyer|builder|admin)-[\w-]+/g, '$1 $2-…')

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/** As a shell reads them: double quotes hold what has spaces. */
const wordsOf = (line: string) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

/** Cells are as wide as what they have each time, and some have what was measured, or what may not have happened yet. */
const spaced = (text: string) =>
  text
    .replaceAll(/(?<=\S) {2,}(?=\S)/g, '  ')
    .replace(/\b((?:[1-5]\d\d|none) {2})\d+(?= {2})/g, '$1N')
    .replace(/("(?:durationMs|offsetMs|ms)":|bytes(?: removed)? {2})\d+/g, '$1N')
    .replace(/^(usr_\d+ .* (?:yes|no) {2})[1-9]\d*(?= {2}\d+$)/, '$1N')
    .replace(/("step":"accepted".*"status":")\w+/, '$1in_progress or delivered')
    .replaceAll(/…[0-9a-f]{6}\b/g, '…ID')
    .replace(/^[0-9a-f]{8}(?= {2}(?:yes|no)\b)/, 'KEY')
    .replace(/(svc_… {2}TIME {2})(?:TIME|-)$/, '$1TIME or -')
    .trimEnd()
