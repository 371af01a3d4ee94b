/** Text behind a label: in rows below each other on a terminal, on one line elsewhere, so that programs find it. */
import { columnsOf, commandRows, cutWords, rowsOf, wordsOf } from './text-rows.ts'
import type { Ui } from './ui.ts'

type Tone = (row: string) => string
const same: Tone = row => row

/** Of a terminal so narrow that nothing fits anyway. */
const LEAST_ROOM = 20

export function paragraph({ columns, raw }: Ui, label: string, text: string, tone = same): void {
  const indent = ' '.repeat(columnsOf(label))
  const width = Math.max(LEAST_ROOM, (columns ?? Number.POSITIVE_INFINITY) - indent.length)
  const [first = '', ...rest] = rowsOf(cutWords(wordsOf(text), width), width)
  raw(label + tone(first))
  for (const row of rest) raw(indent + tone(row))
}

/** A command line to copy. Its words are never cut. */
export function commandLine({ columns, raw }: Ui, label: string, command: string, tone = same): void {
  const indent = ' '.repeat(columnsOf(label) + 3)
  for (const row of commandRows(command, label, { width: columns ?? Number.POSITIVE_INFINITY, indent })) raw(tone(row))
}
