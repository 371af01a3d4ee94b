/** Holds every answer of a test against the record of its endpoint: nothing missing, nothing more, no undeclared status. */
import { isDeepStrictEqual } from 'node:util'
import { request } from 'undici'
import { z } from 'zod'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { statusOf } from '../../src/api/failures.ts'
import { refusalsOf } from '../../src/api/refusals.ts'
import type { Fetch } from '../../src/client/transport.ts'
import { sentence } from './sentence.ts'

const builtIn = fetch

/** fetch, but an answer that is not as promised fails the test. */
export const checkedFetch: Fetch = async (url, init) => {
  // Who has put a fetch of its own in place hears every answer.
  const isQuick = fetch === builtIn && !(init.body instanceof FormData)
  const reply = await (isQuick ? quickFetch : fetch)(url, init)
  if (isBare(reply.headers)) return reply
  const text = await reply.text()
  checkAnswer(init.method ?? 'GET', new URL(url).pathname, reply.status, text)
  return isQuick ? reply : new Response(text, reply)
}

/** The bytes of a file and a stream are outside the envelope. */
const isBare = (headers: Headers) =>
  headers.has('content-disposition') || /^text\/event-stream/.test(headers.get('content-type') ?? '')

/** What fetch does for an API, at a fraction of its cost, which would be a quarter of the time of most tests. */
async function quickFetch(url: string, { method = 'GET', headers, body, signal }: RequestInit): Promise<Response> {
  const sent = { method, headers, body, signal } as Parameters<typeof request>[1]
  const reply = await request(url, sent).catch(error => {
    throw signal?.aborted ? error : new TypeError('fetch failed', { cause: error })
  })
  const lines = Object.entries(reply.headers).flatMap(([name, value = '']) =>
    [value].flat().map((line): [string, string] => [name, line]),
  )
  const answer = { status: reply.statusCode, headers: new Headers(lines) }
  if (isBare(answer.headers)) return new Response(await reply.body.arrayBuffer(), answer)
  const text = await reply.body.text()
  // A whole one would read its text from a stream.
  return { ...answer, text: async () => text } as Response
}
interface Promised {
  readonly record: Endpoint
  readonly pattern: RegExp
  /** The statuses of its refusals. */
  readonly refusals: ReadonlySet<number>
  /** The whole envelope, by status. */
  readonly successes: Readonly<Record<number, z.ZodType>>
}

const pagination = z.object({
  page: z.int(),
  limit: z.int(),
  total: z.int(),
  totalPages: z.int(),
  hasMore: z.boolean(),
})

const refused = z.object({
  success: z.literal(false),
  error: sentence(),
  errors: z.record(z.string(), z.array(sentence()).min(1)).optional(),
  /** Of a refused signature, in a simulator. */
  hint: sentence().optional(),
})

const promised: readonly Promised[] = Object.values<Endpoint>(endpoints)
  .sort((a, b) => (a.path.replaceAll('/:', '/~') < b.path.replaceAll('/:', '/~') ? -1 : 1))
  .map(record => ({
    record,
    pattern: new RegExp(`^${record.path.replaceAll(/:\w+/g, '[^/]+')}$`),
    refusals: new Set(refusalsOf(record).map(statusOf)),
    successes: successesOf(record),
  }))

function successesOf({ reply, list, status, created }: Endpoint): Record<number, z.ZodType> {
  const envelope = (data: z.ZodType) => z.object({ success: z.literal(true), data })
  const data = list ? z.object({ [list]: z.array(reply), pagination }) : reply
  return { [status ?? 200]: envelope(data), ...(created && { 201: envelope(created) }) }
}

/** Throws a sentence that names the endpoint and what is wrong with its answer. */
export function checkAnswer(method: string, path: string, status: number, text: string): void {
  const what = `${method} ${path} ${status}`
  const body: unknown = JSON.parse(text)
  const found = promised.find(({ record, pattern }) => record.method === method && pattern.test(path))
  const shape = status >= 300 ? refused : found?.successes[status]
  if (!shape) throw new Error(`${what} is no success that a record promises`)
  checkShape(shape, body, what)
  if (status >= 300 && found && !found.refusals.has(status)) {
    throw new Error(`${what} is not among the refusals of its record: ${text}`)
  }
}

/** A shape drops what it does not know, so what it makes of the body must be the whole body. */
function checkShape(shape: z.ZodType, body: unknown, what: string): void {
  const { data, error } = shape.safeParse(body)
  if (error) throw new Error(`${what} lacks its shape: ${error.message}\n${JSON.stringify(body)}`)
  if (isDeepStrictEqual(body, data)) return
  throw new Error(`${what} holds more than its shape:\n${JSON.stringify(body)}\nand not only\n${JSON.stringify(data)}`)
}
