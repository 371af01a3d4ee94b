/** Runs a command for one endpoint: builds the input, calls the typed client, prints a table or lines. */
import * as z from 'zod'
import type { Endpoint } from '../api/endpoint.ts'
import { endpoints } from '../api/endpoints/index.ts'
import type { Pagination } from '../client/client.ts'
import { UsageError } from '../config.ts'
import { type Connection, connected } from './connection.ts'
import type { EndpointRow, RowFlags } from './endpoint-row.ts'
import { exitCodes, Fault } from './exit-codes.ts'
import { money, plain } from './ui.ts'

type Fields = Record<string, unknown>
type Call = (input: Fields) => Promise<unknown>

export async function runRow(row: EndpointRow, words: readonly string[], flags: RowFlags): Promise<number> {
  const record: Endpoint = endpoints[row.endpoint]
  const input = fieldsOf(row, record, words, flags)
  return connected(flags, row.person, async connection => {
    const { client, answer, found, openSession } = connection
    if (record.auth === 'session' && !(await openSession())) throw sessionNeeded(row.name, found.url)
    const data = await (client[row.endpoint] as Call)(input)
    answer(data, () => (record.list ? showList(connection, row, data) : showRecord(connection, row, data)))
    return row.proves && !(data as Fields)[row.proves] ? exitCodes.check : exitCodes.ok
  })
}

const sessionNeeded = (name: string, url: string) =>
  new Fault(`${name} takes no key: it needs a signed-in session`, {
    code: exitCodes.auth,
    hint: `Sign in: marketplace login --url ${url}`,
  })

/** Maps words and flags to fields. The marketplace validates the values. */
function fieldsOf(
  { name, takes, flags: known = [] }: EndpointRow,
  record: Endpoint,
  words: readonly string[],
  flags: RowFlags,
): Fields {
  const fields: Fields = takes ? { [takes[1]]: fieldValue(record, takes[1], words[0] ?? '') } : {}
  for (const [text, , sets] of known) {
    const given = flags[attributeOf(text)]
    if (given === undefined) continue
    const more = typeof sets === 'string' ? { [sets]: fieldValue(record, sets, String(given)) } : sets
    for (const field of Object.keys(more)) {
      if (field in fields) throw new UsageError(`${text} contradicts another flag. See: marketplace ${name} --help`)
    }
    Object.assign(fields, more)
  }
  const needsSome = record.method === 'PUT' && Object.keys(fields).length === 1
  if (needsSome) throw new UsageError(`Say what is to change. See: marketplace ${name} --help`)
  return fields
}

/** `--refund-amount <cents>` → `refundAmount`, which is commander's name for it. */
const attributeOf = (flags: string) =>
  flags
    .split(' ', 1)[0]!
    .slice(2)
    .replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Converts the text to a number if the field takes one and the text is one. */
function fieldValue({ body }: Endpoint, field: string, text: string): unknown {
  const shape = body instanceof z.ZodObject ? (body.shape[field] as z.ZodType | undefined) : undefined
  const isNumber = shape !== undefined && !shape.safeParse(text).success && /^-?\d{1,15}$/.test(text)
  return isNumber ? Number(text) : text
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
 * needed.
 */
function labelOf(path: string): string {
  const [last = '', owner = ''] = path.split('.').reverse()
  const word = ['id', 'name', 'reason', 'status'].includes(last) ? `${owner} ${last}`.trim() : last
  return word.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
}

/** Fields with money, which is in cents. */
const PRICES = new Set(['amount', 'agreedPrice', 'basePrice', 'balance', 'heldBalance', 'refundAmount'])

function cell(item: Fields, path: string): string {
  const names = path.split('.')
  const value = names.reduce<unknown>((inner, name) => (inner as Fields | null | undefined)?.[name], item)
  if (value === null || value === undefined) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' && PRICES.has(names.at(-1)!)) return money(value)
  return plain(Array.isArray(value) ? value.join('; ') || '-' : String(value))
}
