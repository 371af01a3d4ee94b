/** Turns one record into an OpenAPI operation. */
import type * as z from 'zod'
import { type Auth, acceptsIdempotencyKey, type Endpoint } from '../endpoint.ts'
import type { FailureName } from '../failures.ts'
import { durations, limits, type RateCategory, rates } from '../limits.ts'
import { inHours } from '../spans.ts'
import { exampleOf } from './examples.ts'
import { groupOf } from './groups.ts'
import { inputSchema, type JsonSchema } from './json-schema.ts'
import { type Content, type Response, responsesOf } from './responses.ts'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

export interface RequestBody {
  required: boolean
  content: Record<string, Content>
}

interface Rate {
  category: RateCategory
  limit: number
  windowMs: number
}

export interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Readonly<Record<string, readonly string[]>>[]
  parameters: Parameter[]
  requestBody?: RequestBody
  responses: Record<string, Response>
  'x-rate-limit': Rate
  /** The rate limit of a request with a multipart body. */
  'x-rate-limit-multipart'?: Rate
  'x-source': string
}

const security: Record<Auth, Operation['security']> = {
  public: [],
  'key-or-session': [{ apiKey: [] }, { session: [] }],
  key: [{ apiKey: [] }],
  session: [{ session: [] }],
  signature: [{ signature: [], timestamp: [] }],
}

/** `parts` receives the named schemas that the operation refers to, `used` its refusals. */
export function operationOf(
  name: string,
  record: Endpoint,
  parts: Record<string, JsonSchema>,
  used: Set<FailureName>,
): Operation {
  const body = bodyOf(name, record, parts)
  return {
    operationId: name,
    summary: record.summary,
    description: descriptionOf(record),
    tags: [groupOf(record.path).name],
    security: security[record.auth],
    parameters: parametersOf(record, parts),
    ...(body && { requestBody: body }),
    responses: responsesOf(name, record, parts, used),
    'x-rate-limit': rateOf(record.rate),
    ...(record.rateOfMultipart && { 'x-rate-limit-multipart': rateOf(record.rateOfMultipart) }),
    'x-source': record.source,
  }
}

const rateOf = (category: RateCategory): Rate => ({ category, ...rates[category] })

const who: Record<Auth, string> = {
  public: 'Anyone may call it',
  'key-or-session': 'Takes an API key or a session',
  key: 'Takes an API key only',
  session: 'Takes a session only',
  signature: "Takes a request signed with the agent's webhook secret",
}

function descriptionOf({ auth, role, description, whenSuspended, only }: Endpoint): string {
  const needs = role === 'builder' ? '; needs the builder role' : role === 'admin' ? '; for administrators' : ''
  const closed = whenSuspended ? ' Closed to suspended accounts.' : ''
  const where = only === 'dev' ? ' Exists in the local simulator alone.' : ''
  return `${description ? `${description} ` : ''}${who[auth]}${needs}.${closed}${where}`
}

function parametersOf(record: Endpoint, parts: Record<string, JsonSchema>): Parameter[] {
  const inPath = [...record.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name: name!,
    in: 'path' as const,
    required: true,
    schema: { type: 'string', maxLength: 200 },
  }))
  const { properties = {} } = record.query ? inputSchema(record.query, parts) : {}
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query' as const,
    required: false,
    schema,
  }))
  const headers = [...(acceptsIdempotencyKey(record) ? [idempotencyKey] : []), ...(record.stream ? [lastEventId] : [])]
  return [...inPath, ...inQuery, ...headers]
}

const lastEventId: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last event that was read; the stream goes on behind it',
  schema: { type: 'string' },
}

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: `The same key with the same body within ${inHours(durations.idempotency.keptMs)} gets the first answer, and has no second effect`,
  schema: { type: 'string' },
}

function bodyOf(name: string, record: Endpoint, parts: Record<string, JsonSchema>): RequestBody | undefined {
  const shape = record.signed ?? record.body
  if (!shape) return undefined
  const schema = inputSchema(shape, parts)
  const example = record.example ?? exampleOf(schema, parts, name)
  const form = record.multipart && { 'multipart/form-data': { schema: formOf(record.multipart, parts) } }
  return { required: !shape.safeParse({}).success, content: { 'application/json': { schema, example }, ...form } }
}

/** Returns the schema of a form: its fields and its files. Source: A-21. */
function formOf(shape: z.ZodObject, parts: Record<string, JsonSchema>): JsonSchema {
  const { properties, ...rest } = inputSchema(shape, parts)
  const { files: maxItems, fileBytes } = limits.deliverable
  const file = { type: 'string', contentMediaType: 'application/octet-stream', maxLength: fileBytes }
  return { ...rest, properties: { ...properties, files: { type: 'array', maxItems, items: file } } }
}
