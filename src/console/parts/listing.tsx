/** A list that the marketplace gives page by page: while it loads, if it cannot be read, if it is empty, and its rows. */
import type { ComponentChildren } from 'preact'
import type { Pagination } from '../../client/client.ts'
import type { Loaded } from '../data.ts'
import { goQuery } from '../router.ts'
import { Pager } from './controls.tsx'
import { Empty, Failed, Loading } from './say.tsx'
import { type Column, Table } from './table.tsx'

interface ListingProps<Row> {
  /** `Deliveries` */
  label: string
  list: Loaded<{ readonly pagination: Pagination }>
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => string
  open?: string | undefined
  /** Whether filters leave some out. */
  isFiltered: boolean
  empty: ComponentChildren
  /** The name of the page in the query, where the place has two lists. */
  part?: string
}

export function Listing<Row>({
  label,
  list,
  rows,
  columns,
  keyOf,
  open,
  isFiltered,
  empty,
  part = 'page',
}: ListingProps<Row>) {
  const { data, error, reload } = list
  if (error) return <Failed what={`${label} could not be read.`} error={error} again={reload} />
  if (!data) return <Loading lines={8} />
  if (rows.length === 0 && data.pagination.page === 1)
    return isFiltered ? (
      <Empty title="None is like that">
        <p>Take a word out of the filter, or choose another one.</p>
      </Empty>
    ) : (
      empty
    )
  const { page, limit, total, hasMore } = data.pagination
  return (
    <>
      <Table
        label={label}
        rows={rows}
        columns={columns}
        keyOf={keyOf}
        open={open}
        first={(page - 1) * limit + 1}
        total={total}
      />
      <Pager
        page={page}
        limit={limit}
        total={total}
        hasMore={hasMore}
        onPage={next => goQuery({ [part]: next === 1 ? null : String(next) })}
      />
    </>
  )
}
