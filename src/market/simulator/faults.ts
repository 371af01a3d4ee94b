/** Arms faults in a simulator, and tells of them. Source: A-264. */
import { refuse } from '../../api/failures.ts'
import type { Faults } from '../faults.ts'
import type { Market } from '../market.ts'
import type { Verb } from '../verb.ts'

function faultsOf({ faults }: Pick<Market, 'faults'>): Faults {
  if (!faults) throw new Error('Nothing goes wrong on purpose in a deployment')
  return faults
}

const listFaults: Verb<'listFaults'> = async ctx => ({ items: [...faultsOf(ctx).all()] })

const armFault: Verb<'armFault'> = async (ctx, { body: { name, on = null, agentId = null } }) => {
  const armed = faultsOf(ctx).arm({ name, on, agentId })
  if (!armed) throw refuse('faults_full')
  return armed
}

const clearFaults: Verb<'clearFaults'> = async ctx => ({ items: [...faultsOf(ctx).clear()] })

export const faultVerbs = { listFaults, armFault, clearFaults }
