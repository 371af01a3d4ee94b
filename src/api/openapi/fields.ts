/** Turns a schema into rows for people: each field, its type and its rules. */
import { type JsonSchema, PARTS } from './json-schema.ts'

export interface Field {
  /** The path with dots, and `[]` after a list. */
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly rules: string
}

/** Returns the fields of an object, each followed by its nested fields. Named records are named, not expanded. */
export function fieldsOf(schema: JsonSchema, prefix = ''): Field[] {
  const { properties = {}, required = [] } = joined(schema)
  return Object.entries(properties).flatMap(([key, schema]) => {
    const name = prefix + key
    const row = { name, type: typeOf(schema), required: required.includes(key), rules: rulesOf(schema) }
    const inner = coreOf(schema)
    return [row, ...(inner.items ? fieldsOf(coreOf(inner.items), `${name}[].`) : fieldsOf(inner, `${name}.`))]
  })
}

/** Merges the fields of several kinds of object. A field is required if each kind requires it. */
function joined(schema: JsonSchema): JsonSchema {
  const { oneOf } = schema
  if (!oneOf) return schema
  const names = [...new Set(oneOf.flatMap(({ properties = {} }) => Object.keys(properties)))]
  const join = (name: string): JsonSchema => {
    const kinds = oneOf.flatMap(({ properties = {} }) => properties[name] ?? [])
    const distinct = [...new Map(kinds.map(kind => [JSON.stringify(kind), kind])).values()]
    return distinct.length === 1 ? distinct[0]! : { oneOf: distinct }
  }
  return {
    properties: Object.fromEntries(names.map(name => [name, join(name)])),
    required: names.filter(name => oneOf.every(({ required = [] }) => required.includes(name))),
  }
}

/** Returns the choice of a union that is not null. */
function coreOf(schema: JsonSchema): JsonSchema {
  return schema.anyOf?.find(({ type }) => type !== 'null') ?? schema
}

/** Returns the type in words: `string or null`, `list of Task`. */
export function typeOf(schema: JsonSchema): string {
  const { anyOf, oneOf, $ref, items, type } = schema
  if ($ref) return $ref.slice(PARTS.length)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const choices = anyOf ?? oneOf
  if (choices) return [...new Set(choices.map(typeOf))].join(' or ')
  if (items) return `list of ${typeOf(items)}`
  if (schema.contentMediaType) return 'file'
  return typeof type === 'string' ? type : (type?.join(' or ') ?? 'any')
}

/** Returns the rules in words: `5–200 characters`, `one of: draft, pending`. */
function rulesOf(schema: JsonSchema): string {
  const {
    minLength,
    maxLength,
    minimum,
    maximum,
    minItems,
    maxItems,
    enum: values,
    format,
    description,
  } = coreOf(schema)
  const rules = [
    description ?? schema.description,
    values && `one of: ${values.join(', ')}`,
    range(minLength, maxLength, 'characters'),
    range(minimum, maximum, ''),
    range(minItems, maxItems, 'items'),
    format && (formats[format] ?? format),
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ]
  return rules.filter(Boolean).join('; ')
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'ISO 8601, UTC',
  uri: 'a URL',
  email: 'an email address',
}

function range(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  const [low, high] = [min, max].map(value => value?.toLocaleString('en'))
  const words = low && high ? `${low}–${high}` : low ? `at least ${low}` : high && `at most ${high}`
  return words && `${words} ${unit}`.trimEnd()
}
