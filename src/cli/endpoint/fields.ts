/** The input of an endpoint's command: its words, flags and file as fields. The marketplace validates the values. */
import * as z from 'zod'
import type { Endpoint } from '../../api/endpoint.ts'
import { programName, UsageError } from '../../config.ts'
import { objectIn } from '../json-input.ts'
import { centsIn, isPrice } from '../output/money.ts'
import type { EndpointRow, RowFlags } from './row.ts'

export type Fields = Record<string, unknown>

/** Throws a UsageError if flags contradict each other, or if a change says nothing to change. */
export async function fieldsOf(
  row: Pick<EndpointRow, 'name' | 'takes' | 'sets' | 'flags'>,
  record: Endpoint,
  words: readonly string[],
  flags: RowFlags,
): Promise<Fields> {
  const { name, takes = [] } = row
  const named = Object.fromEntries(takes.map(([, field], at) => [field, fieldValue(record, field, words[at] ?? '')]))
  const fields = { ...(await fileFields(record, flags)), ...row.sets, ...named, ...flagFields(row, record, flags) }
  if (record.method === 'PUT' && Object.keys(fields).length === takes.length) {
    throw new UsageError(`Say what is to change. See: ${programName()} ${name} --help`)
  }
  return fields
}

async function fileFields({ body }: Endpoint, { file }: RowFlags): Promise<Fields> {
  if (typeof file !== 'string') return {}
  const fields = await objectIn('--file', file)
  const known = body instanceof z.ZodObject ? Object.keys(body.shape) : []
  const strange = Object.keys(fields).filter(field => !known.includes(field))
  if (strange.length === 0) return fields
  throw new UsageError(`--file names ${strange.join(', ')}, which is not known here. The fields: ${known.join(', ')}.`)
}

function flagFields(
  { name, flags: known = [] }: Pick<EndpointRow, 'name' | 'flags'>,
  record: Endpoint,
  flags: RowFlags,
): Fields {
  const fields: Fields = {}
  for (const [text, , sets] of known) {
    const given = flags[attributeOf(text)]
    if (given === undefined) continue
    const more = typeof sets === 'string' ? { [sets]: givenValue(record, sets, given, text) } : sets
    for (const field of Object.keys(more)) {
      if (field in fields)
        throw new UsageError(`${text} contradicts another flag. See: ${programName()} ${name} --help`)
    }
    Object.assign(fields, more)
  }
  return fields
}

/** `--refund-amount <cents>` → `refundAmount`, which is commander's name for it. */
export const attributeOf = (flags: string) =>
  flags
    .split(' ', 1)[0]!
    .slice(2)
    .replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A flag with `...` gives a list. */
const givenValue = (record: Endpoint, field: string, given: unknown, flag: string) =>
  Array.isArray(given) ? given : fieldValue(record, field, String(given), flag)

/** Converts the text to a number if the field takes one and the text is one. Money may be written in cents or as 5.00. */
function fieldValue({ body }: Endpoint, field: string, text: string, flag = field): unknown {
  if (isPrice(field)) return centsIn(text, flag.split(' ', 1)[0]!)
  const shape = body instanceof z.ZodObject ? (body.shape[field] as z.ZodType | undefined) : undefined
  const isNumber = shape !== undefined && !shape.safeParse(text).success && /^-?\d{1,15}$/.test(text)
  return isNumber ? Number(text) : text
}
