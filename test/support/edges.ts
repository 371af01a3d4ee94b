/** Values at the edge of a rule and one beyond it, and what must be answered to them. */
import * as assert from 'uvu/assert'
import * as z from 'zod'
import type { Answer } from '../../src/sim/http-user.ts'

/** Sends one value of a field; undefined leaves the field out. A `Raw` goes into the JSON as it is written. */
export type Send = (value: unknown) => Promise<Answer<unknown>>

export class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A JSON body with one field set. */
export function bodyWith(base: object, field: string, value: unknown): string {
  if (!(value instanceof Raw)) return JSON.stringify({ ...base, [field]: value })
  return JSON.stringify({ ...base, [field]: '@raw@' }).replace('"@raw@"', value.text)
}

export async function accepts(send: Send, ...values: unknown[]): Promise<void> {
  for (const value of values) {
    const { status, error, errors } = await send(value)
    assert.ok(status === 200 || status === 201, `${brief(value)}: ${status} ${error} ${JSON.stringify(errors)}`)
  }
}

/** 400 with the text of I-validation, and messages for this field alone. */
export async function refuses(send: Send, field: string, ...values: unknown[]): Promise<void> {
  for (const value of values) {
    const { status, success, error, errors } = await send(value)
    assert.equal([status, success, error], [400, false, 'Validation failed'], `${field} = ${brief(value)}`)
    assert.equal(Object.keys(errors ?? {}), [field], brief(value))
    assert.ok(errors![field]!.length > 0 && errors![field]!.every(message => message.length > 3))
  }
}

const wrongTypes = [5, true, [], {}, ['a long enough text for any field']]

/** What fills a text, over and over: one character, or more where one would not do. */
interface Filler {
  plain: string
  wide: string
}

const filled = (text: string, length: number) => [...text.repeat(length)].slice(0, length).join('')

/** A text of `min` to `max` characters, which are code points. `optional` ones may be left out. */
export async function textRule(
  send: Send,
  field: string,
  [min, max]: [number, number],
  optional = min === 0,
  { plain, wide }: Filler = { plain: 'x', wide: '😀' },
) {
  await refuses(send, field, 'x'.repeat(max + 1), '😀'.repeat(max + 1), ...wrongTypes)
  if (min > 0) await refuses(send, field, 'x'.repeat(min - 1), ' '.repeat(Math.max(min, 3)), '\n\t'.repeat(min))
  if (min > 1) await refuses(send, field, '😀'.repeat(min - 1))
  await refuses(send, field, `${'x'.repeat(Math.max(min, 2) - 1)}\0`, `${'x'.repeat(Math.max(min, 2) - 1)}\ud800`)
  if (!optional) await refuses(send, field, undefined, null)
  await accepts(send, filled(plain, Math.max(min, 1)), filled(plain, max), filled(wide, max))
  if (min === 0) await accepts(send, '')
  // Nothing is trimmed: the blanks count.
  if (min > 1) await accepts(send, ` ${filled(plain, Math.max(1, min - 2))}${min > 2 ? ' ' : ''}`)
  if (optional) await accepts(send, undefined)
}

/** An integer of `min` to `max`. */
export async function integerRule(send: Send, field: string, [min, max]: [number, number], optional = false) {
  await refuses(send, field, min - 1, max + 1, min + 0.5, String(min), true, [min], {}, -min - 1)
  await refuses(send, field, 2 ** 53, new Raw('1e400'), new Raw('-1e400'), '')
  if (!optional) await refuses(send, field, undefined, null)
  await accepts(send, min, max, new Raw(`${min}.0`), new Raw(`${min}e0`))
  if (optional) await accepts(send, undefined)
}

/** The rule that the shape of a field says; undefined if it is no text and no integer. */
export function ruleOfShape(shape: z.ZodType): ((send: Send, field: string) => Promise<void>) | undefined {
  const schema = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' })
  const isNullable = schema.anyOf?.some(one => (one as { type?: string }).type === 'null') ?? false
  const one = { ...schema, ...(schema.anyOf?.[0] as z.core.JSONSchema.JSONSchema) }
  const isOptional = shape.safeParse(undefined).success
  const rule =
    one.type === 'string' && one.maxLength !== undefined
      ? (send: Send, field: string) => textRule(send, field, [one.minLength ?? 0, one.maxLength!], isOptional)
      : one.type === 'integer'
        ? (send: Send, field: string) => integerRule(send, field, [one.minimum!, one.maximum!], isOptional)
        : undefined
  return (
    rule &&
    (async (send, field) => {
      await rule(send, field)
      await (isNullable ? accepts(send, null) : refuses(send, field, null))
    })
  )
}

const brief = (value: unknown) => {
  const text = value instanceof Raw ? value.text : (JSON.stringify(value) ?? 'left out')
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text
}
