/** Notes and examples of the help, wrapped for a terminal of the usual width. What flags mean the parser wraps itself. */

const WIDTH = 80

/** Wraps paragraphs; lines that begin with spaces are the rows of a table, and go on below their second column. */
export function wrappedNotes(text: string): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const isRow = line.startsWith(' ')
    const isMore = lines.length > 0 && (isRow ? /^ {4}/.test(line) : !lines.at(-1)!.startsWith(' '))
    if (isMore) lines.push(`${lines.pop()} ${line.trim()}`)
    else lines.push(line)
  }
  return lines.map(line => fill(line.match(WORDS) ?? [], hangingIndent(line)).join('\n')).join('\n')
}

/** Words, with the spaces before them. */
const WORDS = / *\S+/g

const hangingIndent = (line: string) =>
  ' '.repeat(/^ +\S+(?: \S+)*? {2,}/.exec(line)?.[0].length ?? /^ */.exec(line)![0].length)

function fill(words: readonly string[], indent: string): string[] {
  const lines = ['']
  for (const word of words) {
    if (lines.at(-1)!.length + word.length <= WIDTH) lines.push(`${lines.pop()}${word}`)
    else lines.push(indent + word.trimStart())
  }
  return lines
}

/** A command line that is too long goes on in lines that a shell takes as one. */
export function wrappedExample(line: string): string {
  const parts = line.match(PARTS) ?? []
  const lines = [`  $`]
  for (const part of parts) {
    if (lines.at(-1)!.length + part.length + CONTINUED.length < WIDTH) lines.push(`${lines.pop()} ${part}`)
    else lines.push(`      ${part}`)
  }
  return lines.join(`${CONTINUED}\n`)
}

const CONTINUED = ' \\'

/** A flag with its value, or words up to the next flag. A text in quotes is one word. */
const PARTS = /(?:(?:"[^"]*"|'[^']*'|[^\s"'])+)(?: +(?!-)(?:"[^"]*"|'[^']*'|[^\s"'])+)*/g
