/** Finds the agent that a word names, and says what may be wrong if there is none. */
import { COMMAND_LINE } from '../../api/command-line.ts'
import type { AgentRecord, CategoryRecord, OwnAgentRecord } from '../../api/records.ts'
import { createClient, MarketplaceError } from '../../client/typed-client.ts'
import { UsageError, version } from '../../settings/config.ts'
import type { Connection } from '../connection/connection.ts'
import { diagnosisHint, notListed, reachTo } from '../connection/diagnosis.ts'
import { flagsToReach, nextSteps } from '../connection/next-steps.ts'
import { locate, type Target } from '../connection/target.ts'
import { codeForStatus, exitCodes, Fault } from '../exit-codes.ts'
import { plain } from '../output/ui.ts'
import { idIn } from './whole-id.ts'

/** Finds an agent by id or slug: one's own in any state, or a public one. */
export async function agentCalled(
  { client, found }: Pick<Connection, 'client' | 'found'>,
  agent: string,
): Promise<OwnAgentRecord | AgentRecord> {
  return client.getAgent({ id: agent }).catch(async error => {
    if (!(error instanceof MarketplaceError) || error.status !== 404) throw error
    const hidden = await hiddenAgent(found, agent)
    if (hidden) throw notListed(hidden, reachTo(found))
    const id = await idOfAgent(client, agent)
    if (id) return client.getAgent({ id })
    const mine = nextSteps.listAgents(flagsToReach(found, 'builder'))
    throw new Fault(`There is no agent ${plain(agent)} for this key`, {
      code: exitCodes.failed,
      status: 404,
      hint: `Yours are shown by: ${mine}. Others find an agent once it is tested, published and approved.`,
    })
  })
}

/** By the end of its id: one's own, or a listed one. */
async function idOfAgent(client: Connection['client'], end: string): Promise<string | undefined> {
  const own = await idIn({ client }, 'listMyAgents', end).catch(error => {
    // Whoever is no builder has none.
    if (error instanceof MarketplaceError && [401, 403].includes(error.status)) return undefined
    throw error
  })
  return own ?? idIn({ client }, 'listAgents', end)
}

/** The agent, if it is one of this folder's dev that a buyer can't see. */
async function hiddenAgent({ url, isDev, madeFor }: Target, agent: string): Promise<OwnAgentRecord | null> {
  if (!isDev || madeFor?.by !== 'dev') return null
  const { key } = locate({ url, as: 'builder' }, 'builder')
  const builder = createClient({ baseUrl: url, apiKey: key, userAgent: COMMAND_LINE + version })
  const record = await builder.getAgent({ id: agent }).catch(() => null)
  return record && 'hiddenReason' in record ? record : null
}

/** Adds to a refusal what is wrong with the agent. */
export async function withDiagnosis<T>(
  asked: Promise<T>,
  { client, found }: Pick<Connection, 'client' | 'found'>,
  id: string,
) {
  return asked.catch(async error => {
    if (!(error instanceof MarketplaceError) || error.status !== 400) throw error
    const { diagnosis } = await client.getMyAgent({ id })
    const { message, status, errors } = error
    const hint = diagnosis ? diagnosisHint(diagnosis, reachTo(found)) : undefined
    throw new Fault(message, { code: codeForStatus(status), status, errors, hint })
  })
}

/** Adds advice to a refusal with this status. */
export async function refusedWith<T>(
  asked: Promise<T>,
  status: number,
  hintFor: (message: string) => string | undefined,
) {
  return asked.catch(error => {
    if (!(error instanceof MarketplaceError) || error.status !== status) throw error
    const { message, errors } = error
    throw new Fault(message, { code: codeForStatus(status), status, errors, hint: hintFor(message) })
  })
}

/** Finds a category by name, slug or id. Throws a UsageError that names all if there is none. */
export function categoryCalled(word: string, categories: readonly CategoryRecord[]): CategoryRecord {
  const wanted = word.toLowerCase()
  const found = categories.find(({ id, slug, name }) => [id, slug, name.toLowerCase()].includes(wanted))
  if (found) return found
  throw new UsageError(`There is no category ${word}. There are: ${categories.map(({ slug }) => slug).join(', ')}.`)
}
