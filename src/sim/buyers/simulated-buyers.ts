/**
 * Simulated buyers: each hires every agent again and again, and does with its task what its persona decides. Nothing is kept
 * but the tasks, so a start goes on where the one before has ended. Source: A-256.
 */
import { Refusal } from '../../api/failures.ts'
import type { AgentRecord, TaskRecord } from '../../api/records.ts'
import { Activity } from '../../market/activity.ts'
import type { LogEntry } from '../../market/log.ts'
import type { Market } from '../../market/market.ts'
import { type ClockFollower, ClockFollowers, type PlannedStep } from '../../market/upkeep/clock-followers.ts'
import type { Timer } from '../../world/world.ts'
import { ensureFunds } from '../accounts.ts'
import { DOWN } from '../agents/down-on-purpose.ts'
import { type Act, acting } from '../verb-calls.ts'
import { againAt, type Deal, drawOf, keyOf, newDeal, numbered, numberIn } from './engagements.ts'
import { hire } from './hire.ts'
import { type Buyer, makeBuyers, RESERVE, type WantedPersonas } from './persona-accounts.ts'
import { carryOut, setStanding, type Told } from './persona-steps.ts'

/** How often they look at the clock, in real time. */
const LOOK_MS = 250
/** How soon a new agent is found while nobody else is to be hired, in real time. */
const FIND_MS = 2_000
/** More agents than these are not hired. */
const MOST_AGENTS = 100
/** As many are kept of agents that are gone. What is forgotten begins with No. 1 again. */
const MOST_GONE = 50
/** A step that was refused or failed is thought over after this long, or as soon as something happens to the task. Domain time. */
const AGAIN_MS = 60_000
/** Of one turn. No persona has as many without waiting. */
const MOST_STEPS = 5

export interface SimulatedBuyersOptions extends WantedPersonas {
  /** The same seed and the same answers of an agent are the same story of each task. */
  seed: string | number
}

export class SimulatedBuyers implements ClockFollower {
  readonly #market: Market
  readonly #admin: Act
  readonly #seed: string | number
  readonly #buyers: readonly Buyer[]
  readonly #deals = new Map<string, Deal>()
  readonly #ofTask = new Map<string, Deal>()
  /** When the next agent is to be hired again, in domain time. */
  #hireAt = 0
  /** When they look for new agents, in real time. */
  #findAt = 0
  #timer: Timer | null = null
  #unfollow = () => {}
  #look: Promise<void> | null = null
  #closed = false

  /** Makes their accounts, and finds the tasks that they have open. */
  static async open(options: SimulatedBuyersOptions): Promise<SimulatedBuyers> {
    const buyers = await makeBuyers(options)
    const simulated = new SimulatedBuyers(options, buyers)
    for (const buyer of buyers) await simulated.#findOpen(buyer)
    return simulated
  }

  private constructor({ market, adminId, seed }: SimulatedBuyersOptions, buyers: readonly Buyer[]) {
    this.#market = market
    this.#admin = acting(market, adminId)
    this.#seed = seed
    this.#buyers = buyers
  }

