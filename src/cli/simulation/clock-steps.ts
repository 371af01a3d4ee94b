/** Moves the clock of a simulator from one moment at which something falls due to the next. */
import { durations } from '../../api/limits.ts'
import type { Client } from '../../client/typed-client.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { plain } from '../output/ui.ts'

export type Clock = Awaited<ReturnType<Client['getClock']>>
export type Move = Awaited<ReturnType<Client['moveClock']>>
export type Due = Move['done'][number]

/** What falls due next, and in how many ms. Throws a Fault if nothing does. */
export function nextIn({ next, now }: Clock) {
  if (next) return { due: next, inMs: Math.max(0, Date.parse(next.at) - Date.parse(now)) }
  throw new Fault('Nothing falls due: no webhook waits, no payment clears, no mail and no heartbeat.', {
    code: exitCodes.failed,
    hint: `Move the clock by a duration: ${nextSteps.advanceClock()}`,
  })
}

/** The server bounds the length of one move, so that a long way takes several. */
export const moveOnce = (client: Client, byMs: number, jump = false): Promise<Move> =>
  client.moveClock({ advanceMs: Math.min(byMs, durations.clockStepMs), ...(jump ? { jump } : { steps: 1 }) })

/** Throws a Fault that names what did not end in time. */
export function refuseStuck({ now, stopped }: Move): void {
  if (stopped?.reason !== 'under_way') return
  const names = (stopped.underWay ?? []).map(({ kind, id }) => `${kind} ${plain(id)}`)
  const what = names.length > 0 ? names.join(', ') : 'the work that fell due'
  throw new Fault(`Still under way after ${durations.clockMoveMs / 1000} s: ${what}. The clock stands at ${now}.`, {
    code: exitCodes.failed,
    hint: 'An agent that is slow to answer holds the clock up. Advance again when it has answered, or with --jump.',
  })
}

/** A webhook that falls due by the clock is one that is tried again. */
export function dueInWords({ kind, id, about }: Pick<Due, 'kind' | 'id' | 'about'>): string {
  switch (kind) {
    case 'webhook':
      return `webhook ${plain(about ?? '')} again (${plain(id)})`
    case 'clearing':
      return `payment of ${plain(id)} clears`
    case 'heartbeat':
      return 'heartbeat tests agents'
    case 'mail':
      return `mail ${plain((about ?? '').replaceAll('_', ' '))} again (${plain(id)})`
    case 'retention':
      return `old ${plain(id.replaceAll('_', ' '))} are deleted`
    case 'buyer':
      return `${plain(about ?? '')} turns to ${plain(id)}`
  }
}
