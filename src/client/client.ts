/** A client of the whole interface, made from its records: one typed method for each endpoint. Retries nothing by itself. */

import type { Endpoint } from '../api/endpoint.ts'
import type { FileToSend, InputFor, Pagination, ReceivedFile, ReplyFor } from '../api/endpoints/calls.ts'
import { type EndpointName, type Endpoints, endpoints } from '../api/endpoints/index.ts'
import type { FieldErrors } from '../api/failures.ts'
import { signatureHeaders } from '../api/signature.ts'
import {
  type Answer,
  answerIn,
  type By,
  type Credentials,
  type Method,
  type Sending,
  Transport,
  type TransportOptions,
} from './transport.ts'

export type { CallInput, CallReply, FileToSend, Pagination, ReceivedFile } from '../api/endpoints/calls.ts'
export { type Answer, type By, type Credentials, type Fetch, UnreachableError } from './transport.ts'

/** An answer that was not a success. Source: I-status-bad. */
export class MarketplaceError extends Error {
  readonly status: number
  /** Field name → what is wrong with it, when the validation failed. */
  readonly errors: FieldErrors | undefined
  readonly requestId: string | undefined
  /** How long to wait before asking again, when there were too many requests. */
  readonly retryAfterMs: number | undefined

  constructor({ status, headers, error, errors }: Answer) {
    super(error ?? `The marketplace answered ${status}`)
    this.name = 'MarketplaceError'
    this.status = status
    this.errors = errors
    this.requestId = headers.get('x-request-id') ?? undefined
    const seconds = headers.get('retry-after')
    this.retryAfterMs = seconds === null ? undefined : Number(seconds) * 1000
  }
}

export interface CallOptions {
  /** The same key with the same body within 24 hours has no second effect. Source: A-39. */
  idempotencyKey?: string
  /** The key where the endpoint takes one and there is one, else the session. */
  by?: By
  signal?: AbortSignal
}

export interface SignedOptions extends Pick<CallOptions, 'signal'> {
  /** The whole `whsec_…` of the agent. */
  secret: string
  /** Unix ms; the machine's clock unless given. */
  timestampMs?: number
}

/** The page that was asked for, or with `for await` that page and every later one. */
export type Pages<Page> = Promise<Page> & AsyncIterable<Page>

type ResultFor<E extends Endpoint> = E['list'] extends string ? Pages<ReplyFor<E>> : Promise<ReplyFor<E>>

type MethodFor<E extends Endpoint> = E['auth'] extends 'signature'
  ? (input: InputFor<E>, options: SignedOptions) => ResultFor<E>
  : Record<never, never> extends InputFor<E>
    ? (input?: InputFor<E>, options?: CallOptions) => ResultFor<E>
    : (input: InputFor<E>, options?: CallOptions) => ResultFor<E>

export type Client = { readonly [Name in EndpointName]: MethodFor<Endpoints[Name]> } & {
  /** What goes along with requests; may be changed at any time. Signing in sets the session. */
  readonly credentials: Credentials
  /** Any request, by its path. Resolves to the whole answer, refusals included. */
  request<Data = unknown>(method: Method, path: string, sending?: Sending): Promise<Answer<Data>>
}

/** Methods reject with a MarketplaceError for what was refused, with an UnreachableError where nobody answered. */
export const createClient = (options: TransportOptions): Client => clientOn(new Transport(options))

/** A client that shares its credentials with whoever else uses the transport. */
export function clientOn(transport: Transport): Client {
  const records = Object.entries(endpoints) as [EndpointName, Endpoint][]
  const methods = Object.fromEntries(records.map(([name, record]) => [name, methodOf(transport, name, record)]))
  const request: Client['request'] = (method, path, sending) => transport.ask(method, path, sending)
  return { ...methods, credentials: transport.credentials, request } as Client
}

type Input = Readonly<Record<string, unknown>>
type Options = CallOptions & Partial<SignedOptions>

function methodOf(transport: Transport, name: string, record: Endpoint) {
  const call = async (input: Input, options: Options) => {
    const { path, body } = requestOf(name, record, input)
    const { signal } = options
    const headers = headersOf(record, body, options)
    const by = options.by ?? usualBy(record, transport.credentials)
    const reply = await transport.send(record.method, path, { body, by, headers, signal })
    if (record.download && reply.ok) return fileIn(reply)
    const answer = await answerIn(reply)
    if (answer.success) return answer.data
    throw new MarketplaceError(answer)
  }
  if (record.list === undefined) return async (input: Input = {}, options: Options = {}) => call(input, options)
  return (input: Input = {}, options: Options = {}) => pagesOf(page => call({ ...input, ...page }, options))
}

/** Says where each field of the input goes. Throws if a part of the path is missing. */
function requestOf(name: string, { path, query, body, signed }: Endpoint, input: Input) {
  const rest = { ...input }
  const take = (field: string) => {
    const value = rest[field]
    delete rest[field]
    return value
  }
  const filled = path.replaceAll(/:(\w+)/g, (_, field: string) => {
    const value = take(field)
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} needs ${field}`)
    return encodeURIComponent(value)
  })
  const asked = new URLSearchParams()
  for (const field of query ? Object.keys(query.shape) : []) {
    const value = take(field)
    if (value !== undefined) asked.set(field, String(value))
  }
  return { path: asked.size > 0 ? `${filled}?${asked}` : filled, body: body || signed ? bodyOf(rest) : undefined }
}

/** With files it is a form, else JSON. */
function bodyOf({ files, ...fields }: { files?: readonly FileToSend[] } & Input): string | FormData {
  if (!files) return JSON.stringify(fields)
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (typeof value === 'string') form.append(name, value)
  for (const { name, content } of files) form.append('files', new Blob([content]), name)
  return form
}

async function fileIn(reply: Response): Promise<ReceivedFile> {
  const { headers } = reply
  const given = headers.get('content-disposition') ?? ''
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(given)?.[1]
  const name = encoded === undefined ? /filename="([^"]*)"/i.exec(given)?.[1] : decodeURIComponent(encoded)
  const bytes = new Uint8Array(await reply.arrayBuffer())
  return { name: name ?? '', mimeType: headers.get('content-type') ?? '', bytes }
}

function headersOf(
  { auth }: Endpoint,
  body: string | FormData | undefined,
  { idempotencyKey, secret, timestampMs }: Options,
) {
  const headers: Record<string, string> = {}
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  if (auth !== 'signature') return headers
  if (!secret) throw new TypeError("A signed request needs the agent's webhook secret")
  return { ...headers, ...signatureHeaders(secret, timestampMs ?? Date.now(), body as string) }
}

function usualBy({ auth, sets }: Endpoint, { apiKey }: Credentials): By {
  if (auth === 'signature' || (auth === 'public' && sets)) return 'nobody'
  if (auth === 'key' || auth === 'session') return auth
  return apiKey ? 'key' : 'session'
}

/** The first page is asked for at once, the next ones as they are wanted. */
function pagesOf(ask: (page: { page?: number }) => Promise<unknown>): Pages<unknown> {
  const first = ask({}) as Promise<{ pagination: Pagination }>
  async function* pages() {
    let current = await first
    yield current
    while (current.pagination.hasMore) {
      current = (await ask({ page: current.pagination.page + 1 })) as { pagination: Pagination }
      yield current
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: pages })
}
