/**
 * A crowd of buyers: so many lives of tasks with one agent, spread over days that go by in moments. Each life has a character and chances
 * of its own, so the same seed and the same answers of the agent tell the same story of each, whatever goes on beside it. Source: A-260.
 */
import { Refusal } from '../api/failures.ts'
import type { TaskRecord } from '../api/records.ts'
import type { LogEntry } from '../market/log.ts'
import type { Market } from '../market/market.ts'
import { moveClockTo } from '../market/upkeep/clock-moves.ts'
import { seededChance } from '../world/chance.ts'
import { ensureFunds, furnishBuyers } from './accounts.ts'
import { type Act, acting } from './acting.ts'
import { done, perform } from './persona-steps.ts'
import type { Draw, Persona, Plan } from './personas.ts'

export interface CrowdOptions {
  readonly market: Market
  readonly adminId: string
  readonly agent: { readonly id: string; readonly basePrice: number }
  /** How many of ten or a hundred are of each character. */
  readonly mix: readonly { readonly persona: Persona; readonly share: number }[]
  readonly buyers: number
  readonly tasks: number
  /** The time over which they come, in ms. */
  readonly forMs: number
  readonly seed: number
  /** How long the agent may take for an answer, in ms of real time. */
  readonly patienceMs: number
  /** Hears of each life that has ended, and of how many there are. */
  readonly onLife?: (ended: number) => void
}

/** One task from its beginning to its end. */
export interface Life {
  /** From 1, in the order in which they come. */
  readonly number: number
  readonly persona: string
  taskId: string | null
  /** What happened to it, in order and without times. */
  readonly story: string[]
  /** What it is at the end; null: it was never submitted. */
  end: string | null
  /** How long the agent took for each answer, in ms of real time. */
  readonly answersMs: number[]
}

interface Running extends Life {
  readonly buyer: Act
  readonly draw: Draw
  readonly character: Persona
  /** Domain time; null: it has ended, or waits for nothing that could come. */
  nextAt: number | null
}

/** What buyers do is told by themselves. */
const ofAgents = ['accept', 'reject', 'deliver']
const RESERVE = 5_000
/** So many come in the same moment, as an agent has several at a time. */
const AT_ONCE = 4
/** Lives that are over by now but for their money. */
const AFTERWARDS_MS = 4 * 86_400_000

export class Crowd {
  readonly #options: CrowdOptions
  readonly #admin: Act
  readonly #stories = new Map<string, Running>()
  readonly #waiting = new Map<string, () => void>()
  /** How often in a row the agent has not answered, by what was asked of it. */
  readonly #unanswered = new Map<string, number>()
  #ended = 0

  constructor(options: CrowdOptions) {
    this.#options = options
    this.#admin = acting(options.market, options.adminId)
  }

  /** Hears of what happens to tasks, the log's entries. */
  hear(entry: LogEntry): void {
    if (entry.type !== 'task' || !ofAgents.includes(entry.trigger)) return
    const life = this.#stories.get(entry.taskId)
    if (!life) return
    life.story.push(entry.trigger)
    this.#waiting.get(entry.taskId)?.()
  }

