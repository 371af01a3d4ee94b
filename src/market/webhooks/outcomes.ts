/**
 * Writes what became of each attempt, and again until the database takes it: what was sent must not be sent again because a
 * row could not be written. Source.
 */
import { dispatch } from '../../api/limits.ts'
import type { OutgoingResult } from '../../world/world.ts'
import type { Market } from '../market.ts'
import { type ClaimedDelivery, noteAttempt } from './attempt.ts'

export interface Notes {
  /** So many wait for a database that has refused them. */
  readonly refused: number
  /** Returns whether something of the agent may be due by that. Never rejects; resolves without a note after `close` alone. */
  write(delivery: ClaimedDelivery, result: OutgoingResult): Promise<boolean>
  /** Gives up what has been refused: the row says that it waits, and it is sent again after a start. */
  close(): void
}

export function notesOf(market: Market): Notes {
  const { world, log } = market
  const wakers = new Set<() => void>()
  let closed = false
  let refused = 0

  const pause = (ms: number) =>
    new Promise<void>(resolve => {
      const wake = () => {
        wakers.delete(wake)
        timer.cancel()
        resolve()
      }
      const timer = world.after(ms, wake)
      wakers.add(wake)
    })

  /** Undefined: it was refused. */
  const attempt = async (delivery: ClaimedDelivery, result: OutgoingResult) => {
    try {
      return await noteAttempt(market, delivery, result)
    } catch (error) {
      log({ type: 'error', message: `Webhook ${delivery.id} could not be noted: ${(error as Error).message}` })
      return undefined
    }
  }

  const writeAgain = async (delivery: ClaimedDelivery, result: OutgoingResult) => {
    for (let tries = 0; !closed; tries++) {
      await pause(dispatch.noteAgainMs[Math.min(tries, dispatch.noteAgainMs.length - 1)]!)
      // Perhaps what the agent has said is what can't be written.
      const follows = closed ? false : await attempt(delivery, tries === 0 ? result : withoutWords(result))
      if (follows !== undefined) return follows
    }
    return false
  }

  return {
    get refused() {
      return refused
    },
    async write(delivery, result) {
      const follows = await attempt(delivery, result)
      if (follows !== undefined) return follows
      refused++
      return writeAgain(delivery, result).finally(() => refused--)
    },
    close() {
      closed = true
      for (const wake of wakers) wake()
    },
  }
}

const withoutWords = (result: OutgoingResult): OutgoingResult =>
  result.ok ? { ...result, body: '' } : { ...result, message: 'What happened could not be written down' }
