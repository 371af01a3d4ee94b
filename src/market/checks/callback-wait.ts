/** Waits for the callback of a connection test, whichever instance receives it. Source: A-24. */
import type { Finding } from '../../api/diagnosis/record.ts'
import { testById } from '../../store/tables/agents/agent-tests.ts'
import type { Market } from '../market.ts'

/** How the callback was judged. */
export interface CallbackVerdict {
  /** Its signature is right. */
  readonly isSigned: boolean
  /** In words; null: a real task would take it. */
  readonly fault: string | null
  readonly finding: Finding | null
}

interface Waiting {
  verdict: CallbackVerdict | null
  wake: () => void
}

const POLL_MS = 250

/** By the id of the test. */
class CallbackWaits extends Map<string, Waiting> {}

/** Listens from this call on. `wait` resolves with the first verdict, or with null after `ms`. */
export function listenForCallback({ db, world, log, memory }: Market, testId: string) {
  const waits = memory.of(CallbackWaits)
  const state: Waiting = { verdict: null, wake: () => {} }
  let closed = false
  waits.set(testId, state)

  const look = async () => {
    if (closed) return
    try {
      state.verdict ??= JSON.parse((await db.read(q => testById(q, testId)))?.callback ?? 'null')
    } catch (error) {
      log({ type: 'warning', message: `The row of a connection test could not be read: ${(error as Error).message}` })
    }
  }

  return {
    async wait(ms: number): Promise<CallbackVerdict | null> {
      let over = false
      const end = world.after(ms, () => {
        over = true
        state.wake()
      })
      for (await look(); state.verdict === null && !over && !closed; await look()) {
        await new Promise<void>(resolve => {
          const poll = world.after(POLL_MS, resolve)
          state.wake = () => {
            poll.cancel()
            resolve()
          }
        })
      }
      end.cancel()
      return state.verdict
    },
    /** Ends a wait that nobody needs any more. */
    close() {
      closed = true
      state.wake()
      waits.delete(testId)
    },
  }
}

/** Passes the verdict to the waiting test, if it runs in this process. Never throws. */
export function announceCallback({ memory }: Pick<Market, 'memory'>, testId: string, verdict: CallbackVerdict) {
  const state = memory.of(CallbackWaits).get(testId)
  if (!state) return
  state.verdict ??= verdict
  state.wake()
}
