/** The shapes of the interface as JSON Schema 2020-12, with the records of records.ts as named parts. */
import * as z from 'zod'
import * as records from '../records.ts'

export interface JsonSchema {
  type?: string | readonly string[]
  title?: string
  description?: string
  format?: string
  pattern?: string
  const?: unknown
  enum?: readonly unknown[]
  default?: unknown
  examples?: readonly unknown[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: readonly string[]
  additionalProperties?: boolean | JsonSchema
  anyOf?: readonly JsonSchema[]
  oneOf?: readonly JsonSchema[]
  allOf?: readonly JsonSchema[]
  $ref?: string
  contentMediaType?: string
}

export const PARTS = '#/components/schemas/'

const capital = (name: string) => name[0]!.toUpperCase() + name.slice(1)

const names = new Map<unknown, string>(
  Object.entries(records).flatMap(([name, value]) => (value instanceof z.ZodType ? [[value, capital(name)]] : [])),
)

/** A record's own description stays; only its name is added. */
const metadata = {
  get(schema: z.ZodType) {
    const given = z.globalRegistry.get(schema)
    const name = names.get(schema)
    return name === undefined ? given : { ...given, id: name }
  },
} as unknown as typeof z.globalRegistry

/** What a client sends. `parts` receives the named schemas that it refers to. */
export const inputSchema = (schema: z.ZodType, parts: Record<string, JsonSchema>) => schemaOf(schema, 'input', parts)

/** What a client gets. It may hold more fields one day, so unknown ones are not forbidden. */
export const outputSchema = (schema: z.ZodType, parts: Record<string, JsonSchema>) => schemaOf(schema, 'output', parts)

function schemaOf(schema: z.ZodType, io: 'input' | 'output', parts: Record<string, JsonSchema>): JsonSchema {
  const made = z.toJSONSchema(schema, { io, metadata, unrepresentable: 'any', override: tidy })
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = JSON.parse(JSON.stringify(made).replaceAll('"#/$defs/', `"${PARTS}`)) as JsonSchema & {
    $schema?: string
    $defs?: Record<string, JsonSchema>
  }
  for (const [name, part] of Object.entries($defs)) parts[name] = withoutId(part)
  return withoutId(rest)
}

function withoutId({ id: _, ...schema }: JsonSchema & { id?: string }): JsonSchema {
  return schema
}

/** Those of JSON Schema that the interface has. */
const formats: ReadonlySet<string> = new Set(['date-time', 'uri', 'email', 'binary'])

/** Leaves out what says nothing to a reader; `wire` in a shape's metadata says how it looks on the wire. */
function tidy({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: object }): void {
  const schema = jsonSchema as JsonSchema & { wire?: JsonSchema }
  const wire = (z.globalRegistry.get(zodSchema as z.ZodType) as { wire?: JsonSchema } | undefined)?.wire
  if (wire) {
    for (const key of Object.keys(schema)) delete schema[key as keyof JsonSchema]
    Object.assign(schema, wire)
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minLength === 0) delete schema.minLength
  if (schema.additionalProperties === false) delete schema.additionalProperties
  if (schema.format === 'date-time') delete schema.pattern
  // Zod writes its own rules there as well, beside a pattern that says the same.
  if (schema.format !== undefined && !formats.has(schema.format)) delete schema.format
}
