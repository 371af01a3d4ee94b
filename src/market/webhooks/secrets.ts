/** Makes webhook secrets, and says which of them may sign a callback. Source: A-25. */
import type { Reader, Tx } from '../../store/db.ts'
import type { AgentRow } from '../../store/tables/agents/agents.ts'
import { setSetting, settingNamed } from '../../store/tables/upkeep/settings.ts'
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

const PREVIOUS_KEPT = 3

const previousOf = (agentId: string) => `previous_secrets:${agentId}`

/**
 * Keeps a replaced secret, sealed as it was, so that a diagnosis can name it. It is never accepted again. In a simulator
 * alone. Source: A-242.
 */
export async function keepPreviousSecret(tx: Tx, agentId: string, sealed: string): Promise<void> {
  const kept = [sealed, ...(await keptSecrets(tx, agentId))].slice(0, PREVIOUS_KEPT)
  await setSetting(tx, previousOf(agentId), JSON.stringify(kept))
}

/** Returns the replaced secrets of an agent that are kept, the latest first. */
export async function previousSecrets(q: Reader, config: Key, agentId: string): Promise<string[]> {
  return (await keptSecrets(q, agentId)).flatMap(sealed => openedIfPossible(config, agentId, sealed))
}

/** Returns no secret if it was sealed under another key. A diagnosis does without it. */
export function openedIfPossible(config: Key, agentId: string, sealed: string): string[] {
  try {
    return [unseal(config, agentId, sealed)]
  } catch {
    return []
  }
}

const keptSecrets = async (q: Reader, agentId: string): Promise<string[]> =>
  JSON.parse((await settingNamed(q, previousOf(agentId))) ?? '[]')
