/** Commands that belong to no part of the work. */
import type { CommandRecord } from '../command-line/command.ts'
import { jsonOnce, reach } from '../command-line/options.ts'
import type { CallFlags } from '../commands/call.ts'
import type { DoctorFlags } from '../commands/doctor.ts'
import type { McpFlags } from '../commands/mcp.ts'
import type { OpenapiFlags } from '../commands/openapi.ts'
import { exitCodes } from '../exit-codes.ts'
import type { AnswerFlags } from '../output/output.ts'

export const more: readonly CommandRecord[] = [
  {
    name: 'doctor',
    summary: 'Look at what commonly goes wrong here, and say what helps',
    options: [
      ['--agent <agent>', 'test this agent too: its address, its certificate, its callbacks'],
      ['--fix', 'mend what needs no decision: who can read the keys, and that git leaves them out'],
      ...reach('builder'),
      jsonOnce,
    ],
    notes: `It looks at Node, port, clock, versions, key, database, rights of files and secret; --agent adds an agent.
Exit code ${exitCodes.check}: something is wrong.`,
    examples: ['marketplace doctor', 'marketplace doctor --agent my-agent --json', 'marketplace doctor --fix'],
    run: async (_, flags: DoctorFlags) => (await import('../commands/doctor.ts')).doctor(flags),
  },
  {
    name: 'call',
    takes: ['<METHOD|PATH>', '[PATH]'],
    summary: 'Make any request of the API; a path alone is a GET',
    options: [
      ['-d, --data <json>', 'the body: JSON, @file, or - for stdin'],
      [
        '-F, --field <name=value...>',
        'a field: true, null and numbers as in JSON; @file and - are read; files=@path uploads',
      ],
      ['-H, --header <line...>', "a header: 'Name: value'"],
      ['-i, --include', 'print the status and the headers too'],
      ['--paginate', 'follow the pages of a list and print them as one'],
      ['-q, --jq <program>', "print what a program of jq makes of the answer: '.data.items[].slug'"],
      ...reach('builder'),
      ['--json', 'print the answer as it came'],
    ],
    examples: [
      'marketplace call /api/agents',
      "marketplace call /api/tasks --paginate --jq '.data.tasks[] | [.id, .status]'",
      'marketplace call /api/wallet --as buyer --include',
      'marketplace call POST /api/my/api-keys --field name=laptop',
      "marketplace call POST /api/tasks/TASK_ID/submit --header 'Idempotency-Key: order-17'",
      `marketplace call POST /api/my/api-keys --data '{"name": "laptop"}'`,
      'marketplace call PUT /api/my/agents/AGENT_ID --data @changes.json',
    ],
    run: async (words, flags: CallFlags) => (await import('../commands/call.ts')).call(words, flags),
  },
  {
    name: 'mcp',
    summary: 'Tools for coding agents (MCP), on stdin and stdout',
    options: [
      ['--start <command>', 'starts the agent that is judged'],
      ['--agent-url <url>', 'its webhook, if it is up already'],
      ['--secret-file <path>', 'a file with its webhook secret'],
      ['--read-only', 'only what looks, and changes nothing'],
      ...reach('builder'),
    ],
    notes: `A coding agent can hire the agent that it writes, look at the request that failed, ask why, and judge it until nothing is broken.
It works with the dev of this folder unless an address and a key are given. What is started is said here, and by no tool.`,
    examples: ["marketplace mcp --start 'node agent.js'", 'marketplace mcp --read-only'],
    run: async (_, flags: McpFlags, wholeTable) => (await import('../commands/mcp.ts')).mcp(flags, await wholeTable()),
  },
  {
    name: 'openapi',
    summary: 'Print the OpenAPI document of this version',
    options: [
      ['--mode <mode>', 'serve, or dev with what only a simulator has (default: serve)'],
      ['--base-url <url>', 'of the marketplace that it describes (default: http://127.0.0.1:4000)'],
      ['--json', 'print it on one line'],
    ],
    notes: 'That of a running marketplace: marketplace call GET /openapi.json',
    examples: ['marketplace openapi > openapi.json', 'marketplace openapi --mode dev --json'],
    run: async (_, flags: OpenapiFlags) => (await import('../commands/openapi.ts')).openapi(flags),
  },
  {
    name: 'completion',
    takes: ['<shell>'],
    values: ['bash', 'zsh', 'fish', 'pwsh'].map(shell => [shell, '']),
    summary: 'Print what completes commands in bash, zsh, fish or pwsh',
    options: [jsonOnce],
    notes: `Where it goes:
  bash  marketplace completion bash > ~/.local/share/bash-completion/completions/marketplace
  zsh   marketplace completion zsh > a file named _marketplace in a folder of $fpath
  fish  marketplace completion fish > ~/.config/fish/completions/marketplace.fish
  pwsh  marketplace completion pwsh | Out-String | Invoke-Expression, in $PROFILE`,
    examples: ['source <(marketplace completion bash)', 'marketplace completion fish | source'],
    run: async ([shell = ''], flags: AnswerFlags, wholeTable) =>
      (await import('../commands/completion.ts')).completion(shell, flags, wholeTable),
  },
  {
    name: 'help',
    takes: ['[command...]'],
    summary: 'Show the help of a command, as --help does',
    options: [jsonOnce],
    notes: 'help exit-codes tells what each exit code says.',
    examples: ['marketplace help', 'marketplace help tasks create', 'marketplace help exit-codes'],
    // The program asks for help before commands are looked for.
    run: async () => exitCodes.ok,
  },
  {
    name: 'version',
    summary: 'Print the version',
    options: [jsonOnce],
    examples: ['marketplace version', 'marketplace version --json'],
    run: async (_, flags: AnswerFlags) => (await import('../commands/openapi.ts')).printVersion(flags),
  },
]
