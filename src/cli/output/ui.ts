/** Output for people: colours only on terminals, and no control characters from foreign data. */
import { Chalk, type ChalkInstance } from 'chalk'
import { wantsColour } from '../../config.ts'
import { columnsOf } from '../rows.ts'

export interface Ui {
  readonly colour: ChalkInstance
  /** The width of the terminal; null: it goes elsewhere, where lines have no end. */
  readonly columns: number | null
  line(text?: string): void
  /** Prints rows of cells. Each column is as wide as its widest cell. */
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
  const line = (text = '') => void stream.write(`${text}\n`)
  return {
    colour,
    get columns() {
      return widthOf(stream)
    },
    line,
    table(rows) {
      const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => columnsOf(row[column] ?? ''))))
      for (const row of rows)
        line(
          row
            .map((cell, column) => padded(cell, widths[column] ?? 0))
            .join('  ')
            .trimEnd(),
        )
    },
    json: value => void stream.write(`${JSON.stringify(value)}\n`),
  }
}

const padded = (cell: string, to: number) => cell + ' '.repeat(to - columnsOf(cell))

// Control characters, and those that turn the direction of writing.
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Makes data from outside safe to print. */
export const plain = (text: string) => text.replace(STEERING, ' ')

export const money = (cents: number) =>
  (cents / 100).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
