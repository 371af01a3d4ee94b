/** Finds the agent that a word names, and says what may be wrong if there is none. */
import type { AgentRecord, OwnAgentRecord } from '../../api/records.ts'
import { MarketplaceError } from '../../client/client.ts'
import type { Connection } from '../connection/connection.ts'
import { nextSteps, sameWay } from '../connection/next-steps.ts'
import { codeForStatus, Fault } from '../exit-codes.ts'
import { plain } from '../output/ui.ts'

/** Finds an agent by id or slug: one's own in any state, or a public one. */
export async function agentCalled(
  { client, found }: Pick<Connection, 'client' | 'found'>,
  agent: string,
): Promise<OwnAgentRecord | AgentRecord> {
  const mine = nextSteps.listAgents(sameWay(found, 'builder'))
  const hint = `Yours are shown by: ${mine}. Others find an agent once it is tested, published and approved.`
  return refusedWith(client.getAgent({ id: agent }), 404, () => hint, `There is no agent ${plain(agent)} for this key`)
}

/** Adds advice to a refusal with this status. */
export async function refusedWith<T>(
  asked: Promise<T>,
  status: number,
  hintFor: (message: string) => string | undefined,
  words?: string,
) {
  return asked.catch(error => {
    if (!(error instanceof MarketplaceError) || error.status !== status) throw error
    const { message, errors } = error
    throw new Fault(words ?? message, { code: codeForStatus(status), status, errors, hint: hintFor(message) })
  })
}
