/** Notes and examples of the help, wrapped for a terminal of the usual width. What flags mean the parser wraps itself. */
import { commandRows, hangingIndent, rowsOf, wordsOf } from '../output/text-rows.ts'

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
  return lines.map(wrapped).join('\n')
}

function wrapped(line: string): string {
  const indent = hangingIndent(line)
  return rowsOf(wordsOf(line), WIDTH, WIDTH - indent.length).join(`\n${indent}`)
}

/** A command line that is too long goes on in lines that a shell takes as one. */
export const wrappedExample = (line: string): string =>
  commandRows(line, '  $', { width: WIDTH, indent: '      ' }).join('\n')
