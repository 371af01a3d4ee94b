/**
 * Lays a list out in columns that fit a terminal: one row an entry, whatever the width. What makes it too wide is shortened in
 * order, and no further than it must be: ids to their unique ends, times to minutes, words of the head, then texts.
 */
import { stripVTControlCharacters } from 'node:util'
import { columnsOf, cutText } from './text-rows.ts'

type Cells = readonly string[]

const GAP = 2
/** The narrowest that a word of the head, and then a text, becomes. */
const LEAST_HEAD = 4
const LEAST_TEXT = 6

export interface ListOptions {
  /** The last column has words that go on below themselves. */
  readonly wraps?: boolean
}

/** The width of each column, and what stands in it. */
export interface FittedList {
  readonly widths: readonly number[]
  readonly rows: readonly Cells[]
}

/** `width`: null where lines have no end. The first row is the head. */
export function fitList(rows: readonly Cells[], width: number | null, { wraps = false }: ListOptions = {}): FittedList {
  const [head = [], ...entries] = rows
  const columns = head.map((word, at) => [word, ...entries.map(row => row[at]!)])
  const last = wraps ? columns.pop() : undefined
  const room = (width ?? Number.POSITIVE_INFINITY) - (last ? LEAST_LAST : 0) - (columns.length - 1) * GAP
  const fitted = fitColumns(columns, room)
  const widths = fitted.map(widest)
  const all = last ? [...fitted, last] : fitted
  return { widths, rows: rows.map((_, at) => all.map(column => column[at]!)) }
}

/** Of words that go on below themselves, with the gap before them. */
const LEAST_LAST = 22

const widest = (cells: Cells) => Math.max(...cells.map(columnsOf))
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

function fitColumns(columns: readonly Cells[], room: number): readonly Cells[] {
  let shown = columns
  for (const shorter of [withTails, withMinutes]) {
    if (sum(shown.map(widest)) <= room) return shown
    shown = shown.map(shorter)
  }
  const entries = shown.map(([, ...cells]) => widest(['', ...cells]))
  const heads = shown.map(([word = '']) => columnsOf(word))
  const headed = (most: number) => entries.map((entry, at) => Math.max(entry, Math.min(heads[at]!, most)))
  const leasts = shown.map(([, ...cells], at) => (at === 0 ? entries[0]! : widest(['', ...cells.map(uncut)])))
  const texts = (most: number) => headed(LEAST_HEAD).map((own, at) => Math.min(own, Math.max(most, leasts[at]!)))
  const all = (most: number) => texts(LEAST_TEXT).map(own => Math.min(own, most))
  const widths = largest(headed, LEAST_HEAD, room) ?? largest(texts, LEAST_TEXT, room) ?? largest(all, 1, room)
  return shown.map((cells, at) => cells.map(cell => cutText(cell, widths?.[at] ?? 1)))
}

const MOST = 200

/** The widths of the largest cap that fits. */
function largest(widthsOf: (most: number) => number[], least: number, room: number): number[] | undefined {
  for (let most = MOST; most >= least; most--) {
    const widths = widthsOf(most)
    if (sum(widths) <= room) return widths
  }
  return undefined
}

const ID = /^[a-z]+_([0-9a-f]{32})$/
const LEAST_TAIL = 6

/** The fewest last letters that tell the ids of a column apart. Commands take these in the place of an id. */
function withTails(cells: Cells): Cells {
  const ids = new Set(cells.map(cell => ID.exec(cell)?.[1]).filter(id => id !== undefined))
  let length = LEAST_TAIL
  while (new Set([...ids].map(id => id.slice(-length))).size < ids.size) length++
  return cells.map(cell => cell.replace(ID, (_, id: string) => `…${id.slice(-length)}`))
}

const TIME = /(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z/g
const withMinutes = (cells: Cells): Cells => cells.map(cell => cell.replace(TIME, '$1 $2'))

/** What stands in a cell that is nothing if it is cut: an end of an id, a time, an amount. What stands first is what people type. */
const uncut = (cell: string) => {
  const text = stripVTControlCharacters(cell)
  const [whole = ''] = UNCUT.exec(text) ?? []
  return whole !== '' && whole.length < text.length ? `${whole}…` : whole
}
const UNCUT = /^(?:…[0-9a-f]{6,32}$|\d{4}-\d\d-\d\d \d\d:\d\d|-?[\d,]+\.\d\d(?: [A-Z]{3})?$)/
