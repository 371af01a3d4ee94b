/** Makes a verb's input from the parameters, the query and the body of a request. */
import type * as z from 'zod'
import type { Endpoint } from '../api/endpoint.ts'
import { type FieldErrors, invalid, refuse } from '../api/failures.ts'
import type { KeptFile } from '../api/file-kinds.ts'
import { parseBody } from '../api/json.ts'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../api/signature.ts'
import type { Signed } from '../market/verb.ts'
import type { WebRequest } from './answer.ts'
import { onlyHeader } from './credentials.ts'
import type { Upload } from './multipart.ts'

const PARAM_MAX = 200
const TIMESTAMP = TIMESTAMP_HEADER.toLowerCase()
const SIGNATURE = SIGNATURE_HEADER.toLowerCase()

export interface Input {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly signed?: Signed
  readonly files?: readonly KeptFile[]
}

/** `upload` is there if the body was multipart. */
export type ReadInput = (req: WebRequest, bytes: Buffer | null, upload?: Upload | null) => Input

/** What can be known of a record's input before any request: built once. The reader throws refusals. */
export function inputReader(record: Endpoint): ReadInput {
  const what = kindOf(record.path)
  const names = record.query ? Object.keys(record.query.shape) : []
  const { query: querySchema, body: bodySchema, multipart: formSchema, auth } = record
  return (req, bytes, upload) => {
    const { params } = req
    for (const name in params) {
      const value = params[name]!
      if (value.length > PARAM_MAX || value.includes('\0')) throw refuse('not_found', what)
    }
    const signed = auth === 'signature' ? readSigned(req, bytes) : undefined
    const raw = bodySchema && !signed && bytes ? parseBody(bytes, req.headers['content-type']) : undefined
    const errors: FieldErrors = Object.create(null)
    const query = querySchema ? readQuery(querySchema, names, req.query, errors) : {}
    const body =
      upload && formSchema
        ? readForm(formSchema, upload, errors)
        : raw && bodySchema && check(bodySchema, raw, errors, 'body')
    for (const _ in errors) throw invalid(errors)
    if (formSchema) return { params, query, body, files: upload?.files ?? [] }
    return signed ? { params, query, body, signed } : { params, query, body }
  }
}

const readSigned = (req: WebRequest, bytes: Buffer | null): Signed => ({
  timestamp: onlyHeader(req, TIMESTAMP),
  signature: onlyHeader(req, SIGNATURE),
  type: req.headers['content-type'],
  raw: bytes ?? Buffer.alloc(0),
})

function readQuery(schema: z.ZodType, names: string[], given: WebRequest['query'], errors: FieldErrors): unknown {
  const known: Record<string, unknown> = {}
  for (const name of names) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined) continue
    if (typeof value !== 'string') addError(errors, name, 'must be given once')
    else if (value.includes('\0')) addError(errors, name, 'must not contain NUL')
    else known[name] = value
  }
  return check(schema, known, errors, 'query')
}

/** A form may leave its content out where it brings a file. Source: D21. */
function readForm(schema: z.ZodType, { fields, files }: Upload, errors: FieldErrors): unknown {
  if (fields.content === undefined && files.length === 0) addError(errors, 'content', 'is required without a file')
  return check(schema, fields, errors, 'body')
}

function check(schema: z.ZodType, value: unknown, errors: FieldErrors, whole: string): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  for (const { path, message } of result.error.issues) {
    const [field, ...rest] = path
    const where = rest.map(part => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
    addError(errors, field === undefined ? whole : String(field), where ? `${where} ${message}` : message)
  }
  return undefined
}

function addError(errors: FieldErrors, field: string, message: string) {
  errors[field] ??= []
  const messages = errors[field]
  if (!messages.includes(message)) messages.push(message)
}

/** `/api/tasks/:id/approve` → `task`: what is not there when the parameter can't be an id. */
function kindOf(path: string): string {
  const plural = /([^/]+)\/:/.exec(path)?.[1] ?? 'thing'
  return plural.replace(/ies$/, 'y').replace(/s$/, '')
}
