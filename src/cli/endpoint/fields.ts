/** The input of an endpoint's command: its words, flags and file as fields. The marketplace validates the values. */
import * as z from 'zod'
import type { Endpoint } from '../../api/endpoint.ts'
import { UsageError } from '../../settings/config.ts'
import { attributeOf, flagIn } from '../command-line/filled-by.ts'
import { objectIn } from '../command-line/json-input.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { centsIn, isPrice } from '../output/numbers.ts'
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
    throw new UsageError(`Say what to change. See: ${nextSteps.helpOf(name)}`)
  }
  return fields
}

/** Throws a UsageError that names the flags of fields that the endpoint requires and nothing gives. `orElse`: what else may be done. */
export function refuseMissing(
  { name, flags = [], file }: Pick<EndpointRow, 'name' | 'flags' | 'file'>,
  { body }: Endpoint,
  fields: Fields,
  orElse = '',
): void {
  const shape: Record<string, z.ZodType> = body instanceof z.ZodObject ? body.shape : {}
  const missing = Object.keys(shape)
    .filter(field => fields[field] === undefined && !shape[field]!.safeParse(undefined).success)
    .flatMap(field => flags.find(([, , sets]) => sets === field)?.[0] ?? [])
    .map(flagIn)
  if (missing.length === 0) return
  const how = file
    ? `Give ${missing.length > 1 ? 'them as flags' : 'it as a flag'}, or all fields in --file FILE${orElse}.`
    : `See: ${nextSteps.helpOf(name)}`
  throw new UsageError(`${name} needs ${missing.join(', ')}. ${how}`)
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
        throw new UsageError(`${flagIn(text)} contradicts another flag. See: ${nextSteps.helpOf(name)}`)
    }
    Object.assign(fields, more)
  }
  return fields
}

/** A flag with `...` gives a list. */
const givenValue = (record: Endpoint, field: string, given: unknown, flag: string) =>
  Array.isArray(given) ? given : fieldValue(record, field, String(given), flag)

/** Converts the text to a number if the field takes one and the text is one. Money is written as 5.00. */
function fieldValue({ body }: Endpoint, field: string, text: string, flag = field): unknown {
  if (isPrice(field)) return centsIn(text, flagIn(flag))
  const shape = body instanceof z.ZodObject ? (body.shape[field] as z.ZodType | undefined) : undefined
  const isNumber = shape !== undefined && !shape.safeParse(text).success && /^-?\d{1,15}$/.test(text)
  return isNumber ? Number(text) : text
}