  /** Plays all lives. Resolves to them when the last has ended and its money has cleared. */
  async play(): Promise<readonly Life[]> {
    const { market, forMs } = this.#options
    const from = market.world.now()
    const lives = await this.#lives(from)
    const until = from + forMs + AFTERWARDS_MS
    for (;;) {
      const at = Math.min(...lives.map(({ nextAt }) => nextAt ?? Number.POSITIVE_INFINITY))
      if (at > until) break
      await moveClockTo(market, at)
      const due = lives.filter(({ nextAt }) => nextAt !== null && nextAt <= at)
      await Promise.all(due.map(life => this.#turn(life)))
    }
    await moveClockTo(market, until)
    return lives.map(({ number, persona, taskId, story, end, answersMs }) => ({
      number,
      persona,
      taskId,
      story,
      end,
      answersMs,
    }))
  }

  async #lives(from: number): Promise<Running[]> {
    const { market, adminId, mix, buyers, tasks, forMs, seed } = this.#options
    const accounts = new Map<string, Act>()
    const accountOf = async ({ name, tier }: Persona, index: number): Promise<Act> => {
      const account = `${name}-${index % Math.max(1, Math.floor(buyers / mix.length))}`
      const known = accounts.get(account)
      if (known) return known
      const [made] = await furnishBuyers(market, adminId, { names: [account], tier, funds: RESERVE })
      const act = acting(market, made!.id)
      accounts.set(account, act)
      return act
    }
    const moments = Math.max(1, Math.ceil(tasks / AT_ONCE))
    const lives: Running[] = []
    for (let number = 1; number <= tasks; number++) {
      const draw: Draw = of => seededChance([seed, number, of].join(' ')).fraction()
      const character = chosen(mix, draw('persona'))
      lives.push({
        ...{ number, persona: character.name, character, draw, taskId: null, story: [], end: null, answersMs: [] },
        buyer: await accountOf(character, number),
        nextAt: from + Math.floor((Math.floor(draw('arrival') * moments) / moments) * forMs),
      })
    }
    return lives
  }

  /** Everything that it does at this moment. A refusal is the end of its story. */
  async #turn(life: Running): Promise<void> {
    life.nextAt = null
    try {
      if (life.taskId === null) await this.#submit(life)
      while (await this.#step(life)) {}
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      life.story.push(`refused: ${error.message}`)
    }
    if (life.nextAt === null) this.#options.onLife?.(++this.#ended)
  }

  /** Does the next thing if it is time. Returns whether there may be more. */
  async #step(life: Running): Promise<boolean> {
    const { buyer, character, draw } = life
    const task = (await buyer('getTask', { id: life.taskId! })) as TaskRecord
    life.end = task.dispute?.status === 'open' ? 'disputed' : task.status
    const plan = character.plan(task, draw)
    if (plan === 'ended' || plan === 'waits') return false
    if (plan.at > this.#options.market.world.now() && !isHasty(plan, task)) {
      life.nextAt = plan.at
      return false
    }
    life.story.push(done(plan.step))
    await perform({ buyer, admin: this.#admin }, task, plan.step)
    if (plan.step.does === 'revise') await this.#answer(life, ['deliver'])
    return true
  }

  async #submit(life: Running): Promise<void> {
    const { agent } = this.#options
    const { title, description, requirements } = life.character.brief(life.draw)
    const agreedPrice = life.character.offer(agent.basePrice)
    await ensureFunds(life.buyer, this.#admin, agreedPrice)
    const fields = {
      agentId: agent.id,
      title,
      description,
      agreedPrice,
      ...(requirements !== undefined && { requirements }),
    }
    const { id } = await life.buyer('createTask', fields)
    life.taskId = id
    life.story.push(`submit ${agreedPrice}`)
    this.#stories.set(id, life)
    await life.buyer('submitTask', { id })
    const task = (await life.buyer('getTask', { id })) as TaskRecord
    const plan = life.character.plan(task, life.draw)
    if (typeof plan !== 'string' && isHasty(plan, task)) return
    if (await this.#answer(life, ['accept', 'reject'])) await this.#answer(life, ['deliver'])
  }

  /** Waits for the agent. Resolves to whether it goes on with the task. */
  async #answer(life: Running, triggers: readonly string[]): Promise<boolean> {
    const { world } = this.#options.market
    const from = life.story.findLastIndex(words => !ofAgents.includes(words)) + 1
    const answered = () => life.story.slice(from).some(words => triggers.includes(words))
    const kind = `${triggers} ${life.story.some(words => words === 'deliver')}`
    const began = world.realNow()
    const left = () => this.#patienceMs(kind) - (world.realNow() - began)
    while (!answered() && !life.story.includes('reject') && left() > 0) await this.#news(life.taskId!, left())
    if (answered()) life.answersMs.push(world.realNow() - began)
    this.#unanswered.set(kind, answered() ? 0 : (this.#unanswered.get(kind) ?? 0) + 1)
    return !life.story.includes('reject') && answered()
  }

  /** An agent that never answers a thing is waited for a few times. */
  #patienceMs(kind: string): number {
    const { patienceMs } = this.#options
    return (this.#unanswered.get(kind) ?? 0) >= MOST_UNANSWERED ? Math.min(patienceMs, NOT_AGAIN_MS) : patienceMs
  }

  /** Resolves when something happens to the task, or after `ms`. */
  #news(taskId: string, ms: number): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        timer.cancel()
        this.#waiting.delete(taskId)
        resolve()
      }
      const timer = this.#options.market.world.after(ms, end)
      this.#waiting.set(taskId, end)
    })
  }
}

const MOST_UNANSWERED = 3
const NOT_AGAIN_MS = 250

/** An agent is not as fast as that. Whoever waits longer waits for its answer, so that the seed decides who is first. */
const HASTE_MS = 25

const isHasty = ({ step, at }: Exclude<Plan, string>, { submittedAt }: TaskRecord): boolean =>
  step.does === 'cancel' && at - Date.parse(submittedAt ?? '') < HASTE_MS

function chosen(mix: CrowdOptions['mix'], draw: number): Persona {
  const all = mix.reduce((sum, { share }) => sum + share, 0)
  let left = draw * all
  for (const { persona, share } of mix) {
    left -= share
    if (left < 0) return persona
  }
  return mix.at(-1)!.persona
}
