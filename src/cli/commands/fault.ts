/** `marketplace fault`: lets things go wrong on purpose, once, in a simulator that runs. Source: A-264. */
import { type FaultName, faultNames, faults, faultsInWords, targetsOf } from '../../api/faults.ts'
import { UsageError } from '../../settings/config.ts'
import { type Connection, type ConnectionFlags, onSimulator } from '../connection/connection.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { plain } from '../output/ui.ts'

export interface ArmFlags extends ConnectionFlags {
  on?: string
  agent?: string
}

export async function arm(word: string, flags: ArmFlags): Promise<number> {
  const { name, on } = faultGiven(word, flags.on)
  return onFaults(flags, async connection => {
    const { client, out, notes, answer } = connection
    const agent = flags.agent === undefined ? null : await agentCalled(connection, flags.agent)
    const armed = await client.armFault({ name, on, agentId: agent?.id ?? null })
    return answer(armed, () => {
      out.line(lineOf(armed))
      notes.line(`It waits for the next ${faults[name].direction} that it is meant for: ${nextSteps.listFaults()}`)
    })
  })
}

export const list = (flags: ConnectionFlags) =>
  onFaults(flags, async ({ client, out, notes, answer }) => {
    const { items } = await client.listFaults()
    return answer({ items }, () => {
      for (const one of items) out.line(lineOf(one))
      if (items.length === 0) notes.line('No fault waits, and none was met.')
    })
  })

export const clear = (flags: ConnectionFlags) =>
  onFaults(flags, async ({ client, out, answer }) => {
    const { items } = await client.clearFaults()
    return answer({ items }, () => out.line(items.length === 0 ? 'No fault waited.' : `Took back ${items.length}.`))
  })

/** Throws a UsageError that names what there is. */
function faultGiven(word: string, on: string | undefined): { name: FaultName; on: string | null } {
  const name = faultNames.find(known => known === word)
  if (!name) throw new UsageError(`There is no fault ${word}. The faults:\n${faultsInWords()}`)
  const targets = targetsOf(name)
  const target = on === undefined ? null : targets.find(known => known === on || known === `task.${on}`)
  if (target !== undefined) return { name, on: target }
  throw new UsageError(`${name} happens to a ${faults[name].direction}: --on takes ${targets.join(', ')}, not ${on}.`)
}

type Armed = Awaited<ReturnType<Connection['client']['armFault']>>

function lineOf({ name, on, agentId, taskId }: Armed): string {
  const { direction, does } = faults[name]
  const whose = agentId === null ? 'any agent' : plain(agentId)
  const met = taskId === null ? 'waits' : `met by ${plain(taskId)}`
  return `${name}  ${on ?? `any ${direction}`} of ${whose}, ${met}: ${does}`
}

const onFaults = (flags: ConnectionFlags, work: (connection: Connection) => Promise<number>) =>
  onSimulator(flags, 'is a deployment: only in a simulator things go wrong on purpose', work)
