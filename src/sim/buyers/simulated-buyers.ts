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
import { DOWN } from '../agents/agents.ts'
import { type Act, verbsAs } from '../verb-calls.ts'
import { againAt, drawOf, type Engagement, keyOf, newEngagement, numbered, numberIn } from './engagements.ts'
import { hire } from './hire.ts'
import type { Persona } from './persona.ts'
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
  readonly #wanted: Omit<WantedPersonas, 'personas'>
  #buyers: readonly Buyer[] = []
  readonly #engagements = new Map<string, Engagement>()
  readonly #ofTask = new Map<string, Engagement>()
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
    const simulated = new SimulatedBuyers(options)
    await simulated.add(options.personas)
    return simulated
  }

  private constructor({ personas: _, seed, ...wanted }: SimulatedBuyersOptions) {
    this.#market = wanted.market
    this.#admin = verbsAs(wanted.market, wanted.adminId)
    this.#seed = seed
    this.#wanted = wanted
  }

  async add(personas: readonly Persona[]): Promise<void> {
    const buyers = await makeBuyers({ ...this.#wanted, personas })
    for (const buyer of buyers) await this.#findOpen(buyer)
    this.#buyers = [...this.#buyers, ...buyers]
    this.#hireAt = 0
    if (this.#timer) this.#goOnAll()
  }

  /** Its open tasks stay as they are. */
  remove(persona: Persona): void {
    const gone = this.#buyers.find(buyer => buyer.persona === persona)
    this.#buyers = this.#buyers.filter(buyer => buyer !== gone)
    for (const [key, engagement] of this.#engagements)
      if (engagement.buyer === gone) {
        this.#leave(engagement)
        this.#engagements.delete(key)
      }
  }

  has = (persona: Persona) => this.#buyers.some(buyer => buyer.persona === persona)

  /** Names of the accounts, by id. */
  get names(): ReadonlyMap<string, string> {
    return new Map(this.#buyers.map(({ id, persona }) => [id, persona.name]))
  }

  begin(): void {
    this.#unfollow = this.#market.memory.of(ClockFollowers).add(this)
    this.#goOnAll()
    this.#plan()
  }

  #goOnAll(): void {
    for (const engagement of this.#engagements.values()) this.#turnTo(engagement)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#unfollow()
    this.#timer?.cancel()
    await this.#look
    for (const { busy } of this.#engagements.values()) await busy
  }

  /** Hears of what happens to tasks, the log's entries. */
  hear(entry: LogEntry): void {
    const engagement = entry.type === 'task' ? this.#ofTask.get(entry.taskId) : undefined
    if (engagement) this.#turnTo(engagement)
  }

  planned(): readonly PlannedStep[] {
    return [...this.#engagements.values()].flatMap(({ next }) => next ?? [])
  }

  async act(isMoving: boolean): Promise<void> {
    const now = this.#market.world.now()
    for (const engagement of this.#engagements.values())
      if (engagement.next && engagement.next.at <= now) this.#turnTo(engagement)
    for (const { busy } of this.#engagements.values()) await busy
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
    return isTime && this.#buyers.length > 0 && memory.of(Activity).isEmpty
  }

  /** Newest first, so the first one of each agent is the latest. */
  async #findOpen(buyer: Buyer): Promise<void> {
    const { items } = await buyer.act('listTasks', { role: 'buyer', limit: 100 })
    for (const task of items as readonly TaskRecord[]) {
      if (this.#engagements.has(keyOf(buyer, task.agentId))) continue
      const engagement = this.#engagementOf(buyer, task.agent)
      engagement.count = numberIn(task.title)
      engagement.hiredAt = Date.parse(task.createdAt)
      this.#follow(engagement, task.id)
    }
  }

  #engagementOf(buyer: Buyer, agent: Engagement['agent']): Engagement {
    const key = keyOf(buyer, agent.id)
    const engagement = this.#engagements.get(key) ?? newEngagement(buyer, agent)
    this.#engagements.set(key, engagement)
    return engagement
  }

  #follow(engagement: Engagement, taskId: string): void {
    engagement.taskId = taskId
    this.#ofTask.set(taskId, engagement)
  }

  #leave(engagement: Engagement): void {
    if (engagement.taskId !== null) this.#ofTask.delete(engagement.taskId)
    engagement.taskId = null
    engagement.next = null
    this.#hireAt = Math.min(this.#hireAt, againAt(engagement))
  }

  async #hireAll(): Promise<void> {
    const { world } = this.#market
    const agents = await this.#hireable()
    this.#findAt = world.realNow() + FIND_MS
    this.#hireAt = Infinity
    for (const buyer of this.#buyers) {
      for (const agent of agents) {
        // It may have gone meanwhile.
        if (!this.#buyers.includes(buyer)) break
        const engagement = this.#engagementOf(buyer, agent)
        if (!this.#closed && engagement.taskId === null && !engagement.busy && world.now() >= againAt(engagement)) {
          await this.#busy(engagement, () => this.#hire(engagement, agent))
          this.#turnTo(engagement)
        }
        if (engagement.taskId === null) this.#hireAt = Math.min(this.#hireAt, againAt(engagement))
      }
    }
    this.#forgetGone(new Set(agents.map(({ id }) => id)))
  }

  /** Those without an open task first. */
  #forgetGone(listed: ReadonlySet<string>): void {
    const gone = [...this.#engagements].filter(([, { agent, busy }]) => !busy && !listed.has(agent.id))
    gone.sort(([, one], [, other]) => Number(one.taskId !== null) - Number(other.taskId !== null))
    for (const [key, engagement] of gone.slice(0, Math.max(0, gone.length - MOST_GONE))) {
      this.#leave(engagement)
      this.#engagements.delete(key)
    }
  }

  /** All that the public sees, but for those that never answer. */
  async #hireable(): Promise<AgentRecord[]> {
    // Not as a buyer, who may be banned.
    const { items } = await this.#admin('listAgents', { sort: 'newest', limit: MOST_AGENTS })
    const all = ('text' in items ? JSON.parse(items.text) : items) as AgentRecord[]
    return all.filter(({ tags }) => !tags.includes(DOWN))
  }

  async #hire(engagement: Engagement, agent: AgentRecord): Promise<void> {
    const { buyer } = engagement
    const { id: buyerId, act, budgetId, persona } = buyer
    engagement.hiredAt = this.#market.world.now()
    await setStanding(this.#admin, buyerId, persona, false)
    if (!(await this.#canPay(buyer, persona.offer(agent.basePrice)))) return
    engagement.count++
    const titled = (title: string) => numbered(title, engagement.count)
    await hire({
      ...{ buyer: act, admin: this.#admin, buyerId, budgetId, persona, agent, titled, whom: agent.slug },
      ...{
        draw: drawOf(this.#seed, engagement),
        began: id => this.#follow(engagement, id),
        tell: told => this.#tell(engagement, told),
      },
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

  /** Does what is to be done now, one thing after another for each engagement. */
  #turnTo(engagement: Engagement): void {
    engagement.isStale = true
    if (engagement.busy || this.#closed || !this.#buyers.includes(engagement.buyer)) return
    void this.#busy(engagement, async () => {
      for (let steps = 0; engagement.isStale && steps < MOST_STEPS && !this.#closed; steps++) {
        engagement.isStale = false
        if (engagement.taskId !== null)
          await this.#goOn(engagement, engagement.taskId).catch(error => this.#goOnLater(engagement, error))
      }
    })
  }

  /** Counts as something under way, so that a moved clock waits for it. Never rejects. */
  #busy(engagement: Engagement, work: () => Promise<void>): Promise<void> {
    const end = this.#market.memory.of(Activity).begin('buyer', engagement.agent.id)
    engagement.busy = work()
      .catch(this.#fail)
      .finally(() => {
        engagement.busy = null
        end()
      })
    return engagement.busy
  }

  /** Something else went wrong, such as a database that is away for a moment. */
  #goOnLater(engagement: Engagement, error: Error): void {
    this.#fail(error)
    this.#planAgain(engagement)
  }

  #planAgain(engagement: Engagement): void {
    const { taskId: id, buyer } = engagement
    if (id !== null) engagement.next = { at: this.#market.world.now() + AGAIN_MS, id, about: buyer.persona.name }
  }

  async #goOn(engagement: Engagement, id: string): Promise<void> {
    const { buyer } = engagement
    // Not as the buyer, who may be banned.
    const task = await this.#admin('getTask', { id })
    const plan = buyer.persona.plan(task, drawOf(this.#seed, engagement))
    engagement.next = null
    if (plan === 'ended') return this.#leave(engagement)
    if (plan === 'waits') return
    if (plan.at > this.#market.world.now()) {
      engagement.next = { at: plan.at, id, about: buyer.persona.name }
      return
    }
    try {
      const actors = { buyer: buyer.act, admin: this.#admin }
      await carryOut(actors, buyer.persona, task, plan, told => this.#tell(engagement, told))
    } catch (error) {
      // Somebody was faster, such as an agent that accepts what is being cancelled.
      if (!(error instanceof Refusal)) throw error
      this.#tell(engagement, { does: 'refused', words: `is refused: ${error.message}` })
      return this.#planAgain(engagement)
    }
    if (plan.step.does === 'rest') this.#leave(engagement)
    engagement.isStale = true
  }

  #tell({ buyer, agent, taskId }: Engagement, { does, words, byAdmin }: Told): void {
    const { name: persona } = buyer.persona
    const message = `${byAdmin === true ? 'the administrator' : persona} ${words}`
    this.#market.log({ type: 'persona', persona, step: does, taskId, agentId: agent.id, message })
  }

  #fail = (error: Error): void => {
    this.#market.log({ type: 'warning', message: `A simulated buyer could not go on: ${error.message}` })
  }
}

const DAY_MS = 86_400_000
