/** `marketplace logs`: the log of a simulator, from any terminal, and after the fact. Source: A-288. */
import type { StampedEntry } from '../../market/log.ts'
import { type Connection, type ConnectionFlags, onSimulator } from '../connection/connection.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { exitCodes } from '../exit-codes.ts'
import { isOfPurpose } from '../log/down-on-purpose.ts'
import { entryLine } from '../log/entry-lines.ts'
import { entryLog } from '../log/lines.ts'
import { durationGiven } from '../output/numbers.ts'

export interface LogFlags extends ConnectionFlags {
  failed?: boolean
  follow?: boolean
  all?: boolean
  since?: string
  task?: string
  agent?: string
}

export function logs(flags: LogFlags): Promise<number> {
  const sinceMs = flags.since === undefined ? null : durationGiven(flags.since)
  return onSimulator(flags, 'shows its log to its operator alone', async connection => {
    const { client, out, json, onInterrupt } = connection
    const stop = new AbortController()
    onInterrupt(() => stop.abort())
    const isWanted = await wantedBy(connection, flags, sinceMs)
    // Known before the first line, as all that is past comes at once.
    const names = new Map((await client.adminListAgents({ limit: 100 })).items.map(({ id, slug }) => [id, slug]))
    const findAgent = flags.follow ? async (id: string) => (await client.adminGetAgent({ id })).slug : undefined
    const log = entryLog(out, { json, level: 'info', names, ...(findAgent && { findAgent }) })
    log.open()
    try {
      const asked = { after: 0, follow: flags.follow ? ('true' as const) : ('false' as const) }
      const entries = await client.watchEvents(
        { ...asked, ...(flags.task !== undefined && { taskId: flags.task }) },
        { signal: stop.signal },
      )
      for await (const told of entries) {
        const entry = { ...told, at: Date.parse(told.at), realAt: Date.parse(told.realAt) } as unknown as StampedEntry
        if (isWanted(entry)) log.log(entry)
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error
    } finally {
      log.end()
    }
    return exitCodes.ok
  })
}

async function wantedBy(connection: Connection, { agent, failed, all = false }: LogFlags, sinceMs: number | null) {
  const from = sinceMs === null ? 0 : Date.now() - sinceMs
  const agentId = agent === undefined ? undefined : (await agentCalled(connection, agent)).id
  return (entry: StampedEntry) => entry.realAt >= from && isOf(entry, agentId) && (!failed || isFailure(entry, all))
}

const isOf = (entry: StampedEntry, agentId: string | undefined) =>
  agentId === undefined || ('agentId' in entry && entry.agentId === agentId)

function isFailure(entry: StampedEntry, all: boolean): boolean {
  if (isOfPurpose(entry)) return all
  const line = entryLine(entry, new Map())
  return (line?.isFailure ?? false) || ('diagnosis' in entry && (all || entry.diagnosis?.isMeant === false))
}
