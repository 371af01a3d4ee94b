/**
 * Makes commands from rows: each calls one endpoint, and the row maps words and flags to its fields and names what is
 * shown.
 */
import type { CommandRecord } from './command.ts'
import type { EndpointRow, RowFlags } from './endpoint-row.ts'
import { jsonOnce, reach } from './options.ts'

export const endpointCommand = (row: EndpointRow): CommandRecord => ({
  name: row.name,
  ...(row.takes && { takes: [`<${row.takes[0]}>`] }),
  summary: row.summary,
  options: [...(row.flags ?? []).map(([flags, words]) => [flags, words] as const), ...reach(row.person), jsonOnce],
  ...(row.notes !== undefined && { notes: row.notes }),
  examples: row.examples,
  run: async (words, flags: RowFlags) => (await import('./endpoint-run.ts')).runRow(row, words, flags),
})
