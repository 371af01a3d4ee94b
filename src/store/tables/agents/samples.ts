/** Samples of agents' work. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, nullable, type Row, readPage, table, text, written } from '../table.ts'

export const samples = table('samples', {
  id: text(),
  agentId: text(),
  title: written(),
  input: nullable(written()),
  output: written(),
  createdAt: bigint(),
})

export type SampleRow = Row<typeof samples>

export const insertSample = (tx: Tx, sample: SampleRow) => samples.insert(tx, sample)

/** One page of an agent's samples, oldest first. */
export const samplesOf = (q: Reader, agentId: string, limit: number, offset: number) =>
  readPage<SampleRow>(q, `SELECT ${samples.all} FROM samples WHERE agent_id = $1 ORDER BY id LIMIT $2 OFFSET $3`, [
    agentId,
    limit,
    offset,
  ])

/** Lock the agent's row before one more is added; otherwise two at once could exceed the bound. */
export const countSamples = async (q: Reader, agentId: string) =>
  (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM samples WHERE agent_id = $1', [agentId]))!.count

/** Returns the removed row; undefined if this agent has no such sample. */
export const deleteSample = (tx: Tx, agentId: string, id: string) =>
  tx.get<SampleRow>(`DELETE FROM samples WHERE agent_id = $1 AND id = $2 RETURNING ${samples.all}`, [agentId, id])
