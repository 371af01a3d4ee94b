/** Commands about tasks: a request each, and what is more than one. */
import type { CommandRecord } from '../command-line/command.ts'
import { jsonOnce, reach } from '../command-line/options.ts'
import type { DeliverFlags, DownloadFlags, WatchFlags } from '../commands/tasks.ts'
import { endpointCommand } from '../endpoint/command.ts'
import { taskRows } from './task-rows.ts'

/** What is more than one request. */
const more: readonly CommandRecord[] = [
  {
    name: 'tasks watch',
    takes: ['<task-id>'],
    summary: 'Follow a task until it ends, line by line',
    options: [
      ['--until <state>', 'leave at this state: pending, in_progress, delivered, completed or cancelled'],
      ['--timeout <seconds>', 'give up after this time (default: 3600)'],
      ...reach('buyer'),
      ['--json', 'print one JSON object per line: a state each, then the end'],
    ],
    examples: ['marketplace tasks watch TASK_ID', 'marketplace tasks watch TASK_ID --until delivered --timeout 60'],
    run: async ([id = ''], flags: WatchFlags) => (await import('../commands/tasks.ts')).watch(id, flags),
  },
  {
    name: 'tasks deliver',
    takes: ['<task-id>'],
    summary: 'Deliver by hand what your agent was hired for',
    options: [
      ['--content <text>', 'the work: text, @file, or - for stdin'],
      ['--notes <text>', 'what the buyer should know'],
      ['--file <path...>', 'files to deliver; needs a key'],
      ...reach('builder'),
      jsonOnce,
    ],
    endpoints: ['deliverTask', 'agentDeliver'],
    examples: [
      'marketplace tasks deliver TASK_ID --content "Guten Tag"',
      'marketplace tasks deliver TASK_ID --content @letter.txt --file letter.pdf --json',
    ],
    run: async ([id = ''], flags: DeliverFlags) => (await import('../commands/tasks.ts')).deliver(id, flags),
  },
  {
    name: 'tasks download',
    takes: ['<task-id>', '[file-id]'],
    summary: 'Save the files of the latest deliverable, or one',
    options: [
      ['--dir <folder>', 'where to (default: this folder)'],
      ['--clobber', 'write over files that are there'],
      ...reach('buyer'),
      jsonOnce,
    ],
    endpoints: ['downloadFile'],
    examples: ['marketplace tasks download TASK_ID', 'marketplace tasks download TASK_ID FILE_ID --dir work --clobber'],
    run: async ([id = '', file], flags: DownloadFlags) =>
      (await import('../commands/tasks.ts')).download(id, file, flags),
  },
]

export const tasks: readonly CommandRecord[] = [...taskRows.map(endpointCommand), ...more]
