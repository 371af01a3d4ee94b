/** Sentences in rows of a terminal. A command in them stays whole, so that it can be copied. */
import { stripVTControlCharacters } from 'node:util'
import { columnsOf, commandRows, hangingIndent, rowsOf } from './text-rows.ts'

/** Each line of a text in rows. They go on below the words behind a mark, those of a list below its second column. */
export const textRows = (text: string, width: number): string[] =>
  text.split('\n').flatMap(line => {
    if (columnsOf(line) <= width) return [line]
    return sentenceRows(line, width, hangingIndent(stripVTControlCharacters(line), width / 2))
  })

/** The first row has no indent: what stands there is in the text. It may be shorter than the others. */
export function sentenceRows(text: string, width: number, indent = '', firstWidth = width): string[] {
  const [first = '', ...rest] = rowsOf(text.match(UNITS) ?? [], firstWidth, width - indent.length)
  return [first, ...rest.flatMap(row => placed(row, width, indent))]
}

/** A row that has no room behind the indent moves to the left. A command that has none there goes on in rows that a shell takes as one. */
export function placed(row: string, width: number, indent: string): string[] {
  const room = width - columnsOf(row)
  if (room >= 0 || !IS_COMMAND.test(row)) return [indent.slice(0, Math.max(0, room)) + row]
  return commandRows(row, ' ', { width, indent: '    ' })
}

/** Behind one of these words it is the thing, not the program. */
const ARTICLE = '(?:[Aa]|[Aa]nother|[Aa]ny|[Ee]ach|[Ii]ts|[Nn]o|[Oo]ne|own|[Tt]hat|[Tt]he|[Tt]his|whole|[Yy]our) '
const COMMAND = `(?:npx agent-|(?<!\\b${ARTICLE}))marketplace [a-z]`
const IS_COMMAND = new RegExp(`^${COMMAND}`)

/** Words, with the blanks before them. A command goes from the name of the program to the end of the sentence. */
const UNITS = new RegExp(` *(?:[^ a-z]*${COMMAND}.*?(?:[.,]?$|[.,](?= )|(?= {2}| \\. ))|[^ ]+)`, 'g')
