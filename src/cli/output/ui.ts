/** Output for people: colours only on terminals, and no control characters from foreign data. */
import { Chalk, type ChalkInstance } from 'chalk'
import { wantsColour } from '../../settings/config.ts'
import { textRows } from './sentences.ts'
import { tableRows } from './table-rows.ts'

export interface Ui {
  readonly colour: ChalkInstance
  /** The width of the terminal; null: it goes elsewhere, where lines have no end. */
  readonly columns: number | null
  /** Prints sentences: on a terminal in rows that end between words. */
  line(text?: string): void
  /** Prints what has rows already, or is to be copied letter by letter. */
  raw(text: string): void
  /** Prints rows of cells in columns. */
  table(rows: readonly (readonly string[])[]): void
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
  const raw = (text: string) => void stream.write(`${text}\n`)
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
    json: value => raw(JSON.stringify(value)),
  }
}

// Control characters, and those that turn the direction of writing.
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Makes data from outside safe to print. */
export const plain = (text: string) => text.replace(STEERING, ' ')

export const money = (cents: number) =>
  (cents / 100).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
