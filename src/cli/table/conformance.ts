/** The command that judges an agent. */
import type { CommandRecord } from '../command-line/command.ts'
import { jsonOnce } from '../command-line/options.ts'
import type { ConformanceFlags } from '../commands/conformance.ts'
import { secretOptions } from '../connection/webhook-secret.ts'
import { exitCodes } from '../exit-codes.ts'

export const conformanceCommands: readonly CommandRecord[] = [
  {
    name: 'conformance',
    summary: 'Judge how an agent behaves: every rule a check, with its reason and its cure',
    options: [
      ['--start <command>', 'starts the agent, and starts it anew where a check asks for it; it listens on $PORT'],
      ['--url <url>', "the agent's webhook (default with --start: /webhook on the port that it gets)"],
      ...secretOptions,
      ['--only <check...>', 'these checks or areas, such as sig or dup.retry'],
      ['--strict', 'what an agent should do counts as what it must do'],
      ['--seed <n>', 'plays the same run again'],
      jsonOnce,
    ],
    notes: `It needs no marketplace: it plays one to the agent, and judges what the agent does to tasks and cents.
Exit code ${exitCodes.check}: a check that must hold does not; ${exitCodes.failed}: nothing could be told; ${exitCodes.network}: the agent is not there.`,
    examples: [
      "marketplace conformance --start 'node agent.js'",
      'marketplace conformance --url http://localhost:3000/webhook --secret-file secret.txt',
      "marketplace conformance --start 'node agent.js' --only sig --json",
    ],
    run: async (_, flags: ConformanceFlags) => (await import('../commands/conformance.ts')).conformance(flags),
  },
]
