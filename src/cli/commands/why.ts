/** `marketplace why [agent | task | delivery | exchange]`: what is wrong now, and what to type. Source: A-288. */
import type { DiagnosisRecord } from '../../api/diagnosis/record.ts'
import { type Client, MarketplaceError } from '../../client/typed-client.ts'
import { type Connection, type ConnectionFlags, connected } from '../connection/connection.ts'
import { diagnosisLines, reachTo } from '../connection/diagnosis.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { idIn, taskCalled } from '../endpoint/whole-id.ts'
import { exitCodes } from '../exit-codes.ts'
import { deliveryCalled, ownAgents } from '../log/delivery-search.ts'
import { plain } from '../output/ui.ts'

export interface WhyFlags extends ConnectionFlags {
  all?: boolean
}

interface Item {
  readonly kind: 'agent' | 'task' | 'delivery' | 'exchange'
  readonly id: string
  readonly name: string
  readonly diagnosis: DiagnosisRecord | null
}

/** Exits with 3 if something is wrong that nobody wanted so. */
export const why = (what: string | undefined, flags: WhyFlags) =>
  connected(flags, what?.startsWith('exchange_') ? 'admin' : 'builder', async connection => {
    const asked = what === undefined ? await everything(connection) : [await one(connection, what)]
    const isShown = ({ diagnosis }: Item) =>
      diagnosis !== null && (what !== undefined || flags.all || !diagnosis.isMeant)
    const items = asked.filter(isShown)
    connection.answer({ items }, () => show(connection, items, asked))
    return items.some(({ diagnosis }) => !diagnosis?.isMeant) ? exitCodes.check : exitCodes.ok
  })

async function one(connection: Connection, what: string): Promise<Item> {
  const { client } = connection
  if (what.startsWith('task_')) return aboutTask(client, await taskCalled(connection, what))
  if (what.startsWith('exchange_')) {
    const { id, diagnosis } = await client.getExchange({ id: what })
    return { kind: 'exchange', id, name: id, diagnosis }
  }
  if (what.startsWith('dlv_')) {
    const { id, diagnosis } = await deliveryCalled(client, await ownAgents(client), what)
    return { kind: 'delivery', id, name: id, diagnosis: diagnosis ?? null }
  }
  const task = await idIn(connection, 'listTasks', what, { role: 'builder' })
  if (task) return aboutTask(client, task)
  const agent = await agentCalled(connection, what)
  const diagnosis = 'diagnosis' in agent ? agent.diagnosis : null
  return { kind: 'agent', id: agent.id, name: agent.slug, diagnosis }
}

async function aboutTask(client: Client, id: string): Promise<Item> {
  const { diagnosis } = await client.diagnoseTask({ id })
  return { kind: 'task', id, name: id, diagnosis }
}

/** So many open tasks are looked at, the newest first. */
const MOST_TASKS = 20

/** Of what is said of its agent, nothing is said of a task once more. */
async function everything({ client }: Connection): Promise<Item[]> {
  const own = await ownAgents(client).catch(noAgents)
  const agents = (own ?? []).map(
    ({ id, slug, diagnosis }): Item => ({ kind: 'agent', id, name: slug, diagnosis: diagnosis ?? null }),
  )
  const told = new Set(agents.flatMap(({ diagnosis }) => diagnosis?.evidence.taskId ?? []))
  const open = (['pending', 'in_progress'] as const).map(status =>
    client.listTasks({ role: own ? 'builder' : 'buyer', status, limit: MOST_TASKS }),
  )
  const tasks = (await Promise.all(open)).flatMap(({ tasks }) => tasks).filter(({ id }) => !told.has(id))
  return [...agents, ...(await Promise.all(tasks.slice(0, MOST_TASKS).map(({ id }) => aboutTask(client, id))))]
}

/** Who only buys has none, and is not asked to become a builder. */
function noAgents(error: unknown): null {
  if (error instanceof MarketplaceError && error.status === 403) return null
  throw error
}

function show({ out, notes, found }: Connection, items: readonly Item[], asked: readonly Item[]): void {
  const { colour } = out
  for (const { name, diagnosis } of items) {
    const { cause, certainty, since, isMeant } = diagnosis!
    const when = since === null ? '' : `, since ${since}`
    const head = `${cause.replaceAll('_', ' ')} (${isMeant ? 'on purpose' : certainty})${when}`
    out.line(`${colour.bold(plain(name))}: ${(isMeant ? colour.dim : colour.red)(head)}`)
    for (const line of diagnosisLines(diagnosis!, reachTo(found))) out.line(`  ${line}`)
  }
  if (items.length > 0) return
  const of = asked.length === 1 ? plain(asked[0]!.name) : 'your agents and their open tasks'
  notes.line(`Nothing that the marketplace knows of is wrong with ${of}.`)
}
