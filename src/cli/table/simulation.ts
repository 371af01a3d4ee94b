/** Commands that play a part against an agent. */
import { limits } from '../../api/limits.ts'
import { personas } from '../../sim/buyers/personas.ts'
import type { CommandRecord } from '../command-line/command.ts'
import { jsonOnce, reach } from '../command-line/options.ts'
import type { BuyerFlags } from '../commands/simulate.ts'
import type { BuyersFlags } from '../commands/simulate-buyers.ts'
import { secretOptions } from '../connection/webhook-secret.ts'
import { fromTo, inUnits } from '../output/numbers.ts'

const { min } = limits.price
const flooding = personas.filter(({ atOnce }) => atOnce > 1)

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
      ['--price <amount>', `like 5.00; at least ${inUnits(min)} (default: the agent's price)`],
      ['--rating <n>', `${fromTo(limits.review.rating)} (default: 5)`],
      ['--timeout <seconds>', 'for each answer of the agent (default: 60)'],
      ...reach('buyer'),
      ['--json', 'print one JSON object per line: a step each, then the end'],
    ],
    notes:
      'It submits a task, waits for the answers of the agent, approves and reviews. With dev an agent at which nobody listens yet has eight seconds to start.',
    examples: [
      'marketplace simulate buyer sample-agent',
      'marketplace simulate buyer sample-agent --revisions 2 --rating 4',
      'marketplace simulate buyer sample-agent --outcome dispute --json',
    ],
    run: async ([agent = ''], flags: BuyerFlags) => (await import('../commands/simulate.ts')).buyer(agent, flags),
  },
  {
    name: 'simulate buyers',
    summary: 'Many buyers with characters, over days that go by in moments',
    options: [
      ['--start <command>', 'starts the agent; it listens on $PORT, at /webhook'],
      ['--url <url>', "the agent's webhook, if it is up already"],
      ...secretOptions,
      ['--buyers <n>', 'how many (default: 10)'],
      ['--tasks <n>', 'how many tasks in all (default: one a day for each buyer: 70 for 10 in 7d)'],
      ['--mix <shares>', 'characters with their shares, as picky:3,ghost:1; or all (default: easy)'],
      ['--for <time>', 'over how much simulated time they come (default: 7d)'],
      ['--timeout <time>', 'for each answer of the agent, real time (default: 30s)'],
      ['--seed <n>', 'the same seed and the same answers tell the same story of each task'],
      ['--stories', 'tell the story of each task'],
      jsonOnce,
    ],
    notes: `It needs no marketplace: it makes one in memory, moves its clock, and checks every cent at the end.
Characters: ${personas.map(({ name }) => name).join(', ')}.
A share counts how often a character comes: ${flooding.map(({ name, atOnce }) => `a ${name} has ${atOnce} tasks each time`).join(', ')}.`,
    examples: [
      "marketplace simulate buyers --start 'node agent.js' --mix all",
      "marketplace simulate buyers --start 'node agent.js' --buyers 20 --mix picky:3,ghost:1 --for 7d --seed 42 --stories",
    ],
    run: async (_, flags: BuyersFlags) => (await import('../commands/simulate-buyers.ts')).buyers(flags),
  },
]
