/**
 * The way out of all that a command prints or writes for somebody: colours only on terminals, no signs of others that steer one, and no secret that
 * was not given. Source: A-300.
 */

import { appendFileSync, fstatSync, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { wantsColour } from '../../settings/config.ts'
import { cutShort, TOKEN } from '../../shared/secrets.ts'
import { type Colours, coloursOf } from './colours.ts'
import { type FittedList, fitList, type ListOptions } from './list-rows.ts'
import { columnsOf, commandRows, cutWords, rowsOf, textRows, wordsOf } from './text-rows.ts'

export interface Manner {
  /** It is JSON, and means the same afterwards. */
  readonly json?: boolean
  /** What is asked for as it is, or was written by us: nothing in it is masked. */
  readonly whole?: boolean
}

/** Writes a text to a terminal, a pipe or the log of a deployment. */
export const write = (to: Pick<Sink, 'write'>, text: string, manner?: Manner) => void to.write(fit(text, manner))
export const print = (text: string, manner?: Manner) => write(process.stdout, text, manner)

/** What is asked for byte for byte: a terminal gets it as text all the same. */
export const printBytes = (bytes: Uint8Array): unknown =>
  process.stdout.isTTY ? print(Buffer.from(bytes).toString(), { whole: true }) : process.stdout.write(bytes)

export function fit(text: string, { json = false, whole = false }: Manner = {}): string {
  const bare = whole ? text : masked(text)
  return json ? plainJson(bare) : plainLines(bare)
}

/** Node's own stdout takes half of a write into a file for all of it, which is what a disk that fills takes. */
export function takeFilesWhole(): void {
  // Whoever hears of what is written takes it from there.
  if (Object.hasOwn(process.stdout, 'write') || !isFile(1)) return
  const stdout = new Writable({
    write(chunk: Buffer, _, done) {
      try {
        writeFileSync(1, chunk)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
  Object.defineProperty(process, 'stdout', { value: stdout, configurable: true })
}

/** In big numbers: after a plain fstat of a pipe Node follows no link, so that no package of a linked `node_modules` finds its own. */
function isFile(fd: number): boolean {
  try {
    return fstatSync(fd, { bigint: true }).isFile()
  } catch {
    return false
  }
}

/** A file for people or for a pipeline. */
export const writeText = (path: string, text: string) => writeFileSync(path, fit(text, mannerOf(text)))
export const appendText = (path: string, text: string) => appendFileSync(path, fit(text, mannerOf(text)))

/** Of a report. */
export const mannerOf = (text: string): Manner => ({ json: text.startsWith('{') })

/** The terminal of a live log, whose lines have come through here before. */
export const cursor = {
  write: (text: string) => process.stdout.write(text),
  /** What others write to stderr comes by `print`, if it goes to the same terminal. Returns how to end that. */
  takeErrors(print: (text: string) => void): () => void {
    const { stderr } = process
    const { write } = stderr
    if (!stderr.isTTY) return () => {}
    stderr.write = ((chunk: string | Uint8Array, encoding?: unknown, done?: unknown) => {
      print(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
      const call = typeof encoding === 'function' ? encoding : done
      if (typeof call === 'function') process.nextTick(call as () => void)
      return true
    }) as typeof write
    return () => {
      stderr.write = write
    }
  },
}

/** Secrets that a command hands out on purpose: from then on they are no secrets to its reader. */
const given = new Set<string>()

/** Hands out the secrets in what is printed next. */
export function giveSecretsIn(value: unknown): void {
  for (const [secret] of JSON.stringify(value).matchAll(TOKEN)) given.add(secret)
}

const masked = (text: string) => cutShort(text, given)

type Cells = readonly string[]

export interface Ui {
  readonly colour: Colours
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

export function createUi(stream: Sink = process.stdout, inColour = wantsColour(stream)): Ui {
  const colour = coloursOf(inColour)
  const raw = (text: string) => void stream.write(`${shown(masked(text), inColour)}\n`)
  return {
    colour,
    get columns() {
      return widthOf(stream)
    },
    line(text = '') {
      const width = widthOf(stream)
      // Whole: half a secret in a row is none that is seen.
      for (const row of width === null ? [text] : textRows(masked(text), width)) raw(row)
    },
    raw,
    table(rows) {
      const cells = rows.map(row => row.map(masked))
      for (const row of tableRows(cells, widthOf(stream))) raw(row)
    },
    list(head, entries, options) {
      const width = widthOf(stream)
      const rows = [head.map(word => colour.bold(word)), ...entries.map(cells => cells.map(masked))]
      for (const row of aligned(fitList(rows, width, options), width)) raw(row)
    },
    json: value => write(stream, `${JSON.stringify(value)}\n`, { json: true }),
  }
}

// Control characters, and those that turn the direction of writing.
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** As in JSON: it is seen what there was, and does nothing. */
const inSight = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Makes data from outside safe to print on one line. */
export const plain = (text: string) => text.replace(STEERING, sign => (/[\t\n\r]/.test(sign) ? ' ' : inSight(sign)))

const isLayout = (sign: string) => sign === '\n' || sign === '\t'

/** Of several lines: their ends stay. */
const plainLines = (text: string) => text.replace(STEERING, sign => (isLayout(sign) ? sign : plain(sign)))

/** JSON that means the same, with nothing in it that steers a terminal. */
const plainJson = (json: string) => json.replace(STEERING, sign => (isLayout(sign) ? sign : inSight(sign)))

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
  const [first = '', ...rest] = rowsOf(cutWords(wordsOf(masked(text)), width), width)
  raw(label + tone(first))
  for (const row of rest) raw(indent + tone(row))
}

/** A command line to copy. Its words are never cut. */
export function commandLine({ columns, raw }: Ui, label: string, command: string, tone = same): void {
  const indent = ' '.repeat(columnsOf(label) + 3)
  for (const row of commandRows(command, label, { width: columns ?? Number.POSITIVE_INFINITY, indent })) raw(tone(row))
}
