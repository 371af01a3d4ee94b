/** `marketplace deliveries list | show`: the log of webhooks to one's own agents. */
import { inWords } from '../../api/diagnosis/record.ts'
import type { AgentRecord, DeliveryDetails, DeliveryRecord, OwnAgentRecord } from '../../api/records.ts'
import { numberGiven } from '../command-line/json-input.ts'
import { type Connection, type ConnectionFlags, connected } from '../connection/connection.ts'
import { commandsIn, diagnosisLines, reachTo } from '../connection/diagnosis.ts'
import { flagsToReach, nextSteps } from '../connection/next-steps.ts'
import type { Target } from '../connection/target.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { deliveryCalled, filtersIn, newestOf, ownAgents, type SearchFlags, searchOf } from '../log/delivery-search.ts'
import { noneOf } from '../output/empty-list.ts'
import { plain, type Ui } from '../output/ui.ts'
import { noAgents } from './agents.ts'

export interface ListFlags extends ConnectionFlags, SearchFlags {
  limit?: string
}

/** Without an agent: of all one's own. */
export function list(agent: string | undefined, flags: ListFlags): Promise<number> {
  const search = searchOf(flags)
  const most = numberGiven('--limit', flags.limit ?? '20', [1, 10_000])
  return connected(flags, 'builder', async connection => {
    const { client, out, notes, answer, found } = connection
    const one = agent === undefined ? undefined : await agentCalled(connection, agent)
    const items = await newestOf(client, await search(connection, one), most)
    const agents = items.length > 0 ? [] : one ? [one] : await ownAgents(client)
    return answer({ items }, () => {
      if (items.length === 0) return notes.line(none(found, agents, agent, filtersIn(flags)))
      const columns = ['ID', ...(one ? [] : ['AGENT']), 'EVENT', 'STATUS', 'TASK', 'ATTEMPTS', 'CREATED']
      const rows = items.map(item => rowOf(out, item, one ? [] : [item.agent.slug]))
      out.list(columns, rows)
      const troubled = items.find(({ diagnosis }) => diagnosis && !diagnosis.isMeant)
      const lines = troubled?.diagnosis ? diagnosisLines(troubled.diagnosis, reachTo(found)) : []
      for (const [at, line] of lines.entries()) notes.line(at === 0 ? `${troubled!.id}: ${line}` : `  ${line}`)
    })
  })
}

type Agents = readonly (OwnAgentRecord | AgentRecord)[]

/** `agent`: whose log was asked for; undefined: that of all. */
function none(found: Target, agents: Agents, agent: string | undefined, filters: readonly string[]): string {
  const reach = flagsToReach(found, 'builder')
  const [first] = agents
  if (!first) return noAgents(reach)
  const { slug } = agents.find(known => 'visible' in known && known.visible) ?? first
  return noneOf({
    things: agent === undefined ? 'webhooks to your agents' : `webhooks to ${plain(slug)}`,
    filters,
    all: agent === undefined ? nextSteps.allDeliveries(reach) : nextSteps.deliveries(slug, reach),
    // Elsewhere it would cost money.
    first: found.isDev
      ? `A simulated buyer brings some: ${nextSteps.simulateBuyer(slug, flagsToReach(found, 'buyer'))}`
      : undefined,
  })
}

function rowOf({ colour }: Ui, item: DeliveryRecord, agent: readonly string[]) {
  const { id, event, taskId, status, attemptCount, createdAt, nextAttemptAt } = item
  const tint = { delivered: colour.green, failed: colour.red, pending: colour.yellow, waiting: colour.yellow }[status]
  const again = nextAttemptAt && attemptCount > 0 ? `, again at ${nextAttemptAt}` : ''
  return [id, ...agent, event, tint(status), taskId, String(attemptCount), `${createdAt}${again}`]
}

export interface ShowFlags extends ConnectionFlags {
  agent?: string
}

export const show = (id: string, flags: ShowFlags) =>
  connected(flags, 'builder', async connection => {
    const { client, notes, answer, found } = connection
    const agents = flags.agent ? [await agentCalled(connection, flags.agent)] : await ownAgents(client)
    const details = await deliveryCalled(client, agents, id)
    return answer(details, () => {
      describe(connection, details)
      for (const command of details.diagnosis ? commandsIn(details.diagnosis, reachTo(found)) : [])
        notes.line(`Next: ${command}`)
      if (details.status === 'failed')
        notes.line(`Send it again: ${nextSteps.resendDelivery(details.id, flagsToReach(found, 'builder'))}`)
    })
  })

function describe({ out }: Connection, details: DeliveryDetails): void {
  const { colour, line, raw } = out
  const { request, answer, attempts } = details
  out.table(facts(details).map(([name, words]) => [colour.dim(name), plain(words)]))
  if (attempts.length > 0) {
    line()
    const rows = attempts.map(attempt => attemptRow(out, attempt))
    out.list(['ATTEMPT', 'AT', 'RESULT', 'MS', 'MESSAGE'], rows, { wraps: true })
  }
  line(`\n${colour.bold('Request')}  ${colour.dim('signed anew for each attempt')}`)
  raw(plain(`${request.method} ${request.url ?? ''}`))
  for (const [name, value] of Object.entries(request.headers)) raw(plain(`${name}: ${value}`))
  raw(request.body === null ? colour.dim('The body was deleted, as it ended long ago.') : plain(request.body))
  if (answer) raw(`\n${colour.bold('Response')}\n${answer.status} ${plain(answer.body)}`.trimEnd())
}

function facts(details: DeliveryDetails): [string, string][] {
  const { id, event, taskId, agentId, status, redeliveryOf, createdAt, endedAt, nextAttemptAt } = details
  const all: [string, string | null | undefined][] = [
    ['delivery', id],
    ['event', event],
    ['task', taskId],
    ['agent', agentId],
    ['status', status === 'waiting' ? 'waiting: earlier webhooks of its task go first' : status],
    ['cause', details.diagnosis ? inWords(details.diagnosis) : null],
    ['next attempt', nextAttemptAt],
    ['resends', redeliveryOf],
    ['created', createdAt],
    ['ended', endedAt],
  ]
  return all.filter((fact): fact is [string, string] => Boolean(fact[1]))
}

type Attempt = DeliveryDetails['attempts'][number]

function attemptRow({ colour }: Ui, { attempt, createdAt, status, reason, durationMs, message }: Attempt) {
  const isWell = status !== null && status >= 200 && status < 300
  const result = String(status ?? reason ?? '-')
  return [String(attempt), createdAt, (isWell ? colour.green : colour.red)(result), String(durationMs), plain(message)]
}
