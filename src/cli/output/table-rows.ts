/** A table in rows of a terminal. Where it is too wide, the columns that have no room stand below the others. */
import { columnsOf, rowsOf, wordsOf } from './text-rows.ts'

type Cells = readonly string[]

const GAP = 2
/** Of what stands below. */
const INDENT = '  '
/** For the words of a column that is too wide even alone. */
const LEAST_ROOM = 20

/** `width`: null where lines have no end. Each column is as wide as its widest cell. */
export function tableRows(rows: readonly Cells[], width: number | null): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => columnsOf(row[column] ?? ''))))
  const groups = groupsOf(widths, width ?? Number.POSITIVE_INFINITY)
  return rows.flatMap(row =>
    groups.flatMap((columns, at) => {
      const indent = at === 0 ? '' : INDENT
      const before = columns.slice(0, -1).map(column => padded(row[column] ?? '', widths[column]!) + ' '.repeat(GAP))
      const label = indent + before.join('')
      return cellRows(label, row[columns.at(-1)!] ?? '', width)
    }),
  )
}

/** Which columns stand beside each other. */
function groupsOf(widths: readonly number[], width: number): number[][] {
  const groups: number[][] = [[]]
  let left = width
  for (const [column, needs] of widths.entries()) {
    const group = groups.at(-1)!
    const isLast = column === widths.length - 1
    const fits = needs <= left || (isLast && left >= width / 2)
    if (group.length === 0 || fits) group.push(column)
    else {
      groups.push([column])
      left = width - INDENT.length
    }
    left -= needs + GAP
  }
  return groups
}

/** The last cell goes on below itself. */
function cellRows(label: string, cell: string, width: number | null): string[] {
  const indent = columnsOf(label)
  if (width === null || indent + columnsOf(cell) <= width) return [(label + cell).trimEnd()]
  const rows = rowsOf(wordsOf(cell), Math.max(LEAST_ROOM, width - indent))
  return rows.map((row, at) => (at === 0 ? label : ' '.repeat(indent)) + row)
}

const padded = (cell: string, to: number) => cell + ' '.repeat(to - columnsOf(cell))