  /** Names of the accounts, by id. */
  get names(): ReadonlyMap<string, string> {
    return new Map(this.#buyers.map(({ id, persona }) => [id, persona.name]))
  }

  begin(): void {
    this.#unfollow = this.#market.memory.of(ClockFollowers).add(this)
    for (const deal of this.#deals.values()) this.#turnTo(deal)
    this.#plan()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#unfollow()
    this.#timer?.cancel()
    await this.#look
    for (const { busy } of this.#deals.values()) await busy
  }

  /** Hears of what happens to tasks, the log's entries. */
  hear(entry: LogEntry): void {
    const deal = entry.type === 'task' ? this.#ofTask.get(entry.taskId) : undefined
    if (deal) this.#turnTo(deal)
  }

  planned(): readonly PlannedStep[] {
    return [...this.#deals.values()].flatMap(({ next }) => next ?? [])
  }

  async act(isMoving: boolean): Promise<void> {
    const now = this.#market.world.now()
    for (const deal of this.#deals.values()) if (deal.next && deal.next.at <= now) this.#turnTo(deal)
    for (const { busy } of this.#deals.values()) await busy
    if (!isMoving) await this.#hireAll()
  }

  #plan(): void {
    if (this.#closed) return
    this.#timer = this.#market.world.after(LOOK_MS, () => {
      // While the clock is moved, the move itself says when it is their turn.
      this.#look = this.#market.background.isHurried ? null : this.act(!this.#mayHire).catch(this.#fail)
      void Promise.resolve(this.#look).then(() => this.#plan())
    })
  }

  /** A new task waits until nothing is in flight any more. */
  get #mayHire(): boolean {
    const { world, memory } = this.#market
    const isTime = world.now() >= this.#hireAt || world.realNow() >= this.#findAt
    return isTime && memory.of(Activity).isEmpty
  }

  /** Newest first, so the first one of each agent is the latest. */
  async #findOpen(buyer: Buyer): Promise<void> {
    const { items } = await buyer.act('listTasks', { role: 'buyer', limit: 100 })
    for (const task of items as readonly TaskRecord[]) {
      if (this.#deals.has(keyOf(buyer, task.agentId))) continue
      const deal = this.#dealWith(buyer, task.agent)
      deal.count = numberIn(task.title)
      deal.hiredAt = Date.parse(task.createdAt)
      this.#follow(deal, task.id)
    }
  }

  #dealWith(buyer: Buyer, agent: Deal['agent']): Deal {
    const key = keyOf(buyer, agent.id)
    const deal = this.#deals.get(key) ?? newDeal(buyer, agent)
    this.#deals.set(key, deal)
    return deal
  }

  #follow(deal: Deal, taskId: string): void {
    deal.taskId = taskId
    this.#ofTask.set(taskId, deal)
  }

  #leave(deal: Deal): void {
    if (deal.taskId !== null) this.#ofTask.delete(deal.taskId)
    deal.taskId = null
    deal.next = null
    this.#hireAt = Math.min(this.#hireAt, againAt(deal))
  }

  async #hireAll(): Promise<void> {
    const { world } = this.#market
    const agents = await this.#hireable()
    this.#findAt = world.realNow() + FIND_MS
    this.#hireAt = Infinity
    for (const buyer of this.#buyers) {
      for (const agent of agents) {
        const deal = this.#dealWith(buyer, agent)
        if (!this.#closed && deal.taskId === null && !deal.busy && world.now() >= againAt(deal)) {
          await this.#busy(deal, () => this.#hire(deal, agent))
          this.#turnTo(deal)
        }
        if (deal.taskId === null) this.#hireAt = Math.min(this.#hireAt, againAt(deal))
      }
    }
    this.#forgetGone(new Set(agents.map(({ id }) => id)))
  }

  /** Those without an open task first. */
  #forgetGone(listed: ReadonlySet<string>): void {
    const gone = [...this.#deals].filter(([, { agent, busy }]) => !busy && !listed.has(agent.id))
    gone.sort(([, one], [, other]) => Number(one.taskId !== null) - Number(other.taskId !== null))
    for (const [key, deal] of gone.slice(0, Math.max(0, gone.length - MOST_GONE))) {
      this.#leave(deal)
      this.#deals.delete(key)
    }
  }

