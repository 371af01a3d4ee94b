/** Samples of agents' work. */
import type { Reader, Tx } from '../db.ts'
import { bigint, nullable, type Row, table, text } from './table.ts'

export const samples = table('samples', {
  id: text(),
  agentId: text(),
  title: text(),
  input: nullable(text()),
  output: text(),
  createdAt: bigint(),
})

export type SampleRow = Row<typeof samples>

/** Returns 0 if the agent has `most` samples. Lock the agent's row first; otherwise two inserts at once could exceed the bound. */
export const insertSample = (tx: Tx, sample: SampleRow, most: number) =>
  tx.run(
    `INSERT INTO samples (id, agent_id, title, input, output, created_at) SELECT $1, $2, $3, $4, $5, $6
     WHERE (SELECT COUNT(*) FROM samples s WHERE s.agent_id = $2) < $7`,
    [sample.id, sample.agentId, sample.title, sample.input, sample.output, sample.createdAt, most],
  )

/** One page of an agent's samples, oldest first. */
export const samplesOf = (q: Reader, agentId: string, limit: number, offset: number) =>
  q.all<SampleRow>(`SELECT ${samples.all} FROM samples WHERE agent_id = $1 ORDER BY id LIMIT $2 OFFSET $3`, [
    agentId,
    limit,
    offset,
  ])

export const countSamples = async (q: Reader, agentId: string) =>
  (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM samples WHERE agent_id = $1', [agentId]))!.count

/** Returns the removed row; undefined if this agent has no such sample. */
export const deleteSample = (tx: Tx, agentId: string, id: string) =>
  tx.get<Pick<SampleRow, 'title' | 'input' | 'output'>>(
    'DELETE FROM samples WHERE agent_id = $1 AND id = $2 RETURNING title, input, output',
    [agentId, id],
  )
