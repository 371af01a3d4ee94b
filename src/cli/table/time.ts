/** Commands that show and move the clock of a simulator. */
import { clockMoves, durations } from '../../api/limits.ts'
import type { CommandRecord } from '../command-line/command.ts'
import { jsonLines, jsonOnce, reach } from '../command-line/options.ts'
import type { AdvanceFlags } from '../commands/clock.ts'
import type { ConnectionFlags } from '../connection/connection.ts'
import { exitCodes } from '../exit-codes.ts'

const TRAP = `Signatures, time-outs and the connection test stay on real time. X-Service-Timestamp says how old a request is, not the
timestamp in its body, which is moved: an agent that refuses what comes after a move judges by the wrong one of them.`

const MOVES = `What falls due on the way is done at its own time, in order: webhooks that are tried again, payments, mails, heartbeats.
Exit code ${exitCodes.failed}: something was still under way after ${durations.clockMoveMs / 1000} s, such as an agent that does not answer.
${TRAP}`

export const time: readonly CommandRecord[] = [
  {
    name: 'clock show',
    summary: 'The time of the simulator, and what falls due next',
    options: [...reach('admin'), jsonOnce],
    notes: TRAP,
    examples: ['marketplace clock show', 'marketplace clock show --json'],
    run: async (_, flags: ConnectionFlags) => (await import('../commands/clock.ts')).show(flags),
  },
  {
    name: 'clock advance',
    takes: ['<duration>'],
    summary: 'Move its clock; print what happens on the way',
    options: [
      ['--jump', 'go to the end at once, and do everything that has fallen due there'],
      ['--wait <duration>', 'at each moment wait for agents that have a task in hand, so long at most'],
      ...reach('admin'),
      jsonLines,
    ],
    notes: `A duration is 90s, 15m, 48h or 7d. An agent has a task in hand from the webhook that sends it to the delivery. With --wait
exit code ${exitCodes.failed} also says that one still had, and which. Without it nobody waits for what an agent does after its 200.\n${MOVES}`,
    examples: [
      'marketplace clock advance 48h',
      'marketplace clock advance 1h30m --json',
      'marketplace clock advance 1m --wait 30s',
    ],
    run: async ([duration = ''], flags: AdvanceFlags) =>
      (await import('../commands/clock.ts')).advance(duration, flags),
  },
  {
    name: 'clock next',
    summary: 'Name what falls due next, and move its clock there',
    options: [...reach('admin'), jsonLines],
    notes: MOVES,
    examples: ['marketplace clock next', 'marketplace clock next --json'],
    run: async (_, flags: ConnectionFlags) => (await import('../commands/clock.ts')).next(flags),
  },
  {
    name: 'clock scale',
    takes: ['<times>'],
    summary: 'Let its clock run 60 times as fast as real time',
    options: [...reach('admin'), jsonOnce],
    notes: `From 1, which is real time, to ${clockMoves.scale}, until the simulator ends. While something is in flight the clock runs as real time does.
${TRAP}`,
    examples: ['marketplace clock scale 60', 'marketplace clock scale 1 --json'],
    run: async ([times = ''], flags: ConnectionFlags) => (await import('../commands/clock.ts')).scale(times, flags),
  },
]
