/** Arms faults in a simulator, and tells of them. Source: A-264. */
import { refuse } from '../../api/failures.ts'
import type { ArmedFault, Faults } from '../faults.ts'
import type { Market } from '../market.ts'
import { iso, isoOrNull } from '../time.ts'
import type { Verb } from '../verb.ts'

function faultsOf({ faults }: Pick<Market, 'faults'>): Faults {
  if (!faults) throw new Error('Nothing goes wrong on purpose in a deployment')
  return faults
}

const recordOf = ({ armedAt, metAt, ...fault }: ArmedFault) => ({
  ...fault,
  armedAt: iso(armedAt),
  metAt: isoOrNull(metAt),
})

const listFaults: Verb<'listFaults'> = async ctx => ({ items: faultsOf(ctx).all().map(recordOf) })

const armFault: Verb<'armFault'> = async (ctx, { body }) => {
  const { name, on = null, agentId = null, forTaskId = null } = body
  const armed = faultsOf(ctx).arm({ name, on, agentId, forTaskId })
  if (!armed) throw refuse('faults_full')
  return recordOf(armed)
}

const clearFaults: Verb<'clearFaults'> = async ctx => ({ items: faultsOf(ctx).clear().map(recordOf) })

const clearFault: Verb<'clearFault'> = async (ctx, { params }) => {
  const [cleared] = faultsOf(ctx).clear(params.id)
  if (!cleared) throw refuse('not_found', 'fault that waits')
  return recordOf(cleared)
}

export const faultVerbs = { listFaults, armFault, clearFaults, clearFault }
