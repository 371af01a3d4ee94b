/** `marketplace logs`: the log of a simulator, from any terminal, and after the fact. Source: A-288. */
import type { StampedEntry } from '../../market/log.ts'
import { type Connection, type ConnectionFlags, onSimulator } from '../connection/connection.ts'
import { storedDev } from '../connection/dev-folder.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { taskCalled } from '../endpoint/whole-id.ts'
import { exitCodes } from '../exit-codes.ts'
import { isOfPurpose } from '../log/down-on-purpose.ts'
import { entryLine } from '../log/entry-lines.ts'
import { entryLog } from '../log/lines.ts'
import { noneOf } from '../output/empty-list.ts'
import { durationGiven } from '../output/numbers.ts'
import { plain } from '../output/ui.ts'

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
  return onSimulator(flags, 'shows its log to its operator alone, as what its serve prints', async connection => {
    const { client, out, notes, json, onInterrupt } = connection
    const stop = new AbortController()
    onInterrupt(() => stop.abort())
    const isWanted = await wantedBy(connection, flags, sinceMs)
    const findAgent = flags.follow ? async (id: string) => (await client.adminGetAgent({ id })).slug : undefined
    const names = await namesOf(connection)
    const log = entryLog(out, { json, level: 'info', names, ...(findAgent && { findAgent }) })
    log.open()
    let isEmpty = true
    try {
      for await (const entry of entriesOf(connection, flags, stop.signal)) {
        if (!isWanted(entry)) continue
        isEmpty = false
        log.log(entry)
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error
    } finally {
      log.end()
    }
    if (isEmpty && !json && !flags.follow)
      notes.line(noneOf({ things: 'lines', filters: filtersOf(flags), all: nextSteps.logs() }))
    return exitCodes.ok
  })
}

/** Known before the first line, as all that is past comes at once. */
async function namesOf({ client, found }: Connection): Promise<Map<string, string>> {
  const { items } = await client.adminListAgents({ limit: 100 })
  const people = Object.entries((found.isDev && storedDev()?.accounts) || {})
  return new Map([
    ...items.map(({ id, slug }) => [id, slug] as const),
    ...people.map(([name, { id }]) => [id, name] as const),
  ])
}

async function* entriesOf(connection: Connection, { task, follow }: LogFlags, signal: AbortSignal) {
  const taskId = task === undefined ? undefined : await taskCalled(connection, task, 'adminListTasks')
  const asked = { after: 0, follow: follow ? ('true' as const) : ('false' as const), ...(taskId && { taskId }) }
  for await (const told of await connection.client.watchEvents(asked, { signal }))
    yield { ...told, at: Date.parse(told.at), realAt: Date.parse(told.realAt) } as unknown as StampedEntry
}

const filtersOf = ({ failed, since, task, agent }: LogFlags) => [
  ...(failed ? ['--failed'] : []),
  ...Object.entries({ since, task, agent }).flatMap(([name, value]) => (value ? [`--${name} ${plain(value)}`] : [])),
]

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