  /** All that the public sees, but for those that are there to be down. */
  async #hireable(): Promise<AgentRecord[]> {
    // Not as a buyer, who may be banned.
    const { items } = await this.#admin('listAgents', { sort: 'newest', limit: MOST_AGENTS })
    const all = ('text' in items ? JSON.parse(items.text) : items) as AgentRecord[]
    return all.filter(({ tags }) => !tags.includes(DOWN))
  }

  async #hire(deal: Deal, agent: AgentRecord): Promise<void> {
    const { buyer } = deal
    const { id: buyerId, act, budgetId, persona } = buyer
    deal.hiredAt = this.#market.world.now()
    await setStanding(this.#admin, buyerId, persona, false)
    if (!(await this.#canPay(buyer, persona.offer(agent.basePrice)))) return
    deal.count++
    const titled = (title: string) => numbered(title, deal.count)
    await hire({
      ...{ buyer: act, admin: this.#admin, buyerId, budgetId, persona, agent, titled, whom: agent.slug },
      ...{ draw: drawOf(this.#seed, deal), began: id => this.#follow(deal, id), tell: told => this.#tell(deal, told) },
    })
  }

  async #canPay(buyer: Buyer, price: number): Promise<boolean> {
    const { act, persona } = buyer
    const { balance } = (await act('getWallet', {})).wallet
    if (balance >= price) return true
    if ((await ensureFunds(act, this.#admin, Math.max(price, RESERVE))) >= price) return true
    const today = Math.floor(this.#market.world.now() / DAY_MS)
    if (buyer.brokeOn !== today) {
      const message = `${persona.name} can't pay ${(price / 100).toFixed(2)}: its deposits of today are used up`
      this.#market.log({ type: 'warning', message })
    }
    buyer.brokeOn = today
    return false
  }

  /** Does what is to be done now, one thing after the other for each deal. */
  #turnTo(deal: Deal): void {
    deal.isStale = true
    if (deal.busy || this.#closed) return
    void this.#busy(deal, async () => {
      for (let steps = 0; deal.isStale && steps < MOST_STEPS && !this.#closed; steps++) {
        deal.isStale = false
        if (deal.taskId !== null) await this.#goOn(deal, deal.taskId).catch(error => this.#goOnLater(deal, error))
      }
    })
  }

  /** Counts as something under way, so that a moved clock waits for it. Never rejects. */
  #busy(deal: Deal, work: () => Promise<void>): Promise<void> {
    const end = this.#market.memory.of(Activity).begin('buyer', deal.agent.id)
    deal.busy = work()
      .catch(this.#fail)
      .finally(() => {
        deal.busy = null
        end()
      })
    return deal.busy
  }

  /** Something else went wrong, such as a database that is away for a moment. */
  #goOnLater(deal: Deal, error: Error): void {
    this.#fail(error)
    this.#planAgain(deal)
  }

  #planAgain(deal: Deal): void {
    const { taskId: id, buyer } = deal
    if (id !== null) deal.next = { at: this.#market.world.now() + AGAIN_MS, id, about: buyer.persona.name }
  }

  async #goOn(deal: Deal, id: string): Promise<void> {
    const { buyer } = deal
    // Not as the buyer, who may be banned.
    const task = await this.#admin('getTask', { id })
    const plan = buyer.persona.plan(task, drawOf(this.#seed, deal))
    deal.next = null
    if (plan === 'ended') return this.#leave(deal)
    if (plan === 'waits') return
    if (plan.at > this.#market.world.now()) {
      deal.next = { at: plan.at, id, about: buyer.persona.name }
      return
    }
    try {
      const actors = { buyer: buyer.act, admin: this.#admin }
      await carryOut(actors, buyer.persona, task, plan, told => this.#tell(deal, told))
    } catch (error) {
      // Somebody was faster, such as an agent that accepts what is being cancelled.
      if (!(error instanceof Refusal)) throw error
      this.#tell(deal, { does: 'refused', words: `is refused: ${error.message}` })
      return this.#planAgain(deal)
    }
    if (plan.step.does === 'rest') this.#leave(deal)
    deal.isStale = true
  }

  #tell({ buyer, agent, taskId }: Deal, { does, words, byAdmin }: Told): void {
    const { name: persona } = buyer.persona
    const message = `${byAdmin === true ? 'the administrator' : persona} ${words}`
    this.#market.log({ type: 'persona', persona, step: does, taskId, agentId: agent.id, message })
  }

  #fail = (error: Error): void => {
    this.#market.log({ type: 'warning', message: `A simulated buyer could not go on: ${error.message}` })
  }
}

const DAY_MS = 86_400_000
