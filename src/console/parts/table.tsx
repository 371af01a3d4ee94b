/** Tables of which each row opens something: one tab stop, arrows within. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Space, useWindow } from './window.tsx'

export interface Column<Row> {
  readonly head: ComponentChildren
  /** `n`: numbers, at the right. `p3`, `p2`: left out where there is less room. */
  readonly class?: string
  readonly cell: (row: Row) => ComponentChildren
}

interface TableProps<Row> {
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => string
  /** The key of the row that is open. */
  open?: string | undefined
  /** The number of the first row, where this is a part of a longer list, and how many there are in all. */
  first?: number
  total?: number
}

/** The link in each row has the class `go`. */
export function Table<Row>({ label, rows, columns, keyOf, open, first = 1, total = rows.length }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [active, setActive] = useState(0)
  const { from, to, before, after } = useWindow(rows.map(keyOf), body, 'tr[aria-rowindex]', open)
  const isOpen = rows.findIndex(row => keyOf(row) === open)
  const stop = isOpen >= 0 ? isOpen : Math.min(active, rows.length - 1)
  useEffect(() => {
    const links = body.current?.querySelectorAll<HTMLElement>('tr[aria-rowindex]') ?? []
    for (const row of links) {
      const link = row.querySelector<HTMLElement>('.go')
      if (link) link.tabIndex = Number(row.getAttribute('aria-rowindex')) === first + stop + 1 ? 0 : -1
    }
  })
  return (
    <div class="scroll">
      <table aria-label={label} aria-rowcount={total + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ head, class: more }, at) => (
              <th key={at} class={more} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody
          ref={body}
          data-list
          onFocusCapture={event => {
            const row = (event.target as HTMLElement).closest('tr')
            const index = Number(row?.getAttribute('aria-rowindex'))
            if (index) setActive(index - first - 1)
          }}
          onKeyDown={event => {
            const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
            if (by && moveIn(event.currentTarget, by)) event.preventDefault()
          }}
        >
          {before > 0 && <Space height={before} columns={columns.length} />}
          {rows.slice(from, to).map((row, at) => (
            <tr key={keyOf(row)} aria-rowindex={first + from + at + 1} aria-current={keyOf(row) === open || undefined}>
              {columns.map(({ cell, class: more }, column) => (
                <td key={column} class={more}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {after > 0 && <Space height={after} columns={columns.length} />}
        </tbody>
      </table>
    </div>
  )
}

/** Focuses the next or previous link of a list. */
function moveIn(list: Element, by: number): boolean {
  const links = [...list.querySelectorAll<HTMLElement>('.go')].filter(link => link.getClientRects().length > 0)
  const at = links.indexOf(document.activeElement as HTMLElement)
  const open = links.findIndex(link => link.tabIndex === 0)
  const next = links[Math.max(0, Math.min(links.length - 1, at < 0 ? Math.max(open, 0) : at + by))]
  next?.focus()
  return next !== undefined
}
