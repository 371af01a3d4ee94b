/** Records a callback with its response. Only in a simulator. */
import type { Recording } from '../market/recording.ts'
import type { Signed } from '../market/verb.ts'
import type { HeaderLines } from '../world/world.ts'
import type { Call, Sent } from './response.ts'

/** What is known of a callback when its response is sent. */
interface Arrived {
  readonly body: Buffer
  /** undefined: it was refused before its signature was read. */
  readonly signed: Signed | undefined
}

/** Records the callback as soon as `call` has its response. */
export function recordCallback(call: Call, recording: Recording, arrived: () => Arrived): void {
  const { world, config } = call.server.market
  const realAt = world.realNow()
  const at = world.now()
  call.onSent = ({ status, headers, body }: Sent) => {
    const { body: requestBody, signed } = arrived()
    recording.add({
      direction: 'callback',
      method: call.req.method ?? '',
      url: config.baseUrl + (call.req.url ?? ''),
      requestHeaders: linesOf(call.req.rawHeaders).map(withoutSecret),
      requestBody,
      requestCut: false,
      status,
      responseHeaders: linesOf(headers),
      responseBody: Buffer.from(body),
      responseCut: false,
      error: signed?.sender.fault ?? null,
      realAt,
      at,
      ms: Math.round(call.ms),
      taskId: call.req.params.id ?? null,
      agentId: signed?.sender.agentId ?? null,
      deliveryId: null,
      attempt: null,
    })
  }
}

/** An agent's API key and a session are secrets; a signature is none. */
const SECRET = /^(?:authorization|proxy-authorization|cookie)$/i

const withoutSecret = ([name, value]: HeaderLines[number]): HeaderLines[number] =>
  SECRET.test(name) ? [name, `${value.slice(0, 12)}…`] : [name, value]

/** `flat`: names and values in turn. */
function linesOf(flat: readonly string[]): HeaderLines {
  const lines: [string, string][] = []
  for (let i = 0; i + 1 < flat.length; i += 2) lines.push([flat[i]!, flat[i + 1]!])
  return lines
}
