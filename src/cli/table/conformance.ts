/** The command that judges an agent. */
import { reportNames } from '../../conform/reports/names.ts'
import type { CommandRecord } from '../command-line/command.ts'
import { reach } from '../command-line/options.ts'
import type { ConformanceFlags } from '../commands/conformance.ts'
import { secretOptions } from '../connection/webhook-secret.ts'
import { exitCodes } from '../exit-codes.ts'

export const conformanceCommands: readonly CommandRecord[] = [
  {
    name: 'conformance',
    summary: 'Judge how an agent behaves, rule by rule',
    options: [
      ['--start <command>', 'starts the agent, and starts it anew where a check asks for it; it listens on $PORT'],
      [
        '--url <url>',
        "the agent's webhook (default with --start: /webhook on the port that it gets); with --agent, the marketplace",
      ],
      ...secretOptions,
      ['--agent <slug or id>', 'looks at an agent that a marketplace lists, from outside: makes its connection test'],
      ['--spend <amount>', 'with --agent: also buys tasks from it, for so much at most, like 20.00'],
      ...reach('builder').slice(1),
      ['--config <file>', 'what the author says of the agent (default: conformance.yaml, if it is there)'],
      ['--only <check...>', 'these checks or areas, such as sig or dup.retry'],
      ['--skip <check...>', 'all but these'],
      ['--strict', 'what an agent should do counts as what it must do'],
      ['--requirements <set>', 'the checks of that set decide, and each must be tested; takes no --only or --skip'],
      ['--baseline <file>', 'what is excused for now (default: conformance.baseline.yaml, if it is there)'],
      [
        '--write-baseline',
        `excuses all that is broken now, and ends with exit code ${exitCodes.ok} whatever is broken`,
      ],
      ['--bail', 'the first broken must ends the run'],
      ['--repeat <n>', 'plays the same run so often; a check with two verdicts says nothing'],
      [
        '--timeout <time>',
        'the whole run ends after it, with the report of what was seen (default: 45m, times --repeat)',
      ],
      ['--seed <n>', 'plays the run of that number'],
      ['--report <name...>', `${reportNames.join(', ')}; with a file as junit=out/junit.xml`],
      ['--save-history <file>', 'keeps what happened, byte for byte'],
      ['--history <file>', 'judges what was kept, without the agent'],
      ['--list', 'the checks'],
      [
        '--explain <check>',
        'its rule, why it is there, and what to change; with --history also what was sent and answered',
      ],
      ['--json', 'print the report as JSON on stdout'],
    ],
    notes: `It needs no marketplace: it plays one to the agent, and judges what the agent does to tasks and cents.
With --agent it looks at one that a marketplace lists: as its builder for nothing, and with --spend as a buyer. Most can't be seen so.
Exit code ${exitCodes.check}: a check that must hold does not; ${exitCodes.failed}: nothing could be told; ${exitCodes.network}: the agent is not there.`,
    examples: [
      "marketplace conformance --start 'node agent.js'",
      'marketplace conformance --url http://localhost:3000/webhook --secret-file secret.txt',
      "marketplace conformance --start 'node agent.js' --only sig --json",
      'marketplace conformance --agent my-agent --profile work',
      'marketplace conformance --agent my-agent --spend 20.00',
      'marketplace conformance --explain sig.valid',
      'marketplace conformance --explain sig.valid --history run.jsonl',
      'marketplace conformance --list --json',
    ],
    run: async (_, flags: ConformanceFlags) => {
      // Before the command itself, as what it loads would make the heap large.
      ;(await import('../conformance/small-heap.ts')).keepHeapSmall()
      return (await import('../commands/conformance.ts')).conformance(flags)
    },
  },
]
