/** Looks at an agent: the secret that it would use, its address, its certificate, and whether its callbacks arrive. */
import { type About, toRecord } from '../../api/diagnosis/record.ts'
import { answerFinding } from '../../api/diagnosis/responses.ts'
import type { OwnAgentRecord } from '../../api/records.ts'
import type { Client } from '../../client/typed-client.ts'
import { secretFingerprint } from '../../market/exchange.ts'
import { createWorld } from '../../world/real.ts'
import type { OutgoingResult } from '../../world/world.ts'
import { reachTo } from '../connection/diagnosis.ts'
import { nextSteps } from '../connection/next-steps.ts'
import type { Target } from '../connection/target.ts'
import { plain } from '../output/ui.ts'
import { diagnosed, failed, ok, type SetupFinding, warning } from './finding.ts'

export interface KnownAgent {
  id: string
  slug: string
  webhookSecret: string
}

/** `text`: the secret as the environment has it. `agents`: those of the dev of this folder, whose secrets are known here. */
export function secretFinding(text: string, agents: readonly KnownAgent[], agentId: string | undefined): SetupFinding {
  const bare = text.trim().replace(/^(["'])(.*)\1$/, '$2')
  const set = 'Set it without them: export MARKETPLACE_WEBHOOK_SECRET=whsec_…'
  if (bare !== text) return failed('secret', 'MARKETPLACE_WEBHOOK_SECRET has spaces or quotes around the secret', set)
  if (!text.startsWith('whsec_')) {
    return failed('secret', 'MARKETPLACE_WEBHOOK_SECRET does not begin with whsec_, which is a part of the secret', set)
  }
  const fingerprint = secretFingerprint(text)
  const owner = agents.find(({ webhookSecret }) => webhookSecret === text)
  const wanted = agents.find(({ id }) => id === agentId)
  if (agents.length === 0) return ok('secret', `MARKETPLACE_WEBHOOK_SECRET has the fingerprint ${fingerprint}`)
  if (owner && (wanted === undefined || wanted === owner)) {
    return ok('secret', `MARKETPLACE_WEBHOOK_SECRET is that of ${owner.slug} (fingerprint ${fingerprint})`)
  }
  const whose = owner ? `is that of ${owner.slug}, not of ${wanted!.slug}` : "is of no agent of this folder's dev"
  const known = (wanted ? [wanted] : agents).map(
    ({ slug, webhookSecret }) => `${slug} ${secretFingerprint(webhookSecret)}`,
  )
  return failed(
    'secret',
    `MARKETPLACE_WEBHOOK_SECRET ${whose}: fingerprint ${fingerprint}, but ${known.join(', ')}`,
    `Take it from .marketplace/credentials.json, or make another: ${nextSteps.rotateSecret((wanted ?? agents[0]!).slug)}`,
  )
}

/** Sends nothing that an agent could take for a webhook: a POST without a signature. */
export async function addressFindings({ webhookUrl, slug }: OwnAgentRecord, found: Target): Promise<SetupFinding[]> {
  const about = { isDev: found.isDev, agent: slug }
  if (webhookUrl === null) {
    const text = `${slug} has no webhook URL.`
    return [
      diagnosed('address', 'failed', toRecord({ cause: 'no_url', certainty: 'sure', text }, about), reachTo(found)),
    ]
  }
  // Only the marketplace that has made the certificate of such a name trusts it.
  if (/\.localhost$/i.test(new URL(webhookUrl).hostname)) return []
  const world = createWorld({ requireHttps: false, allowLoopback: true })
  try {
    const result = await world.egress.post({
      url: webhookUrl,
      body: '',
      headers: {},
      timeoutMs: 10_000,
      maxResponseBytes: 0,
    })
    return addressResult(webhookUrl, result, about, reachTo(found))
  } finally {
    await world.egress.close()
  }
}

/** @internal Tested by each outcome. */
export function addressResult(url: string, result: OutgoingResult, about: About, reach: string): SetupFinding[] {
  const isHttps = url.startsWith('https://')
  const certificate = ok('certificate', 'Its certificate is trusted')
  if (result.ok) return [ok('address', `${url} answers`), ...(isHttps ? [certificate] : [])]
  const { reason, message } = result
  const record = toRecord(answerFinding({ url, status: null, reason, message }), about)
  if (reason === 'tls') return [ok('address', `${url} is reached`), diagnosed('certificate', 'failed', record, reach)]
  return [diagnosed('address', 'failed', record, reach)]
}

/** Asks the marketplace to test the agent: only it knows whether the agent's callbacks arrive. */
export async function testFindings(
  client: Client,
  { id, slug }: OwnAgentRecord,
  reach: string,
): Promise<SetupFinding[]> {
  const { checks, diagnosis } = await client.testConnection({ id })
  const weak = checks.find(({ status }) => status === 'failed' || status === 'warning')
  if (diagnosis)
    return [diagnosed(weak?.name ?? 'callback', weak?.status === 'failed' ? 'failed' : 'warning', diagnosis, reach)]
  if (weak) return [warning(weak.name, plain(weak.message), nextSteps.testConnection(slug, reach))]
  return [ok('callback', `${slug} answers webhooks, and its callbacks arrive`)]
}
