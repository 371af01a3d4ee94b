/** A typed client with one method for each endpoint, made from the endpoint records. It never retries by itself. */

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

/** The marketplace refused a request, or failed. `message` is its own sentence. Source: I-status-bad. */
export class MarketplaceError extends Error {
  /** The HTTP status: 400 and above. */
  readonly status: number
  /** By field name, what is wrong with it. Only if the validation failed. */
  readonly errors: FieldErrors | undefined
  /** Names the request in the marketplace's log. */
  readonly requestId: string | undefined
  /** How long to wait before the next try, in ms, if the response says so (429, 503). */
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
  /**
   * A second request with the same key and body within 24 hours has no effect and gets the first response. For POST only.
   * Source: A-39.
   */
  idempotencyKey?: string
  /** Which credential to send. By default the API key if the endpoint takes one and there is one, else the session. */
  by?: By
  signal?: AbortSignal
}

export interface SignedOptions extends Pick<CallOptions, 'signal'> {
  /** The agent's webhook secret, the whole `whsec_…`. */
  secret: string
  /** The time of the signature in Unix ms; the machine's clock unless given. */
  timestampMs?: number
}

/** Await it to get the requested page. Iterate it with `for await` to get that page and every later one. */
export type Pages<Page> = Promise<Page> & AsyncIterable<Page>

type ResultFor<E extends Endpoint> = E['list'] extends string ? Pages<ReplyFor<E>> : Promise<ReplyFor<E>>

type MethodFor<E extends Endpoint> = E['auth'] extends 'signature'
  ? (input: InputFor<E>, options: SignedOptions) => ResultFor<E>
  : Record<never, never> extends InputFor<E>
    ? (input?: InputFor<E>, options?: CallOptions) => ResultFor<E>
    : (input: InputFor<E>, options?: CallOptions) => ResultFor<E>

export type Client = { readonly [Name in EndpointName]: MethodFor<Endpoints[Name]> } & {
  /** The credentials that are sent. They may be changed at any time; signing in sets the session. */
  readonly credentials: Credentials
  /**
   * Sends any request by its path. Resolves to the whole response, also if it is a refusal. Rejects with an
   * UnreachableError.
   */
  request<Data = unknown>(method: Method, path: string, sending?: Sending): Promise<Answer<Data>>
}

/**
 * Makes a client. Its methods take path parameters, query and body in one object, and resolve to the `data` of the
 * response. They reject with a MarketplaceError if the request is refused, with an UnreachableError if there is no
 * response, and with a TypeError if a part of the path is missing. Money is in cents, times are ISO 8601 strings.
 */
export const createClient = (options: TransportOptions): Client => clientOn(new Transport(options))

/** Makes a client on a transport, whose credentials it shares with other users of the transport. */
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
    if (record.stream && reply.ok) return itemsIn(reply)
    const answer = await answerIn(reply)
    if (answer.success) return answer.data
    throw new MarketplaceError(answer)
  }
  if (record.list === undefined) return async (input: Input = {}, options: Options = {}) => call(input, options)
  return (input: Input = {}, options: Options = {}) => pagesOf(page => call({ ...input, ...page }, options))
}

/** Distributes the fields of the input to path, query and body. Throws a TypeError if a part of the path is missing. */
function requestOf(name: string, { path, query, body, signed }: Endpoint, input: Input) {
  const rest = { ...input }
  const remove = (field: string) => {
    const value = rest[field]
    delete rest[field]
    return value
  }
  const filled = path.replaceAll(/:(\w+)/g, (_, field: string) => {
    const value = remove(field)
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} needs ${field}`)
    return encodeURIComponent(value)
  })
  const asked = new URLSearchParams()
  for (const field of query ? Object.keys(query.shape) : []) {
    const value = remove(field)
    if (value !== undefined) asked.set(field, String(value))
  }
  return { path: asked.size > 0 ? `${filled}?${asked}` : filled, body: body || signed ? bodyOf(rest) : undefined }
}

/** Returns a form if there are files, else JSON. */
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

/** The items of a stream. They end with it: it is not opened again. */
async function* itemsIn({ body }: Response): AsyncGenerator<unknown> {
  for await (const { event, data } of body ? eventsIn(body) : []) if (event === 'message') yield JSON.parse(data)
}

/** Requests the first page at once, and each later one when it is wanted. */
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

interface SentEvent {
  /** `message` unless the stream says otherwise. */
  readonly event: string
  readonly data: string
}

/** Ends when the stream ends. Stopping the iteration closes the connection. */
async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = parts.pop()!
    for (const part of parts) {
      const event = eventOf(part)
      if (event) yield event
    }
  }
}

/** Returns undefined for a comment, or for a field that is no event. */
function eventOf(part: string): SentEvent | undefined {
  let event = 'message'
  let data: string | undefined
  for (const line of part.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name === 'event') event = value
    if (name === 'data') data = data === undefined ? value : `${data}\n${value}`
  }
  return data === undefined ? undefined : { event, data }
}
