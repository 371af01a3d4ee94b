/** What a process needs to know to be an agent of a dev, as variables of its environment. */
import type { SeededAgent } from '../../sim/agents/agents.ts'
import type { Credentials } from '../../sim/seed.ts'

interface Reachable extends Pick<Credentials, 'accounts'> {
  url: string
  /** Where agents elsewhere, such as in containers, reach it. */
  publicUrl?: string | undefined
}

export function agentEnvironment({ url, publicUrl, accounts }: Reachable, agent: SeededAgent): Record<string, string> {
  const { id, webhookSecret, forwardTo } = agent
  return {
    MARKETPLACE_URL: publicUrl ?? url,
    MARKETPLACE_KEY: accounts.builder.apiKey,
    MARKETPLACE_AGENT_ID: id,
    MARKETPLACE_WEBHOOK_SECRET: webhookSecret,
    ...(forwardTo === undefined ? {} : { PORT: new URL(forwardTo).port || '80' }),
  }
}
