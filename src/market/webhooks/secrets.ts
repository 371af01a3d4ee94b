/** Makes webhook secrets, and says which of them may sign a callback. Source: A-25. */
import type { AgentRow } from '../../store/tables/agents.ts'
import type { World } from '../../world/world.ts'
import { type Key, unseal } from '../sealing.ts'

export const makeSecret = (world: World) => `whsec_${world.bytes(32).toString('base64')}`

/**
 * Returns the secrets that may sign a callback of this agent at `now` (domain time): the current one, and the old one while
 * its grace lasts.
 */
export function callbackSecrets(
  config: Key,
  agent: Pick<AgentRow, 'id' | 'secret' | 'oldSecret' | 'oldSecretUntil'>,
  now: number,
): string[] {
  const old = agent.oldSecretUntil !== null && agent.oldSecretUntil > now ? agent.oldSecret : null
  return [agent.secret, old].flatMap(sealed => (sealed === null ? [] : [unseal(config, agent.id, sealed)]))
}
