/**
 * Puts entries into the order of cause and effect: an agent often calls back before it has answered the webhook, and then the
 * callback is logged first. So what happens to a task waits while a webhook about it has no answer, for a second at most.
 */
import type { StampedEntry } from '../../market/log.ts'

type Print = (entry: StampedEntry) => void

const PATIENCE_MS = 1_000
/** So many entries wait for one task at most. */
const MOST = 100

interface Task {
  /** The timers of the webhooks that have no answer, by delivery. */
  readonly unanswered: Map<string, NodeJS.Timeout>
  readonly waiting: StampedEntry[]
}

export class CausalOrder {
  readonly #print: Print
  readonly #patienceMs: number
  readonly #tasks = new Map<string, Task>()

  constructor(print: Print, patienceMs = PATIENCE_MS) {
    this.#print = print
    this.#patienceMs = patienceMs
  }

  add(entry: StampedEntry): void {
    const taskId = taskOf(entry)
    const task = taskId === null ? undefined : this.#tasks.get(taskId)
    if (entry.type === 'sending') this.#expect(entry)
    else if (taskId === null || !task) this.#print(entry)
    else if (entry.type === 'webhook') {
      this.#print(entry)
      this.#answered(taskId, entry.deliveryId)
    } else if (task.waiting.push(entry) > MOST) this.#release(taskId, task)
  }

  /** Prints all that still waits. */
  end(): void {
    for (const [taskId, task] of this.#tasks) this.#release(taskId, task)
  }

  #expect(entry: Extract<StampedEntry, { type: 'sending' }>): void {
    const { taskId, deliveryId } = entry
    const task = this.#tasks.get(taskId) ?? { unanswered: new Map(), waiting: [] }
    this.#tasks.set(taskId, task)
    const giveUp = () => {
      this.#print(entry)
      this.#answered(taskId, deliveryId)
    }
    task.unanswered.set(deliveryId, setTimeout(giveUp, this.#patienceMs).unref())
  }

  #answered(taskId: string, deliveryId: string): void {
    const task = this.#tasks.get(taskId)
    if (!task) return
    clearTimeout(task.unanswered.get(deliveryId))
    task.unanswered.delete(deliveryId)
    if (task.unanswered.size === 0) this.#release(taskId, task)
  }

  #release(taskId: string, { unanswered, waiting }: Task): void {
    for (const timer of unanswered.values()) clearTimeout(timer)
    this.#tasks.delete(taskId)
    for (const entry of waiting.splice(0)) this.#print(entry)
  }
}

const taskOf = (entry: StampedEntry): string | null => ('taskId' in entry ? entry.taskId : null)
