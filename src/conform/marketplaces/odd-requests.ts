/** Requests that HTTP allows and the marketplace does not send: in pieces, with another method, on a chosen connection. */
import http from 'node:http'
import https from 'node:https'
import type { HeaderLines } from '../../world/header-lines.ts'
import { type Answer, contentOf } from '../history/history.ts'
import { pause } from '../history/machine-time.ts'

export interface ByHand {
  /** POST unless given. */
  readonly method?: string
  /** The body goes in so many parts; 1 unless given. */
  readonly pieces?: number
  /** The body goes in parts that end after these bytes. */
  readonly cutsAt?: readonly number[]
  /** Between two parts. */
  readonly pauseMs?: number
  /** The connection is closed after so many bytes of the body: after all of them, before an answer can come. */
  readonly closeAfter?: number
  /** Resolves before the second part is sent. */
  readonly between?: Promise<unknown>
  /** Its length is not told before. */
  readonly chunked?: boolean
  /** null: a connection of its own. */
  readonly connection?: Connection | null
  readonly timeoutMs?: number
}

/** One at a time, for requests that follow each other on it, as long as the agent keeps it. */
export class Connection {
  readonly agents = {
    'http:': new http.Agent({ keepAlive: true, maxSockets: 1 }),
    'https:': new https.Agent({ keepAlive: true, maxSockets: 1 }),
  }

  close(): void {
    for (const agent of Object.values(this.agents)) agent.destroy()
  }
}

interface Request {
  readonly url: string
  /** A name may come several times. */
  readonly headers: HeaderLines
  readonly body: Buffer
}

interface Told {
  readonly answer: Answer | null
  readonly error: string | null
  readonly sentHeaders: HeaderLines
}

const PATIENCE_MS = 30_000
const MOST_BYTES = 65_536

/** Never rejects. What a kept connection is closed on goes out again, as from the marketplace. */
export async function sendByHand(request: Request, how: ByHand): Promise<Told> {
  for (;;) {
    const { wasKept, ...told } = await sendOnce(request, how)
    if (!wasKept || told.answer !== null) return told
  }
}

function sendOnce({ url, headers, body }: Request, how: ByHand): Promise<Told & { readonly wasKept: boolean }> {
  const { method = 'POST', chunked = false, connection, timeoutMs = PATIENCE_MS } = how
  const { protocol } = new URL(url)
  const { request: open } = protocol === 'https:' ? https : http
  const agent = connection ? connection.agents[protocol as 'http:' | 'https:'] : false
  const framing = chunked ? ['transfer-encoding', 'chunked'] : ['content-length', String(body.length)]
  const lines: HeaderLines = body.length === 0 ? headers : [...headers, framing as [string, string]]
  return new Promise(resolve => {
    const signal = AbortSignal.timeout(timeoutMs)
    const end = (answer: Answer | null, error: string | null, wasKept = false) =>
      resolve({ answer, error, sentHeaders: lines, wasKept })
    const fail = (error: Error) => end(null, errorText(error, signal), request.reusedSocket && isClosing(error))
    const request = open(url, { method, agent, signal }, response => {
      answerOf(response).then(
        answer => end(answer, null),
        error => end(null, errorText(error, signal)),
      )
    })
    request.on('error', fail)
    for (const [name, value] of lines) request.appendHeader(name, value)
    write(request, body, how).catch(fail)
  })
}

async function write(request: http.ClientRequest, body: Buffer, how: ByHand): Promise<void> {
  const { pieces = 1, cutsAt = evenly(body.length, pieces), pauseMs = 0, closeAfter, between } = how
  if (closeAfter !== undefined) {
    await new Promise(resolve => request.write(body.subarray(0, closeAfter), resolve))
    return void request.destroy(new Error('closed by us'))
  }
  let at = 0
  for (const end of cutsAt) {
    request.write(body.subarray(at, end))
    await pause(pauseMs)
    await between
    at = end
  }
  request.end(body.subarray(at))
}

const evenly = (length: number, pieces: number) =>
  Array.from({ length: pieces - 1 }, (_, at) => Math.ceil(((at + 1) * length) / pieces))

async function answerOf(response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    if (size < MOST_BYTES) chunks.push(chunk)
    size += chunk.length
  }
  const headers = Object.entries(response.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map(value => [name, value] as const),
  )
  return { status: response.statusCode!, headers, body: contentOf(Buffer.concat(chunks)) }
}

const isClosing = ({ code }: Error & { code?: string }) => code === 'ECONNRESET' || code === 'EPIPE'

function errorText(error: Error & { code?: string }, signal: AbortSignal): string {
  if (signal.aborted) return 'timeout: no answer came'
  return `${error.code === 'ECONNREFUSED' ? 'refused' : 'reset'}: ${error.message}`
}
