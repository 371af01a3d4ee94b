/** The last connection test of each agent, as a row: whether it runs, and what its callback was. */
import { columns, type Reader, type Tx } from '../db.ts'

export interface AgentTestRow {
  id: string
  agentId: string
  /** Real time. */
  startedAt: number
  /** What the first callback was: 'valid', or the fault of its signature. */
  callback: string | null
  /** 0 or 1. */
  ended: number
}

/** Answers 0 while another test of the agent runs that began at `staleBefore` (real ms) or later. */
export const startTest = (tx: Tx, id: string, agentId: string, startedAt: number, staleBefore: number) =>
  tx.run(
    `INSERT INTO agent_tests (id, agent_id, started_at) VALUES ($1, $2, $3)
     ON CONFLICT (agent_id) DO UPDATE SET id = $1, started_at = $3, callback = NULL, ended = 0
     WHERE agent_tests.ended = 1 OR agent_tests.started_at < $4`,
    [id, agentId, startedAt, staleBefore],
  )

export const testById = (q: Reader, id: string) =>
  q.get<AgentTestRow>(
    `SELECT ${columns('id', 'agentId', 'startedAt', 'callback', 'ended')} FROM agent_tests WHERE id = $1`,
    [id],
  )

/** Keeps what the first callback was; answers 0 for a later one. */
export const decideTest = (tx: Tx, id: string, callback: string) =>
  tx.run('UPDATE agent_tests SET callback = $2 WHERE id = $1 AND callback IS NULL AND ended = 0', [id, callback])

/** The row stays until the agent is tested again. */
export const endTest = (tx: Tx, id: string) => tx.run('UPDATE agent_tests SET ended = 1 WHERE id = $1', [id])

/** What a dead process was testing ends nowhere else. For an engine that only one process can hold. */
export const endAllTests = (tx: Tx) => tx.run('UPDATE agent_tests SET ended = 1 WHERE ended = 0')
