/**
 * Finds out why an agent refuses correctly signed webhooks: sends it webhooks that are signed wrongly, each in
 * another way, until it takes one. And whether an agent that takes them verifies anything at all. Source: A-255.
 */
import type { Diagnosis } from '../../api/diagnosis/causes.ts'
import { isRefusal } from '../../api/diagnosis/story.ts'
import { type WrongSignature, wrongSignatures } from '../../api/diagnosis/wrong-signatures.ts'
import { webhookBody, webhookHeaders } from '../../api/webhook-request.ts'
import type { Market } from '../../market/market.ts'
import { signatureCandidates } from '../../market/webhooks/diagnosis.ts'
import { type AgentRow, agentById } from '../../store/tables/agents/agents.ts'
import type { World } from '../../world/world.ts'
import { sampleEvent } from './sample-event.ts'

const EACH_MS = 2_000
/** A machine that is busy with other work still gets through. */
const ALL_MS = 60_000

/** Returns the mistake of the agent; null if it takes right webhooks, or none of the wrong ones; undefined if it did not say in time. */
export async function verificationMistake(market: Market, agentId: string): Promise<Diagnosis | null | undefined> {
  const { world } = market
  const agent = await market.db.read(q => agentById(q, agentId))
  if (!agent) return null
  const candidates = await signatureCandidates(market, agent)
  const secret = candidates.find(({ kind }) => kind === 'current')?.secret
  if (secret === undefined) return null
  const sentAt = world.realNow()
  const body = bodyFor(world, agent)
  const takes = async (wrong: WrongSignature['headers'] = {}) => {
    const headers = webhookHeaders(secret, { deliveryId: world.id('dlv'), attempt: 1, sentAt, body })
    return post(world, agent, body, { ...headers, ...wrong })
  }
  // It may be another program by now.
  const right = await takes()
  if (right !== false) return right ? null : undefined
  for (const { headers, mistake } of wrongSignatures(Buffer.from(body), candidates, sentAt)) {
    const taken = await takes(headers)
    if (taken) return mistake
    if (taken === null || world.realNow() - sentAt > ALL_MS) return undefined
  }
  return null
}

/** Whether an agent takes a webhook that is signed with a secret which is not its own; null if it says neither. */
export async function takesForgery({ db, world }: Market, agentId: string): Promise<boolean | null> {
  const agent = await db.read(q => agentById(q, agentId))
  if (!agent) return null
  const body = bodyFor(world, agent)
  const secret = `whsec_${world.bytes(32).toString('base64')}`
  const attempt = { deliveryId: world.id('dlv'), attempt: 1, sentAt: world.realNow(), body }
  return post(world, agent, body, webhookHeaders(secret, attempt))
}

/** An event about which an agent has nothing to do. Its letters tell apart the ways of writing JSON. */
function bodyFor(world: World, { id: agentId }: AgentRow): string {
  const timestamp = new Date(world.now()).toISOString()
  const event = sampleEvent('task.cancelled', { taskId: world.id('task'), callbackUrl: NOWHERE, timestamp })
  return webhookBody({ ...event, data: { ...event.data, agentId, title: 'A naïve <b>test</b> & more, 1/2' } })
}

const NOWHERE = 'http://localhost:1/'

/** Returns whether the agent takes it; null if it says neither. */
async function post({ egress }: World, agent: AgentRow, body: string, headers: Record<string, string>) {
  const { webhookUrl: url, builderId: account } = agent
  const response = await egress.post({
    url: url ?? '',
    body,
    headers,
    timeoutMs: EACH_MS,
    maxResponseBytes: 0,
    account,
  })
  if (!response.ok) return null
  if (isRefusal(response.status)) return false
  return response.status >= 200 && response.status < 300 ? true : null
}
