/** Reads the body of a request. Source. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Refusal, refuse } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import type { Arriving } from './arriving-bytes.ts'
import { watchPace } from './body-pace.ts'

const NOTHING = Buffer.alloc(0)

/** The client disconnected before its request was complete, so nobody waits for a response. */
export class Gone extends Error {}

export interface Reading {
  /** How often the pace of the body is checked. */
  lookMs: number
  begin(giveUp: (refusal: Refusal) => void): Arriving
}

/**
 * Returns the whole body. Rejects with `body_too_large` as soon as it is, and leaves the rest unread. `begin` counts the
 * bytes.
 */
export function readBody(req: IncomingMessage, res: ServerResponse, { lookMs, begin }: Reading): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
  if (encoding === undefined && (length === undefined || length === '0')) return Promise.resolve(NOTHING)
  if (Number(length) > limits.jsonBytes) return Promise.reject(refuse('body_too_large', limits.jsonBytes))
  if (hasLeft(req)) return Promise.reject(new Gone('The client left'))
  invite(req, res)
  return new Promise((resolve, reject) => {
    const body = new Growing()
    const end = () => {
      unwatch()
      arriving.end()
    }
    const stop = (refusal: Refusal) => {
      end()
      body.drop()
      req.off('data', collect).pause()
      reject(refusal)
    }
    const arriving = begin(stop)
    const collect = (chunk: Buffer) => {
      body.add(chunk)
      if (body.size > limits.jsonBytes) return stop(refuse('body_too_large', limits.jsonBytes))
      const refusal = arriving.refusal(body.size)
      if (refusal) stop(refusal)
    }
    const gone = () => {
      end()
      reject(new Gone('The client left'))
    }
    const unwatch = watchPace(req, lookMs, stop)
    req
      .on('data', collect)
      .once('end', () => {
        end()
        resolve(body.bytes)
      })
      .once('error', gone)
      .once('close', gone)
  })
}

/**
 * Collects chunks in one buffer. In a list, a chunk of one byte would take a hundred, and a client may send any number of
 * them.
 */
class Growing {
  size = 0
  #room: Buffer = NOTHING

  get bytes(): Buffer {
    return this.#room.subarray(0, this.size)
  }

  add(chunk: Buffer): void {
    // Most bodies have only one chunk, which need not be copied.
    if (this.size === 0) this.#room = chunk
    else {
      const size = this.size + chunk.length
      if (size > this.#room.length) this.#room = Buffer.concat([this.bytes], Math.max(size, 2 * this.size))
      chunk.copy(this.#room, this.size)
    }
    this.size += chunk.length
  }

  drop(): void {
    this.#room = NOTHING
    this.size = 0
  }
}

/**
 * Tells a client that waits with its body (`Expect: 100-continue`) to send it. Call it once the sender and the size are
 * accepted.
 */
export function invite({ headers, httpVersion }: IncomingMessage, res: ServerResponse): void {
  if (httpVersion === '1.1' && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect ?? '')) res.writeContinue()
}

/** Whether the client disconnected before anyone listened for it, as while its sender was looked up. */
export const hasLeft = (req: IncomingMessage) => req.destroyed && !req.readableEnded

/**
 * The sender of a larger body is identified before more of it is read. A smaller one has usually arrived with its headers.
 */
const LARGE_BYTES = 16 * 1024

export const isLarge = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined ||
  headers.expect !== undefined ||
  Number(headers['content-length']) > LARGE_BYTES

/** Whether so much of the body is still to come that it is better to respond and disconnect than to read it. */
export const isLargelyUnread = (req: IncomingMessage) => !req.complete && isLarge(req)

export const isMultipart = ({ headers }: IncomingMessage) =>
  /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')
