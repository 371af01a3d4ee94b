/** Commands that belong to no part of the work. */
import type { Chapter } from '../command.ts'
import type { CallFlags } from '../commands/call.ts'
import { reach } from '../options.ts'

export const more: Chapter = [
  'More:',
  [
    {
      name: 'call',
      takes: ['<METHOD>', '<PATH>'],
      summary: 'Make any request of the API and print the answer',
      options: [
        ['-d, --data <json>', 'the body: JSON, @file, or - for stdin'],
        ...reach('builder'),
        ['--json', 'print the answer as it came'],
      ],
      examples: [
        'marketplace call GET /api/agents',
        'marketplace call GET /api/wallet --as buyer',
        `marketplace call POST /api/my/api-keys --data '{"name": "laptop"}'`,
        'marketplace call PUT /api/my/agents/AGENT_ID --data @changes.json',
      ],
      run: async ([method = '', path = ''], flags: CallFlags) =>
        (await import('../commands/call.ts')).call(method, path, flags),
    },
  ],
]
