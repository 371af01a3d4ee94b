/**
 * An agent is ready when it answers, not when a connection to it is accepted: a proxy before it accepts sooner, and says 502 until it is there.
 * What meets that is sent again, as a marketplace would, and no check sees it.
 */
import type { Answer } from '../history/history.ts'
import { pause, stopwatch } from '../history/machine-time.ts'

/** As long as for the first connection. */
export const READY_MS = 30_000
const AGAIN_MS = 100

interface Told {
  readonly answer: Pick<Answer, 'status'> | null
  readonly error: string | null
}

export class ComingUp {
  /** Since its start, as long as nothing of its own was heard. */
  #since: (() => number) | null = stopwatch()

  starts(): void {
    this.#since = stopwatch()
  }

  /** It is up, or has ended. */
  ends(): void {
    this.#since = null
  }

  /** Sends until the agent itself answers, or is long enough in coming, and returns what came last. */
  async answered<Answered extends Told>(send: () => Promise<Answered>): Promise<Answered> {
    for (;;) {
      const told = await send()
      if (this.#since === null) return told
      if (!isOfProxy(told) || this.#since() > READY_MS) {
        this.ends()
        return told
      }
      await pause(AGAIN_MS)
    }
  }
}

const isOfProxy = ({ answer, error }: Told) =>
  answer ? [502, 503, 504].includes(answer.status) : (error?.startsWith('refused') ?? false)
