/**
 * What the HTTPS front of a simulator answers itself, because the agent did not. Whoever looks at a webhook is told so: without that, a
 * port on which nothing listens looks like an agent that has answered 502.
 */
import type { ServerResponse } from 'node:http'
import type { Egress, OutgoingResult } from '../world.ts'

const reasons = ['refused', 'timeout', 'reset'] as const
type Reason = (typeof reasons)[number]

const OWN_HEADER = 'x-marketplace-front'

/** No agent behind the front can set it. */
export const isOwnHeader = (name: string) => name.toLowerCase() === OWN_HEADER

export function refuse(answer: ServerResponse, status: number, reason: Reason, why: string): void {
  // The rest of the request is not read, so the connection can't be reused.
  const headers = { 'Content-Type': 'application/json; charset=utf-8', Connection: 'close', [OWN_HEADER]: reason }
  answer.writeHead(status, headers)
  answer.end(JSON.stringify({ success: false, error: why, answeredBy: 'marketplace dev, not the agent' }))
}

/** Sends through the front. An answer of its own is what it stands for: none of the agent. */
export const seenThrough = (egress: Egress): Egress => ({
  ...egress,
  post: async request => ofTheAgent(await egress.post(request)),
})

function ofTheAgent(result: OutgoingResult): OutgoingResult {
  if (!result.ok) return result
  const reason = reasons.find(one => one === result.headers[OWN_HEADER])
  const message = reason && whyIn(result.body)
  if (!reason || !message) return result
  const { durationMs, wire } = result
  return {
    ok: false,
    reason,
    message,
    durationMs,
    ...(wire && { wire: { sentHeaders: wire.sentHeaders, ...NOTHING } }),
  }
}

const NOTHING = { status: null, headers: [], body: Buffer.alloc(0), isCut: false }

/** Undefined: the front has not written this. */
function whyIn(body: string): string | undefined {
  try {
    return String(JSON.parse(body).error)
  } catch {
    return undefined
  }
}
