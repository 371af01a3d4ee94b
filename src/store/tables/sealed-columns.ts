/** The columns that are sealed with the secret key. Without the key their contents are lost. */
import type { Reader, Tx } from '../db.ts'
import { type AgentRow, agents } from './agents/agents.ts'

const unsealed = ['id', 'name', 'builderId'] as const
export type UnsealedAgent = Pick<AgentRow, (typeof unsealed)[number]>

const sealed = ['id', 'slug', 'secret'] as const

/** Agents that have a secret, newest first. */
export const agentsWithSecret = (q: Reader, most: number) =>
  q.all<Pick<AgentRow, (typeof sealed)[number]>>(
    `SELECT ${agents.some(sealed)} FROM agents WHERE secret IS NOT NULL AND deleted_at IS NULL
     ORDER BY id DESC LIMIT $1`,
    [most],
  )

/** Removes the secrets of all agents, which have to be verified again. Returns the agents that had one. */
export async function dropAgentSecrets(tx: Tx): Promise<UnsealedAgent[]> {
  const found = await tx.all<UnsealedAgent>(
    `SELECT ${agents.some(unsealed)} FROM agents WHERE secret IS NOT NULL ORDER BY id`,
  )
  await tx.run(
    `UPDATE agents SET secret = NULL, secret_rotated_at = NULL, old_secret = NULL, old_secret_until = NULL, last_pass_at = NULL
     WHERE secret IS NOT NULL OR old_secret IS NOT NULL`,
  )
  return found
}

/** Returns how many there were. */
export async function dropSecondFactors(tx: Tx): Promise<number> {
  await tx.run('DELETE FROM recovery_codes')
  return tx.run('DELETE FROM second_factors')
}
