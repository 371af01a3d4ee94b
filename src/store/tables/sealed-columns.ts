/** What is sealed with the secret key, and lost with it. */
import type { Reader, Tx } from '../db.ts'
import { type AgentRow, agents } from './agents.ts'

const unsealed = ['id', 'name', 'builderId'] as const
export type UnsealedAgent = Pick<AgentRow, (typeof unsealed)[number]>

const sealed = ['id', 'slug', 'secret'] as const

/** The agents that have a secret, the newest first. */
export const agentsWithSecret = (q: Reader, most: number) =>
  q.all<Pick<AgentRow, (typeof sealed)[number]>>(
    `SELECT ${agents.some(sealed)} FROM agents WHERE secret IS NOT NULL AND deleted_at IS NULL
     ORDER BY id DESC LIMIT $1`,
    [most],
  )

/** Takes the secrets from all agents, which are unverified then, and returns those that had one. */
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
