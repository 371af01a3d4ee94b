/** Parses and validates the path parameters, the query and the body of a request. */

import type * as z from 'zod'
import type { Endpoint } from '../api/endpoint.ts'
import { type FieldErrors, invalid, refuse } from '../api/failures.ts'
import type { KeptFile } from '../api/file-kinds.ts'
import { parseBody, parseForm, proveJson } from '../api/json.ts'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../api/signature.ts'
import { grouped } from '../api/spans.ts'
import type { SignedCallback } from '../market/verb.ts'
import { onlyHeader } from './credentials.ts'
import type { Upload } from './multipart.ts'
import type { Call, WebRequest } from './response.ts'

const PARAM_MAX = 200
const TIMESTAMP = TIMESTAMP_HEADER.toLowerCase()
const SIGNATURE = SIGNATURE_HEADER.toLowerCase()

export interface Input {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly signed?: SignedCallback
  readonly files?: readonly KeptFile[]
}

/** `body`: the raw bytes, or the fields and files of a multipart body. */
export type ReadInput = (call: Pick<Call, 'req' | 'query'>, body: Buffer | Upload) => Input

/** Of a verb that a page asks for all it has. */
export const noInput = { params: {}, query: {}, body: undefined } as const

/** Of a verb that a page asks for one thing. */
export const inputOfId = (id: string) => ({ ...noInput, params: { id } })

/** Whether each path parameter can be an id, so that the database may be asked for it. */
export function hasPlainParams({ params }: WebRequest): boolean {
  for (const name in params) {
    const value = params[name]!
    if (value.length > PARAM_MAX || value.includes('\0')) return false
  }
  return true
}

/** Returns the function that reads a record's input. It throws refusals. Built once per record, and asks for its shapes when a request comes. */
export function inputReader(record: Endpoint): ReadInput {
  const what = kindOf(record.path)
  const parse = record.form ? parseForm : parseBody

  const readBody = (bytes: Buffer, type: string | undefined, faults: Faults): unknown => {
    if (record.body) return check(record.body, parse(bytes, type), faults, 'body')
    proveJson(bytes, type)
    return undefined
  }

  return (call, given) => {
    const { req } = call
    if (!hasPlainParams(req)) throw refuse('not_found', what)
    const { params } = req
    const { query: querySchema, multipart: formSchema, auth } = record
    const faults = new Faults()
    const query = querySchema ? readQuery(querySchema, call.query, faults) : {}
    if (!Buffer.isBuffer(given)) {
      const body = formSchema && readForm(formSchema, given, faults)
      faults.throwIfAny()
      return { params, query, body, files: given.files }
    }
    const signed = auth === 'signature' ? readSigned(req, given) : undefined
    const body = signed ? undefined : readBody(given, req.headers['content-type'], faults)
    faults.throwIfAny()
    if (signed) return { params, query, body, signed }
    return formSchema ? { params, query, body, files: [] } : { params, query, body }
  }
}

const readSigned = (req: WebRequest, raw: Buffer): SignedCallback => ({
  timestamp: onlyHeader(req, TIMESTAMP),
  signature: onlyHeader(req, SIGNATURE),
  type: req.headers['content-type'],
  raw,
  sender: { agentId: null, fault: null },
  rawHeaders: req.rawHeaders,
})

function readQuery(schema: z.ZodObject, given: Call['query'], faults: Faults): unknown {
  const known: Record<string, unknown> = {}
  for (const name in schema.shape) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined) continue
    if (typeof value !== 'string') faults.add(name, 'must be given once')
    else if (value.includes('\0')) faults.add(name, 'must not contain NUL')
    else known[name] = value
  }
  return check(schema, known, faults, 'query')
}

/** A form needs no content if it has a file. Source: A-21. */
function readForm(schema: z.ZodType, { fields, files }: Upload, faults: Faults): unknown {
  const { content, ...rest } = fields
  if (content === undefined && files.length === 0) faults.add('content', 'is required without a file')
  // Browsers send an empty field too. With a file, it counts as no content.
  return check(schema, content === '' && files.length > 0 ? rest : fields, faults, 'body')
}

function check(schema: z.ZodType, value: unknown, faults: Faults, whole: string): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  for (const { path, message } of result.error.issues) {
    const [field, ...rest] = path
    const where = rest.map(part => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
    faults.add(field === undefined ? whole : String(field), where ? `${where} ${message}` : message)
  }
  return undefined
}

/** The body of an endpoint, out of values that came another way. Throws a refusal. */
export function bodyOf<Shape extends z.ZodType>(shape: Shape, value: unknown): z.infer<Shape> {
  const faults = new Faults()
  const body = check(shape, value, faults, 'body')
  faults.throwIfAny()
  return body as z.infer<Shape>
}

/** `/api/tasks/:id/approve` → `task`. Names what was not found if the parameter can't be an id. */
function kindOf(path: string): string {
  const plural = /([^/]+)\/:/.exec(path)?.[1] ?? 'thing'
  return plural.replace(/ies$/, 'y').replace(/s$/, '')
}

/** @internal A test sends one fault more. */
export const MAX_MESSAGES = 20

class Faults {
  readonly #errors: FieldErrors = Object.create(null)
  #last: string[] = []
  #count = 0
  #omitted = 0

  /** Adds a message. A field gets the same message only once. */
  add(field: string, message: string): void {
    if (this.#count === MAX_MESSAGES) {
      this.#omitted++
      return
    }
    this.#errors[field] ??= []
    const messages = this.#errors[field]
    if (messages.includes(message)) return
    messages.push(message)
    this.#last = messages
    this.#count++
  }

  throwIfAny(): void {
    if (this.#count === 0) return
    if (this.#omitted > 0) this.#last.push(`and ${grouped(this.#omitted)} more`)
    throw invalid(this.#errors)
  }
}
