/** Follows the log of a simulator, and knows which tasks agents are working on: submitted to them, and not done. */
import { asksForWork } from '../../api/diagnosis/story.ts'
import type { Client } from '../../client/typed-client.ts'
import type { StampedEntry } from '../../market/log.ts'
import { boundedCache } from '../../shared/bounded-cache.ts'

export interface TaskInHand {
  taskId: string
  agentId: string
}

/** In these it has work. */
const AT_WORK: ReadonlySet<string> = new Set(['pending', 'in_progress'])
/** Of one that is forgotten a webhook that is sent once more is waited for, as long as there is patience. */
const DONE_KEPT = 10_000

export class AgentWork {
  readonly #inHand = new Map<string, TaskInHand>()
  /** Tasks of which nothing is to do: a webhook that was sent once more asks for nothing. */
  readonly #done = boundedCache<string>({ maxEntries: DONE_KEPT })
  readonly #stop = new AbortController()
  /** Where the clock stood after the last move that the log has told of. */
  #movedTo = ''
  #wake = () => {}

  /** `client`: an administrator's. Reads what the log still has, and follows it. */
  static async follow(client: Client): Promise<AgentWork> {
    const work = new AgentWork()
    const entries = await client.watchEvents({ after: 0 }, { signal: work.#stop.signal })
    work.#hearAll(entries as AsyncIterable<unknown>).catch(() => {})
    return work
  }

  /**
   * Waits until the log has told of the move to this time and no agent has a task in hand any more, as long as there is patience.
   * `waited`: some had, so that more may have happened. `left`: what they still have.
   */
  async done(movedTo: string, patience: AbortSignal): Promise<{ waited: boolean; left: TaskInHand[] }> {
    patience.addEventListener('abort', () => this.#wake())
    let waited = false
    while (!patience.aborted && (this.#movedTo !== movedTo || this.#inHand.size > 0)) {
      waited ||= this.#inHand.size > 0
      await new Promise<void>(resolve => (this.#wake = resolve))
    }
    return { waited, left: [...this.#inHand.values()] }
  }

  close(): void {
    this.#stop.abort()
  }

  async #hearAll(entries: AsyncIterable<unknown>): Promise<void> {
    for await (const entry of entries) {
      this.#hear(entry as StampedEntry)
      this.#wake()
    }
  }

  #hear(entry: StampedEntry): void {
    if (entry.type === 'clock') this.#movedTo = entry.now
    // Not once it is answered: an agent may call back before it answers.
    if (entry.type === 'sending' && asksForWork(entry.event) && !this.#done.get(entry.taskId)) {
      const { taskId, agentId } = entry
      this.#inHand.set(taskId, { taskId, agentId })
    }
    // It has not got it. It is sent again when that falls due.
    if (entry.type === 'webhook' && asksForWork(entry.event) && entry.outcome !== 'delivered') this.#drop(entry.taskId)
    if (entry.type !== 'task') return
    if (entry.trigger !== 'dispute' && AT_WORK.has(entry.to)) this.#done.delete(entry.taskId)
    else {
      this.#done.set(entry.taskId, entry.to)
      this.#drop(entry.taskId)
    }
  }

  #drop(taskId: string): void {
    this.#inHand.delete(taskId)
  }
}
