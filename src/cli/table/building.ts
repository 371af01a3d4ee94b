/** Commands for builders: agents, and what tries them. */
import { durations } from '../../api/limits.ts'
import type { CommandRecord, Option } from '../command-line/command.ts'
import { jsonOnce, reach } from '../command-line/options.ts'
import type { AgentListFlags, RotateFlags } from '../commands/agents.ts'
import type { TestFlags } from '../commands/test-connection.ts'
import type { ConnectionFlags } from '../connection/connection.ts'
import { newAgentFlags } from '../endpoint/agent-flags.ts'
import { endpointCommand, fillsOf } from '../endpoint/command.ts'
import type { RowFlags } from '../endpoint/row.ts'
import { exitCodes } from '../exit-codes.ts'
import { agentRows, buyerRows, searchRows } from './agent-rows.ts'

export const building: readonly CommandRecord[] = [
  {
    name: 'agents create',
    endpoints: ['createAgent'],
    fills: () => fillsOf(newAgentFlags),
    summary: 'Make an agent in draft; asks for what is not given',
    options: [
      ['--file <agent.json>', 'its fields as the API takes them; - is stdin; flags go over it'],
      ...newAgentFlags.map(([flags, words]): Option => [flags, words]),
      ...reach('builder'),
      jsonOnce,
    ],
    notes: 'The file: {"name", "tagline", "description", "basePrice", "categoryIds", "webhookUrl", …}',
    examples: [
      'marketplace agents create',
      'marketplace agents create --file agent.json --json',
      `marketplace agents create --name "My Agent" --tagline "Translates short letters" --base-price 5.00 --description "Translates letters of up to two pages into English." --category translation`,
    ],
    run: async (_, flags: RowFlags) => (await import('../commands/agents-create.ts')).create(flags),
  },
  {
    name: 'agents list',
    endpoints: ['listMyAgents'],
    summary: 'Your agents: state, price, whether they are listed',
    options: [['--all', 'also samples that are down on purpose'], ...reach('builder'), jsonOnce],
    notes: 'Below the list stands what is wrong with each, and what to do.',
    examples: ['marketplace agents list', 'marketplace agents list --json'],
    run: async (_, flags: AgentListFlags) => (await import('../commands/agents.ts')).list(flags),
  },
  {
    name: 'agents show',
    endpoints: ['getAgent'],
    takes: ['<agent>'],
    summary: 'One agent, by id or slug',
    options: [...reach('builder'), jsonOnce],
    examples: ['marketplace agents show sample-agent', 'marketplace agents show sample-agent --as buyer --json'],
    run: async ([agent = ''], flags: ConnectionFlags) => (await import('../commands/agents.ts')).show(agent, flags),
  },
  {
    name: 'agents publish',
    endpoints: ['publishAgent'],
    takes: ['<agent>'],
    summary: 'Submit an agent that has passed its test for review',
    options: [...reach('builder'), jsonOnce],
    examples: ['marketplace agents publish my-agent', 'marketplace agents publish my-agent --json'],
    run: async ([agent = ''], flags: ConnectionFlags) => (await import('../commands/agents.ts')).publish(agent, flags),
  },
  ...[...agentRows, ...searchRows, ...buyerRows].map(endpointCommand),
  {
    name: 'secret rotate',
    endpoints: ['rotateSecret'],
    takes: ['<agent>'],
    summary: 'Make a new webhook secret; it is shown once, alone on stdout',
    options: [
      [
        '--grace-hours <n>',
        `take callbacks signed with the old one for 0 to ${durations.secretGraceMaxHours} hours (default: 0)`,
      ],
      ['--yes', 'also if the agent is listed: that hides it until its test has passed again'],
      ...reach('builder'),
      jsonOnce,
    ],
    examples: ['marketplace secret rotate my-agent > secret.txt', 'marketplace secret rotate my-agent --grace-hours 2'],
    run: async ([agent = ''], flags: RotateFlags) => (await import('../commands/agents.ts')).rotateSecret(agent, flags),
  },
  {
    name: 'test-connection',
    endpoints: ['testConnection'],
    takes: ['<agent>'],
    summary: 'Run the five checks of an agent, from its URL to a callback',
    options: [['--strict', 'a warning fails too'], ...reach('builder'), jsonOnce],
    notes: `The checks: its URL, https, its secret, a webhook answered 200, a signed callback.
Exit code ${exitCodes.check}: a check failed. That no callback came within ${durations.testCallbackMs / 1000} s is a warning.`,
    examples: ['marketplace test-connection sample-agent', 'marketplace test-connection sample-agent --strict --json'],
    run: async ([agent = ''], flags: TestFlags) =>
      (await import('../commands/test-connection.ts')).testConnection(agent, flags),
  },
]
