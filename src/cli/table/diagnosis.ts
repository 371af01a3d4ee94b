/** Commands that say what is wrong, and show what it is seen by. */
import type { CommandRecord } from '../command-line/command.ts'
import { jsonOnce, reach } from '../command-line/options.ts'
import type { ExchangeListFlags, ExchangeShowFlags } from '../commands/exchanges.ts'
import type { LogFlags } from '../commands/logs.ts'
import type { WhyFlags } from '../commands/why.ts'
import type { ConnectionFlags } from '../connection/connection.ts'
import { exitCodes } from '../exit-codes.ts'

export const diagnosing: readonly CommandRecord[] = [
  {
    name: 'why',
    endpoints: ['diagnoseTask'],
    takes: ['[about]'],
    summary: 'What is wrong now, and what to type',
    options: [['--all', 'also what somebody wanted so, such as an armed fault'], ...reach('builder'), jsonOnce],
    notes: `An agent by its slug or id; a task, a delivery or an exchange by its id.
Exit code ${exitCodes.ok}: nothing is wrong; ${exitCodes.check}: something is.`,
    examples: ['marketplace why', 'marketplace why my-agent', 'marketplace why TASK_ID --json'],
    run: async ([about], flags: WhyFlags) => (await import('../commands/why.ts')).why(about, flags),
  },
  {
    name: 'exchanges list',
    endpoints: ['listExchanges'],
    summary: 'Webhooks and callbacks of a simulator, the latest first',
    options: [
      ['--failed', 'only those without a response of 2xx'],
      ['--all', 'with --failed: also those of samples that are down on purpose'],
      ['--task <id>', 'only those of this task'],
      ['--agent <agent>', 'only those of this agent, by id or slug'],
      ['--event <event>', 'only webhooks of this event: task.submitted'],
      ['--status <status>', 'only those with this response: 401, or none'],
      ['--delivery <id>', 'only the attempts of this delivery'],
      ['--since <time>', 'only what is as old as this or newer, by the clock of the market: 90s, 5m, 1h, 2d'],
      ['--limit <n>', 'at most so many (default: 20)'],
      ...reach('admin'),
      jsonOnce,
    ],
    examples: [
      'marketplace exchanges list',
      'marketplace exchanges list --failed --agent my-agent --json',
      'marketplace exchanges list --event task.submitted --status 401 --since 10m',
    ],
    run: async (_, flags: ExchangeListFlags) => (await import('../commands/exchanges.ts')).list(flags),
  },
  {
    name: 'exchanges show',
    endpoints: ['getExchange'],
    takes: ['<id>'],
    summary: 'One webhook or callback: its headers, its body, its response',
    options: [['--raw', 'the bytes of its body, and nothing else'], ...reach('admin'), jsonOnce],
    examples: ['marketplace exchanges show exchange_17', 'marketplace exchanges show exchange_17 --raw'],
    run: async ([id = ''], flags: ExchangeShowFlags) => (await import('../commands/exchanges.ts')).show(id, flags),
  },
  {
    name: 'exchanges replay',
    takes: ['<id>'],
    summary: 'Send a webhook or a signed callback once more',
    notes: 'A webhook is signed anew; a callback goes as it is, byte for byte.',
    options: [...reach('admin'), jsonOnce],
    examples: ['marketplace exchanges replay exchange_17', 'marketplace exchanges replay exchange_17 --json'],
    run: async ([id = ''], flags: ConnectionFlags) => (await import('../commands/exchanges.ts')).replay(id, flags),
  },
  {
    name: 'logs',
    endpoints: ['watchEvents'],
    summary: 'The log of a simulator, from any terminal and after the fact',
    options: [
      ['--failed', 'only what failed'],
      ['--all', 'with --failed: also what somebody wanted so'],
      ['--follow', 'go on with what comes, until Ctrl-C'],
      ['--since <time>', 'only what is as old as this or newer: 90s, 5m, 1h, 2d'],
      ['--task <id>', 'only that of this task'],
      ['--agent <agent>', 'only that of this agent, by id or slug'],
      ...reach('admin'),
      ['--json', 'JSON, one entry a line'],
    ],
    examples: ['marketplace logs --failed --since 10m', 'marketplace logs --follow --agent my-agent'],
    run: async (_, flags: LogFlags) => (await import('../commands/logs.ts')).logs(flags),
  },
]
