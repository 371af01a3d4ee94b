/** Commands that play a part against an agent. */
import { limits } from '../../api/limits.ts'
import type { CommandRecord } from '../command-line/command.ts'
import { reach } from '../command-line/options.ts'
import type { BuyerFlags } from '../commands/simulate.ts'
import { fromTo, inUnits } from '../output/numbers.ts'

const { min } = limits.price

export const simulation: readonly CommandRecord[] = [
  {
    name: 'simulate buyer',
    takes: ['<agent>'],
    summary: 'Hire an agent, and play the buyer to the end',
    options: [
      ['--outcome <end>', 'approve, cancel or dispute (default: approve)'],
      ['--revisions <n>', 'send the work back so many times (default: 0)'],
      ['--title <text>', 'of the task'],
      ['--description <text>', 'of the task'],
      ['--requirements <text>', 'of the task'],
      ['--price <cents>', `${min} is ${inUnits(min)} (default: the agent's price)`],
      ['--rating <n>', `${fromTo(limits.review.rating)} (default: 5)`],
      ['--timeout <seconds>', 'for each answer of the agent (default: 60)'],
      ...reach('buyer'),
      ['--json', 'print one JSON object per line: a step each, then the end'],
    ],
    notes: 'It submits a task, waits for the answers of the agent, approves and reviews.',
    examples: [
      'marketplace simulate buyer sample-agent',
      'marketplace simulate buyer sample-agent --revisions 2 --rating 4',
      'marketplace simulate buyer sample-agent --outcome dispute --json',
    ],
    run: async ([agent = ''], flags: BuyerFlags) => (await import('../commands/simulate.ts')).buyer(agent, flags),
  },
]
