/** The shapes of the interface as JSON Schema 2020-12, with the records as named parts. */

import * as moneyRecords from '../money-records.ts'
import * as records from '../records.ts'
import * as z from '../zod.ts'

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
  [...Object.entries(records), ...Object.entries(moneyRecords)].flatMap(([name, value]) =>
    typeof value === 'function' ? [[value(), capital(name)]] : [],
  ),
)

/** Adds the name to a record's metadata and keeps its description. */
const metadata = {
  get(schema: z.ZodType) {
    const given = z.globalRegistry.get(schema)
    const name = names.get(schema)
    return name === undefined ? given : { ...given, id: name }
  },
} as unknown as typeof z.globalRegistry

/** The schema of what a client sends. `parts` receives the named schemas that it refers to. */
export const inputSchema = (schema: z.ZodType, parts: Record<string, JsonSchema>) => schemaOf(schema, 'input', parts)

/** The schema of what a client gets. Later versions may add fields, so unknown ones are allowed. */
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

/** The keywords of JSON Schema that the interface uses. */
const formats: ReadonlySet<string> = new Set(['date-time', 'uri', 'email', 'binary'])

/** Leaves out keywords that tell a reader nothing. `wire` in a shape's metadata replaces its schema. */
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
  // Zod writes its own rules there too, besides a pattern with the same meaning.
  if (schema.format !== undefined && !formats.has(schema.format)) delete schema.format
}
