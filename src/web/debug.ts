/** What the log's line of a request leaves out: for debug lines of the topic `http`, and for the builder in a simulator. */
import type { IncomingMessage } from 'node:http'
import { COMMAND_LINE } from '../api/command-line.ts'
import { refusalHint } from '../api/diagnosis/refusals.ts'
import type { Refusal } from '../api/failures.ts'
import type { Exchange } from '../market/exchange.ts'
import type { Market } from '../market/market.ts'
import { exchangeDiagnosis } from '../market/stories.ts'

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

interface Refused {
  readonly market: Market
  readonly req: IncomingMessage
  readonly route: string | null
  readonly refusal: Refusal | null
  readonly exchange: Exchange | null
}

/** What a builder wants to see of a request, and the log of a deployment should not hold. */
export function detailsForBuilder({ market, req, route, refusal, exchange }: Refused) {
  const own = req.headers['user-agent']?.startsWith(COMMAND_LINE)
  const found = exchange && refusal && exchangeDiagnosis(market, exchange)
  const hint = refusal && !found && refusalHint(refusal, route?.startsWith('/api/agent/') ?? false)
  return {
    ...(refusal && { error: refusal.message }),
    ...(hint && { hint }),
    ...(found && { diagnosis: found }),
    ...(own && { own: true as const }),
  }
}
