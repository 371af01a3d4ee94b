/** Sentences in rows of a terminal. A command in them stays whole, so that it can be copied. */
import { hangingIndent, rowsOf } from '../rows.ts'
import type { Ui } from './ui.ts'

/** Each line of a text in rows. The rows of a list go on below their second column. */
export function sentences({ columns, line }: Ui, text: string): void {
  for (const whole of text.split('\n')) {
    if (columns === null || whole.length <= columns) line(whole)
    else for (const row of sentenceRows(whole, columns, hangingIndent(whole))) line(row)
  }
}

export const sentenceRows = (text: string, width: number, indent = ''): string[] =>
  rowsOf(
    unitsOf(text).map((unit, at) => (at === 0 ? unit : ` ${unit}`)),
    { width, indent },
  )

/** From the name of the program to the end of the sentence. */
const COMMAND = /(?:npx agent-)?marketplace [a-z].*?(?=[.,]?$|[.,] | \. )/g

function unitsOf(text: string): string[] {
  const units: string[] = []
  let end = 0
  for (const { 0: command, index } of text.matchAll(COMMAND)) {
    units.push(...text.slice(end, index).split(' ').slice(0, -1), command)
    end = index + command.length
  }
  const [first = '', ...rest] = text.slice(end).split(' ')
  const last = units.pop()
  return [...units, (last ?? '') + first, ...rest]
}
