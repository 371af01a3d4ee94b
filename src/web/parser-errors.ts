/** Responds to what is not HTTP or took too long to become a request. The response is written by hand. */
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Refusal, refuse } from '../api/failures.ts'
import type { Config } from '../settings/config.ts'
import { isHttps } from './credentials.ts'
import { failureText, newRequestId } from './response.ts'

const LINGER_MS = 1000

const words: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive',
}

/** `hasBegun` tells whether another response has begun on a connection. */
export const refuseParserError =
  (config: Config, hasBegun: (socket: Duplex) => boolean) => (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (socket.writableEnded) return // responded already; what still arrives belongs to the same broken request
    // A browser keeps connections at hand. It would take an answer for that to what it asks next; where there is none, it asks again.
    const isAsked = error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || (socket as Socket).bytesRead > 0
    if (error.code === 'ECONNRESET' || !isAsked || !socket.writable || hasBegun(socket)) {
      socket.destroy()
      return
    }
    respondAndEnd(config, socket, refuse('bad_request', words[error.code ?? ''] ?? 'This is no HTTP request'))
  }

/** Refuses CONNECT, for which Node passes only the socket. */
export const refuseTunnel = (config: Config) => (_: IncomingMessage, socket: Duplex) => {
  const allowed = 'GET, HEAD, POST, PUT, DELETE'
  const refusal = refuse('wrong_method', 'CONNECT', allowed)
  refusal.headers = { allow: allowed }
  socket.on('error', () => {}) // the client may be gone
  respondAndEnd(config, socket, refusal)
}

function respondAndEnd(config: Config, socket: Duplex, refusal: Refusal): void {
  const text = failureText(refusal)
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(text)}`,
      ...Object.entries(refusal.headers).map(([name, value]) => `${name}: ${value}`),
      `x-request-id: ${newRequestId()}`,
      `x-service-version: ${config.version}`,
      'cache-control: no-store',
      'x-content-type-options: nosniff',
      ...(isHttps(config) ? ['strict-transport-security: max-age=31536000'] : []),
      'connection: close',
      '',
      text,
    ].join('\r\n'),
  )
  // Closing at once would reset the connection while the client still sends, and it could lose the response.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
