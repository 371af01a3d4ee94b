/** Records a callback with its response, by signature or by key, also one that nothing is there for. Only in a simulator. */
import { Refusal } from '../api/failures.ts'
import { Changes } from '../market/changes.ts'
import type { Recording } from '../market/recording.ts'
import type { SignedCallback } from '../market/verb.ts'
import { diagnosisOf, logCallback } from '../market/webhooks/callback-log.ts'
import { type HeaderLines, linesOf } from '../world/header-lines.ts'
import type { Call, Sent } from './response.ts'

/** What is known of a callback when its response is sent. */
interface Arrived {
  readonly body: Buffer
  /** undefined: it has an API key, or was refused before its signature was read. */
  readonly signed?: SignedCallback | undefined
}

/** Records the callback as soon as `call` has its response. */
export function recordCallback(call: Call, recording: Recording, arrived: () => Arrived): void {
  const { world, config, faults, memory } = call.server.market
  const realAt = world.realNow()
  const at = world.now()
  call.onSent = ({ status, headers, body }: Sent<string | Buffer>) => {
    const { body: requestBody, signed } = arrived()
    const taskId = taskIn(call)
    const [requestHeaders, responseHeaders] = [linesOf(call.req.rawHeaders).map(withoutSecret), linesOf(headers)]
    const responseBody = Buffer.from(body)
    call.exchange = recording.add(id => ({
      id,
      requestId: call.id,
      direction: 'callback',
      method: call.req.method ?? '',
      url: config.baseUrl + (call.req.url ?? ''),
      requestHeaders,
      requestBody,
      requestCut: arrivedCut(call, requestBody),
      status,
      responseHeaders,
      responseBody,
      responseCut: false,
      error: signed?.sender.fault ?? null,
      reason: null,
      fault: faults?.metBy(call.req.rawHeaders) ?? null,
      refusal: call.refusal?.code ?? null,
      signature: call.refusal?.finding ?? null,
      realAt,
      at,
      // By the clock that the beginning is told by, as a story puts both together.
      ms: Math.max(0, world.realNow() - realAt),
      taskId,
      agentId: signed?.sender.agentId ?? recording.agentOf(taskId),
      deliveryId: null,
      attempt: null,
      bytes:
        OWN_BYTES + requestBody.length + responseBody.length + lengthOf(requestHeaders) + lengthOf(responseHeaders),
    }))
    memory.of(Changes).tell([], at, { type: 'callback', taskId, what: String(status) })
  }
}

/** A signed one is logged by its verb, which another one may not reach. Nobody knows whose it is without a key. */
export function logRefusedByKey({ req, userId, server: { market }, ms }: Call, recording: Recording, refusal: unknown) {
  if (userId === null || !(refusal instanceof Refusal) || refusal.status >= 500) return
  const taskId = req.params.id!
  const action = req.path.replace(/^.*\/(?=\w)|\/$/g, '')
  const { status, message: error } = refusal
  const how = { taskId, action, since: market.world.realNow() - Math.round(ms) }
  logCallback(market, {
    ...how,
    ...{ agentId: recording.agentOf(taskId), via: 'key', status, error, taskStatus: null },
    ...diagnosisOf(market, how, refusal, req),
  })
}

const ID = /\b(?:task|test)_[0-9a-f]{32}\b/

/** A path that nothing is at may name a task all the same. */
const taskIn = ({ req }: Call) => req.params?.id ?? ID.exec(req.url ?? '')?.[0] ?? null

/** The bytes of files go to where files are kept. */
const arrivedCut = ({ req }: Call, { length }: Buffer) => length === 0 && Number(req.headers['content-length'] ?? 0) > 0

/** An agent's API key and a session are secrets; a signature is none. */
const SECRET = /^(?:authorization|proxy-authorization|cookie)$/i

const withoutSecret = ([name, value]: HeaderLines[number]): HeaderLines[number] =>
  SECRET.test(name) ? [name, `${value.slice(0, 12)}…`] : [name, value]

/** About what one takes besides its bodies and headers. */
const OWN_BYTES = 1_000

const lengthOf = (lines: HeaderLines) => lines.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
