/** What a marketplace should hold after any walk of tasks, kept in plain objects beside the real one. */
import {
  type Deltas,
  type Person,
  price,
  type Situation,
  type Step,
  splitRefund,
  steps,
  type Trigger,
  window48h,
} from './task-rules.ts'

export interface ModelTask {
  id: string
  buyer: number
  builder: number
  price: number
  situation: Situation
  completedAt: number
  /** Its payment is in the builder's clearing account. */
  clearing: boolean
  reviewed: boolean
}

export interface ModelBalances {
  available: number
  held: number
  clearing: number
}

export class Model {
  readonly tasks: ModelTask[] = []
  readonly balances: ModelBalances[]
  now: number

  constructor(people: number, funds: number, now: number) {
    this.balances = Array.from({ length: people }, () => ({ available: funds, held: 0, clearing: 0 }))
    this.now = now
  }

  add(id: string, buyer: number, builder: number, agreedPrice: number): void {
    const rest = { situation: 'draft', completedAt: 0, clearing: false, reviewed: false } as const
    this.tasks.push({ id, buyer, builder, price: agreedPrice, ...rest })
  }

  /** Who somebody is to a task; `people.length` is the administrator. */
  parties(task: ModelTask, who: number): Person[] {
    const parties: Person[] = []
    if (who === task.buyer) parties.push('buyer')
    if (who === task.builder) parties.push('builder')
    if (who === this.balances.length) parties.push('admin')
    return parties
  }

  /** The step that a trigger takes now; undefined where it is refused. */
  step(task: ModelTask, trigger: Trigger, parties: readonly Person[]): Step | undefined {
    const found = parties
      .map(by => steps.find(step => step.from === task.situation && step.trigger === trigger && step.by === by))
      .find(step => step !== undefined)
    if (trigger === 'submit' && this.balances[task.buyer]!.available < task.price) return undefined
    if (trigger === 'review' && task.reviewed) return undefined
    return found
  }

  apply(task: ModelTask, step: Step, refund: number): void {
    const { buyer, builder } = scaled(step.money, task.price, refund)
    add(this.balances[task.buyer]!, buyer)
    add(this.balances[task.builder]!, builder)
    if (builder.clearing !== 0) task.clearing = builder.clearing > 0
    if (step.trigger === 'approve') task.completedAt = this.now
    if (step.trigger === 'review') task.reviewed = true
    task.situation = step.to
  }

  /** 48 hours after its completion a payment clears, unless it is disputed. */
  pass(ms: number): void {
    this.now += ms
    for (const task of this.tasks.filter(({ completedAt }) => this.now >= completedAt + window48h)) {
      if (task.situation === 'completed, disputed') task.situation = 'completed 48 h ago, disputed in time'
      if (task.situation !== 'completed') continue
      task.situation = 'completed 48 h ago'
      task.clearing = false
      add(this.balances[task.builder]!, { available: task.price, held: 0, clearing: -task.price })
    }
  }
}

const add = (to: ModelBalances, change: ModelBalances) => {
  for (const kind of ['available', 'held', 'clearing'] as const) to[kind] += change[kind]
}

/** The rules speak of one price and one split; each task has its own. */
function scaled(money: Deltas, agreedPrice: number, refund: number): Deltas {
  const sizes = new Map([
    [0, 0],
    [price, agreedPrice],
    [splitRefund, refund],
    [price - splitRefund, agreedPrice - refund],
  ])
  const scale = (cents: number) => Math.sign(cents) * sizes.get(Math.abs(cents))!
  const side = ({ available, held, clearing }: ModelBalances) => ({
    available: scale(available),
    held: scale(held),
    clearing: scale(clearing),
  })
  return { buyer: side(money.buyer), builder: side(money.builder) }
}
