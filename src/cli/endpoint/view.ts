/** Shows the reply of an endpoint's command to people: a list as a table, a record as lines. */

import { plainShellWord } from '../../api/command-line.ts'
import type { Endpoint } from '../../api/endpoint.ts'
import type { Pagination } from '../../api/endpoints/calls.ts'
import { endpoints } from '../../api/endpoints/index.ts'
import { attributeOf, flagIn } from '../command-line/filled-by.ts'
import type { Connection } from '../connection/connection.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { noneOf } from '../output/empty-list.ts'
import { isPrice } from '../output/numbers.ts'
import { money, plain } from '../output/ui.ts'
import type { Fields } from './fields.ts'
import type { EndpointRow, Typed } from './row.ts'

export function showReply(connection: Connection, row: EndpointRow, typed: Typed, data: unknown): void {
  const { list }: Endpoint = endpoints[row.endpoint]
  if (row.prints) showSecret(connection, row.prints, data as Fields)
  else if (list) showList(connection, row, typed, data)
  else if (Array.isArray(data)) showTable(connection, row, data, noneIn(row, typed))
  else showRecord(connection, row, data)
}

function showSecret({ out, notes }: Connection, field: string, data: Fields): void {
  out.line(plain(String(data[field])))
  notes.line('It is shown this once.')
}

function showList(connection: Connection, row: EndpointRow, typed: Typed, data: unknown): void {
  const { pagination, ...lists } = data as { pagination: Pagination } & Record<string, Fields[]>
  const { page, totalPages, total, hasMore } = pagination
  const items = Object.values(lists)[0] ?? []
  showTable(
    connection,
    row,
    items,
    total > 0 ? `Page ${page} is behind the last one, ${totalPages}.` : noneIn(row, typed),
  )
  if (totalPages < 2 || items.length === 0) return
  const next = hasMore ? ` The next: --page ${page + 1}` : ''
  connection.notes.line(`Page ${page} of ${totalPages}, ${total} in all.${next}`)
}

function showTable({ out, notes }: Connection, { shows }: EndpointRow, items: readonly Fields[], none: string): void {
  const head = labelsOf(shows).map(label => label.toUpperCase())
  if (items.length === 0) notes.line(none)
  else
    out.list(
      head,
      items.map(item => shows.map(path => cell(item, path))),
    )
}

const LEAVE_NONE_OUT = new Set<unknown>(['page', 'limit', 'sort', 'by'])

function noneIn({ name, things = 'entries', first, flags: known = [] }: EndpointRow, { words, flags, reach }: Typed) {
  const filters = known.flatMap(([flag, , sets]) => {
    const given = flags[attributeOf(flag)]
    if (given === undefined || LEAVE_NONE_OUT.has(sets)) return []
    return plain(given === true ? flagIn(flag) : `${flagIn(flag)} ${plainShellWord(String(given))}`)
  })
  const all = nextSteps.wholeList([name, ...words.map(plainShellWord)].join(' '), reach)
  return noneOf({ things, filters, all, first: first?.(reach) })
}

/** A field that has records is a list of its own, below the others. */
function showRecord({ out }: Connection, { shows }: EndpointRow, data: unknown): void {
  const labels = labelsOf(shows)
  const record = data as Fields
  const lists = shows.flatMap((path, at) => {
    const found = recordsIn(record[path])
    return found ? [{ label: labels[at]!, ...found }] : []
  })
  const lines = shows.flatMap((path, at) =>
    recordsIn(record[path]) ? [] : [[out.colour.dim(labels[at]!), cell(record, path)]],
  )
  if (lines.length > 0) out.table(lines)
  for (const { label, names, items } of lists) {
    if (lists.length > 1) out.line(`\n${out.colour.dim(label)}`)
    out.list(
      labelsOf(names).map(name => name.toUpperCase()),
      items.map(item => names.map(name => cell(item, name))),
    )
  }
}

function recordsIn(value: unknown): { names: string[]; items: Fields[] } | null {
  if (!Array.isArray(value)) return null
  const [first] = value
  return typeof first === 'object' && first !== null ? { names: Object.keys(first), items: value } : null
}

/**
 * `lastCheckPassedAt` → `last check passed at`. A nested field is shown by its last name, with that of its owner where
 * that says nothing alone, or another field has it too: `data` says nothing either. The slug of another thing stands for it.
 * @internal Tested with all rows.
 */
export function labelsOf(paths: readonly string[]): string[] {
  const lasts = paths.map(path => path.split('.').at(-1))
  return paths.map((path, at) => labelOf(path, lasts.indexOf(lasts[at]) !== lasts.lastIndexOf(lasts[at])))
}

function labelOf(path: string, isShared: boolean): string {
  const [last = '', within = ''] = path.split('.').reverse()
  const owner = within === 'data' ? '' : within
  if (last === 'slug' && owner !== '') return owner
  const word = isShared || ['id', 'name', 'email', 'reason', 'status'].includes(last) ? `${owner} ${last}`.trim() : last
  return word.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).replace(/^is /, '')
}

function cell(item: Fields, path: string): string {
  const names = path.split('.')
  const value = ownerOf(item, names)?.[names.at(-1)!]
  if (value === null || value === undefined) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' && isPrice(names.at(-1)!)) {
    const currency = ownerOf(item, names)?.currency
    return typeof currency === 'string' ? `${money(value)} ${plain(currency)}` : money(value)
  }
  return Array.isArray(value) ? value.map(wordsOf).join('; ') || '-' : wordsOf(value)
}

const ownerOf = (item: Fields, names: readonly string[]) =>
  names.slice(0, -1).reduce<Fields | null | undefined>((inner, name) => inner?.[name] as Fields | undefined, item)

/** A text, or a record: by what names it, else by all that it says. */
function wordsOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return plain(String(value))
  const record = value as Fields
  const naming = ['name', 'text'].find(field => typeof record[field] === 'string')
  return naming
    ? cell(record, naming)
    : Object.keys(record)
        .map(field => cell(record, field))
        .join(' ')
}
