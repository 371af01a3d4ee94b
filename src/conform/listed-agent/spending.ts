/** The tasks that a run has bought, and a bound on what they may cost. */
import type { TaskRecord } from '../../api/records.ts'
import type { BoughtTask, Purchases } from '../history/history.ts'

const ended: readonly string[] = ['completed', 'cancelled']

const isOpen = ({ status }: BoughtTask): boolean => !ended.includes(status)

export class Purse {
  readonly limit: number
  readonly #tasks = new Map<string, BoughtTask>()
  readonly #changed: (purchases: Purchases) => void

  /** `changed`: hears of each change. */
  constructor(limit: number, changed: (purchases: Purchases) => void) {
    this.limit = limit
    this.#changed = changed
  }

  /** What may still be spent, if all open tasks are paid. */
  get left(): number {
    const { spent, held, limit } = this.state
    return limit - spent - held
  }

  note(label: string, { id, agreedPrice: price, status }: TaskRecord): void {
    this.#tasks.set(id, { id, label, price, status })
    this.#changed(this.state)
  }

  get open(): BoughtTask[] {
    return this.state.tasks.filter(isOpen)
  }

  get state(): Purchases {
    const tasks = [...this.#tasks.values()]
    const sum = (those: readonly BoughtTask[]) => those.reduce((cents, { price }) => cents + price, 0)
    const spent = sum(tasks.filter(({ status }) => status === 'completed'))
    return { limit: this.limit, spent, held: sum(tasks.filter(isOpen)), tasks }
  }
}
