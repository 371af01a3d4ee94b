/** Webhook secrets: made, and which of them count for a callback. Source: A-25. */
import type { AgentRow } from '../../store/tables/agents.ts'
import type { World } from '../../world/world.ts'
import { type Key, unseal } from '../sealing.ts'

/** A new webhook secret. */
export const makeSecret = (world: World) => `whsec_${world.bytes(32).toString('base64')}`

/** The secrets that a callback of this agent may be signed with at `now` (domain time). Source: A-25. */
export function callbackSecrets(
  config: Key,
  agent: Pick<AgentRow, 'id' | 'secret' | 'oldSecret' | 'oldSecretUntil'>,
  now: number,
): string[] {
  const old = agent.oldSecretUntil !== null && agent.oldSecretUntil > now ? agent.oldSecret : null
  return [agent.secret, old].flatMap(sealed => (sealed === null ? [] : [unseal(config, agent.id, sealed)]))
}
