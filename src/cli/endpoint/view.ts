/** Shows the reply of an endpoint's command to people: a list as a table, a record as lines. */
import type { Endpoint } from '../../api/endpoint.ts'
import type { Pagination } from '../../client/client.ts'
import type { Connection } from '../connection/connection.ts'
import { isPrice } from '../output/money.ts'
import { money, plain } from '../output/ui.ts'
import type { Fields } from './fields.ts'
import type { EndpointRow } from './row.ts'

export function showReply(connection: Connection, row: EndpointRow, { list }: Endpoint, data: unknown): void {
  if (row.prints) showSecret(connection, row.prints, data as Fields)
  else if (list) showList(connection, row, data)
  else showRecord(connection, row, data)
}

function showSecret({ out, notes }: Connection, field: string, data: Fields): void {
  out.line(plain(String(data[field])))
  notes.line('It is shown this once.')
}

function showList(connection: Connection, row: EndpointRow, data: unknown): void {
  const { pagination, ...lists } = data as { pagination: Pagination } & Record<string, Fields[]>
  showTable(connection, row, Object.values(lists)[0] ?? [])
  const { page, totalPages, total, hasMore } = pagination
  if (totalPages < 2) return
  const next = hasMore ? ` The next: --page ${page + 1}` : ''
  connection.notes.line(`Page ${page} of ${totalPages}, ${total} in all.${next}`)
}

function showTable({ out, notes }: Connection, { shows }: EndpointRow, items: readonly Fields[]): void {
  const head = shows.map(path => out.colour.bold(labelOf(path).toUpperCase()))
  if (items.length === 0) notes.line('There is none.')
  else out.table([head, ...items.map(item => shows.map(path => cell(item, path)))])
}

function showRecord(connection: Connection, row: EndpointRow, data: unknown): void {
  const { out } = connection
  if (Array.isArray(data)) showTable(connection, row, data)
  else out.table(row.shows.map(path => [out.colour.dim(labelOf(path)), cell(data as Fields, path)]))
}

/**
 * `lastCheckPassedAt` → `last check passed at`. A nested field is shown by its last name, with that of its owner where
 * needed. The slug of another thing stands for it.
 */
function labelOf(path: string): string {
  const [last = '', owner = ''] = path.split('.').reverse()
  if (last === 'slug' && owner !== '') return owner
  const word = ['id', 'name', 'reason', 'status'].includes(last) ? `${owner} ${last}`.trim() : last
  return word.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
}

function cell(item: Fields, path: string): string {
  const names = path.split('.')
  const value = names.reduce<unknown>((inner, name) => (inner as Fields | null | undefined)?.[name], item)
  if (value === null || value === undefined) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' && isPrice(names.at(-1)!)) return money(value)
  return plain(Array.isArray(value) ? value.map(nameOf).join('; ') || '-' : String(value))
}

/** An item of a list: a text, or a record with a name. */
const nameOf = (item: unknown) => (typeof item === 'object' && item !== null ? String((item as Fields).name) : item)
