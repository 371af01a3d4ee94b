/** Answers the connection test of an agent within this process: verifies the webhook, and calls back with a signature. Source: A-253. */
import { SIGNATURE_HEADER, signatureHeaders, TIMESTAMP_HEADER, verify } from '../../api/signature.ts'
import type { Market } from '../../market/market.ts'
import { verbs } from '../../market/verbs.ts'
import type { Egress, OutgoingResult } from '../../world/world.ts'

/** A way out at whose end an agent with this secret is up. It answers tests and nothing else. */
export function testResponder(market: Market, secret: string): Egress {
  const answer = (status: number): OutgoingResult => ({ ok: true, status, headers: {}, body: '', durationMs: 0 })
  return {
    async post({ body, headers }) {
      const { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signature } = headers
      if (!verify({ secret, timestamp, signature, body, now: market.world.realNow() }).ok) return answer(401)
      const { taskId } = JSON.parse(body).data
      callBack(market, secret, taskId).catch(error => market.log({ type: 'warning', message: error.message }))
      return answer(200)
    },
    async close() {},
  }
}

async function callBack(market: Market, secret: string, testId: string): Promise<void> {
  const body = { action: 'accept' } as const
  const raw = Buffer.from(JSON.stringify(body))
  const headers = signatureHeaders(secret, market.world.realNow(), raw)
  const { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signature } = headers
  const sender = { agentId: null, fault: null }
  const rawHeaders = Object.entries(headers).flat()
  const signed = { timestamp, signature, type: 'application/json', raw, sender, rawHeaders }
  await verbs.testCallback({ ...market, actor: null }, { params: { id: testId }, query: {}, body, signed })
}
