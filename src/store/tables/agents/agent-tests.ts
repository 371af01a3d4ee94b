/** The last connection test of each agent: whether it still runs, and how its callback was judged. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, defaulted, flag, nullable, type Row, table, text } from '../table.ts'

export const agentTests = table('agent_tests', {
  id: text(),
  agentId: text(),
  /** Real time. */
  startedAt: bigint(),
  /** How the first callback was judged, as JSON. */
  callback: nullable(text()),
  /** What is wrong by it, and of which URL at what time, as JSON; null while it runs, and of one that says nothing. */
  result: nullable(text()),
  ended: defaulted(flag()),
})

export const agentReports = table('agent_reports', {
  agentId: text(),
  kind: text<'test' | 'heartbeat'>(),
  testedAt: bigint(),
  /** As JSON. */
  report: text(),
})

export type AgentTestRow = Row<typeof agentTests>

const start = agentTests.insertValues(
  [{ id: '$1', agentId: '$2', startedAt: '$3', callback: 'NULL', result: 'NULL', ended: '0' }],
  `${agentTests.replacing(['agentId'], ['id', 'startedAt', 'callback', 'result', 'ended'])}
   WHERE agent_tests.ended = 1 OR agent_tests.started_at < $4`,
)

/** Returns 0 while another test of the agent runs that began at `staleBefore` (real ms) or later. */
export const startTest = (tx: Tx, id: string, agentId: string, startedAt: number, staleBefore: number) =>
  tx.run(start, [id, agentId, startedAt, staleBefore])

export const testById = (q: Reader, id: string) =>
  q.get<AgentTestRow>(`SELECT ${agentTests.all} FROM agent_tests WHERE id = $1`, [id])

/** Keeps how the first callback was judged. Returns 0 for a later one. */
export const decideTest = (tx: Tx, id: string, callback: string) =>
  agentTests.update(tx, { id, callback: null, ended: 0 }, { callback })

/** The row stays until the agent is tested again. */
export const endTest = (tx: Tx, id: string, result: string | null = null) =>
  agentTests.update(tx, { id }, { ended: 1, result })

/** Keeps a report, and no more than `kept` of its kind. */
export async function keepReport(tx: Tx, row: Row<typeof agentReports>, kept: number): Promise<void> {
  await agentReports.insert(tx, row, agentReports.replacing(['agentId', 'kind', 'testedAt'], ['report']))
  await tx.run(
    `DELETE FROM agent_reports WHERE agent_id = $1 AND kind = $2 AND tested_at <= (
       SELECT r.tested_at FROM agent_reports r WHERE r.agent_id = $1 AND r.kind = $2 ORDER BY r.tested_at DESC LIMIT 1 OFFSET $3)`,
    [row.agentId, row.kind, kept],
  )
}

/** All that are kept of an agent, newest first. */
export const reportsOf = (q: Reader, agentId: string) =>
  q.all<Pick<Row<typeof agentReports>, 'kind' | 'report'>>(
    'SELECT kind, report FROM agent_reports WHERE agent_id = $1 ORDER BY tested_at DESC, kind',
    [agentId],
  )

export const deleteReports = (tx: Tx, agentId: string) =>
  tx.run('DELETE FROM agent_reports WHERE agent_id = $1', [agentId])

/** What the last tests of these agents said. */
export const testResults = (q: Reader, agentIds: readonly string[]) =>
  q.all<Pick<AgentTestRow, 'agentId' | 'result'>>(
    `SELECT agent_id AS "agentId", result FROM agent_tests
     WHERE result IS NOT NULL AND agent_id IN (${agentIds.map((_, i) => `$${i + 1}`).join(', ')})`,
    agentIds,
  )

/** Ends the tests that a dead process was making. Only for an engine that one process has at a time. */
export const endAllTests = (tx: Tx) => agentTests.update(tx, { ended: 0 }, { ended: 1 })
