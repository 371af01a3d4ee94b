/** Debug lines of the topic `http`: what the log's line of a request leaves out. */
import type { IncomingMessage } from 'node:http'
import type { Refusal } from '../api/failures.ts'

/** Of a request: who it says it is from, by kind alone; how much came; on which request of its connection. */
export const requestDetails = ({ headers, httpVersion, socket }: IncomingMessage, refusal: Refusal | null) => ({
  credential: credentialKind(headers),
  contentType: headers['content-type'],
  bodyBytes: Number(headers['content-length'] ?? 0),
  userAgent: headers['user-agent'],
  http: httpVersion,
  clientPort: socket.remotePort,
  ...(refusal && { refusal: refusal.code, fields: Object.keys(refusal.errors ?? {}) }),
})

function credentialKind(headers: IncomingMessage['headers']): 'signature' | 'authorization' | 'cookie' | 'none' {
  if (headers['x-service-signature'] !== undefined) return 'signature'
  if (headers.authorization !== undefined) return 'authorization'
  return headers.cookie === undefined ? 'none' : 'cookie'
}
