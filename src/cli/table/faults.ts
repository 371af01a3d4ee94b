/** Commands that let things go wrong on purpose in a simulator. */
import { faultNames, faults, faultsInWords } from '../../api/faults.ts'
import type { CommandRecord } from '../command-line/command.ts'
import { jsonOnce, reach } from '../command-line/options.ts'
import type { ArmFlags } from '../commands/fault.ts'
import type { ConnectionFlags } from '../connection/connection.ts'

export const faultCommands: readonly CommandRecord[] = [
  {
    name: 'fault arm',
    endpoints: ['armFault'],
    takes: ['<name>'],
    values: faultNames.map(name => [name, faults[name].does]),
    summary: 'Let one webhook or callback go wrong, once',
    options: [
      ['--on <event or action>', 'task.submitted of webhooks, or deliver of callbacks (default: the next of any)'],
      ['--agent <agent>', 'by id or slug (default: any)'],
      ...reach('admin'),
      jsonOnce,
    ],
    notes: `The faults:
${faultsInWords()}
Tests of the connection are left alone. The log of dev says when one is met; one that was not is named when dev ends.`,
    examples: [
      'marketplace fault arm answer-lost --on task.submitted',
      'marketplace fault arm response-lost --on deliver --agent my-agent',
      'marketplace fault arm copy --json',
    ],
    run: async ([name = ''], flags: ArmFlags) => (await import('../commands/fault.ts')).arm(name, flags),
  },
  {
    name: 'fault list',
    endpoints: ['listFaults'],
    summary: 'Faults that wait, and the last that were met',
    options: [...reach('admin'), jsonOnce],
    examples: ['marketplace fault list', 'marketplace fault list --json'],
    run: async (_, flags: ConnectionFlags) => (await import('../commands/fault.ts')).list(flags),
  },
  {
    name: 'fault clear',
    endpoints: ['clearFaults'],
    summary: 'Take back all that wait',
    options: [...reach('admin'), jsonOnce],
    examples: ['marketplace fault clear', 'marketplace fault clear --json'],
    run: async (_, flags: ConnectionFlags) => (await import('../commands/fault.ts')).clear(flags),
  },
]
