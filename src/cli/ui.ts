/** Output for people: colours only on terminals, and no control characters from foreign data. */
import { stripVTControlCharacters, styleText } from 'node:util'
import { wantsColour } from '../config.ts'

const styles = ['bold', 'dim', 'cyan', 'green', 'red', 'yellow'] as const

/** Each returns the text in its style, or as it is where no colours are wanted. */
export type Colours = Readonly<Record<(typeof styles)[number], (text: string) => string>>

export interface Ui {
  readonly colour: Colours
  line(text?: string): void
  /** Prints rows of cells. Each column is as wide as its widest cell. */
  table(rows: readonly (readonly string[])[]): void
  /** Prints one object on one line, for programs. */
  json(value: unknown): void
}

/** What output goes to: a stream, or the part of a terminal above the rows that stay. */
export interface Sink {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export function createUi(stream: Sink = process.stdout): Ui {
  const colour = coloursOf(wantsColour(stream))
  const line = (text = '') => void stream.write(`${text}\n`)
  return {
    colour,
    line,
    table(rows) {
      const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => width(row[column] ?? ''))))
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

function coloursOf(areWanted: boolean): Colours {
  // Node would decide by its own stdout.
  const styled = (style: (typeof styles)[number]) => (text: string) => styleText(style, text, { validateStream: false })
  return Object.fromEntries(styles.map(style => [style, areWanted ? styled(style) : asItIs])) as Colours
}

const asItIs = (text: string) => text

const width = (cell: string) => stripVTControlCharacters(cell).length
const padded = (cell: string, to: number) => cell + ' '.repeat(to - width(cell))

// Control characters, and those that turn the direction of writing.
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Makes data from outside safe to print. */
export const plain = (text: string) => text.replace(STEERING, ' ')

export const money = (cents: number) =>
  (cents / 100).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
