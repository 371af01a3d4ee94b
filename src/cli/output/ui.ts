/** Output for people: colours only on terminals, and no control characters from foreign data. */

import { Chalk, type ChalkInstance } from 'chalk'
import { wantsColour } from '../../settings/config.ts'
import { type FittedList, fitList, type ListOptions } from './list-rows.ts'
import { columnsOf, commandRows, cutWords, rowsOf, textRows, wordsOf } from './text-rows.ts'

type Cells = readonly string[]

export interface Ui {
  readonly colour: ChalkInstance
  /** The width of the terminal; null: it goes elsewhere, where lines have no end. */
  readonly columns: number | null
  /** Prints sentences: on a terminal in rows that end between words. */
  line(text?: string): void
  /** Prints what has rows already, or is to be copied letter by letter. */
  raw(text: string): void
  /** Prints rows of cells in columns; the last goes on below itself. */
  table(rows: readonly Cells[]): void
  /** Prints one row for each entry of a list, below the words of the head. */
  list(head: Cells, entries: readonly Cells[], options?: ListOptions): void
  /** Prints one object on one line, for programs. */
  json(value: unknown): void
}

/** What output goes to: a stream, or the part of a terminal above the rows that stay. */
export interface Sink {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Of a terminal that does not say how wide it is. */
const USUAL_WIDTH = 80

export const widthOf = ({ isTTY, columns }: Sink): number | null => (isTTY ? columns || USUAL_WIDTH : null)

/** Decides about colours, because chalk would ignore a terminal that asks for none. */
export function createUi(stream: Sink = process.stdout, inColour = wantsColour(stream)): Ui {
  const colour = new Chalk({ level: inColour ? 1 : 0 })
  const raw = (text: string) => void stream.write(`${shown(text, inColour)}\n`)
  return {
    colour,
    get columns() {
      return widthOf(stream)
    },
    line(text = '') {
      const width = widthOf(stream)
      for (const row of width === null ? [text] : textRows(text, width)) raw(row)
    },
    raw,
    table(rows) {
      for (const row of tableRows(rows, widthOf(stream))) raw(row)
    },
    list(head, entries, options) {
      const width = widthOf(stream)
      const rows = [head.map(word => colour.bold(word)), ...entries]
      for (const row of aligned(fitList(rows, width, options), width)) raw(row)
    },
    json: value => raw(plainJson(JSON.stringify(value))),
  }
}

// Control characters, and those that turn the direction of writing.
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Makes data from outside safe to print. */
export const plain = (text: string) => text.replace(STEERING, ' ')

const isLayout = (sign: string) => sign === '\n' || sign === '\t'

/** Of several lines: their ends stay. */
export const plainLines = (text: string) => text.replace(STEERING, sign => (isLayout(sign) ? sign : ' '))

/** JSON that means the same, with nothing in it that steers a terminal. */
export const plainJson = (json: string) =>
  json.replace(STEERING, sign => (isLayout(sign) ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`))

/** Whatever a command prints by a Ui: what is ours in it are colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is how a terminal is told a colour
const COLOUR = /(\u001b\[\d{1,2}m)/
const shown = (text: string, inColour: boolean) =>
  text
    .split(COLOUR)
    .map((part, at) => (at % 2 === 1 && inColour ? part : plainLines(part)))
    .join('')

export const money = (cents: number) =>
  (cents / 100).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

const GAP = 2
/** For the words of a column that is too wide even alone. */
const LEAST_ROOM = 12

/** `width`: null where lines have no end. Each column is as wide as its widest cell, and all but the last are narrow. */
function tableRows(rows: readonly Cells[], width: number | null): string[] {
  const widths = (rows[0] ?? []).slice(1).map((_, column) => Math.max(...rows.map(row => columnsOf(row[column] ?? ''))))
  return aligned({ widths, rows }, width)
}

/** What has no width stands in the last column. */
const aligned = ({ widths, rows }: FittedList, width: number | null): string[] =>
  rows.flatMap(row => {
    const label = row.slice(0, widths.length).map((cell, at) => padded(cell, widths[at]!) + ' '.repeat(GAP))
    return row.length > widths.length ? cellRows(label.join(''), row.at(-1)!, width) : [label.join('').trimEnd()]
  })

/** The last cell goes on below itself. */
function cellRows(label: string, cell: string, width: number | null): string[] {
  const indent = columnsOf(label)
  if (width === null || indent + columnsOf(cell) <= width) return [(label + cell).trimEnd()]
  const rows = rowsOf(wordsOf(cell), Math.max(LEAST_ROOM, width - indent))
  return rows.map((row, at) => (at === 0 ? label : ' '.repeat(indent)) + row)
}

const padded = (cell: string, to: number) => cell + ' '.repeat(to - columnsOf(cell))

/** Text behind a label: in rows below each other on a terminal, on one line elsewhere, so that programs find it. */
type Tone = (row: string) => string
const same: Tone = row => row

/** Of a terminal so narrow that nothing fits anyway. */
const LEAST_LABELLED = 20

export function paragraph({ columns, raw }: Ui, label: string, text: string, tone = same): void {
  const indent = ' '.repeat(columnsOf(label))
  const width = Math.max(LEAST_LABELLED, (columns ?? Number.POSITIVE_INFINITY) - indent.length)
  const [first = '', ...rest] = rowsOf(cutWords(wordsOf(text), width), width)
  raw(label + tone(first))
  for (const row of rest) raw(indent + tone(row))
}

/** A command line to copy. Its words are never cut. */
export function commandLine({ columns, raw }: Ui, label: string, command: string, tone = same): void {
  const indent = ' '.repeat(columnsOf(label) + 3)
  for (const row of commandRows(command, label, { width: columns ?? Number.POSITIVE_INFINITY, indent })) raw(tone(row))
}
