/** An agent's webhook in this process: records what it gets, answers what it is told to, passes connection tests. */
import { signatureHeaders } from '../../src/api/signature.ts'
import { answered } from '../../src/world/virtual.ts'
import type { Outgoing, OutgoingResult } from '../../src/world/world.ts'

export interface Webhook {
  event: string
  timestamp: string
  data: Record<string, unknown> & { taskId: string; callbackUrl: string; test?: true }
}

export class AgentSink {
  readonly url: string
  /** Oldest first; tests of the connection are not among them. */
  readonly received: (Webhook & { headers: Readonly<Record<string, string>> })[] = []
  /** How many tests of the connection came. */
  tests = 0
  status = 200
  /** Takes the place of `status`. */
  answer: (() => OutgoingResult | Promise<OutgoingResult>) | null = null
  secret = ''
  /** What it calls back with when it is tested; signed as it is. */
  callbackBody = JSON.stringify({ action: 'accept' })

  /** Happens before it calls back. */
  onTest: ((callbackUrl: string) => Promise<void>) | null = null

  constructor(url: string) {
    this.url = url
  }
}

/** Answers for the sinks, as the network would. */
export async function answerFrom(
  sinks: ReadonlyMap<string, AgentSink>,
  request: Outgoing,
  realNow: number,
): Promise<OutgoingResult> {
  const sink = sinks.get(request.url)
  if (!sink) return { ok: false, reason: 'refused', message: `Nothing listens at ${request.url}.`, durationMs: 0 }
  const webhook = JSON.parse(request.body) as Webhook
  if (webhook.data.test) {
    sink.tests++
    await sink.onTest?.(webhook.data.callbackUrl)
    await callBack(webhook.data.callbackUrl, sink, realNow)
  } else sink.received.push({ ...webhook, headers: request.headers })
  return sink.answer ? sink.answer() : answered(sink.status)
}

let callbacks = 0

async function callBack(url: string, { secret, callbackBody: body }: AgentSink, realNow: number): Promise<void> {
  // Time stands still here, and a signature is good for one test.
  const timestamp = realNow + 1 + (callbacks++ % 200_000)
  const headers = { 'content-type': 'application/json', ...signatureHeaders(secret, timestamp, body) }
  await (await fetch(url, { method: 'POST', headers, body })).arrayBuffer()
}
