/**
 * A crowd of buyers: so many lives of tasks with one agent, spread over days that go by in moments. Each life has a character and chances
 * of its own, so the same seed and the same answers of the agent tell the same story of each, whatever goes on beside it. Source: A-260.
 */
import { Refusal } from '../../api/failures.ts'
import type { TaskRecord } from '../../api/records.ts'
import type { LogEntry } from '../../market/log.ts'
import { moveClockTo } from '../../market/upkeep/clock-moves.ts'
import { ensureFunds } from '../accounts.ts'
import { type Act, verbsAs } from '../verb-calls.ts'
import { hire } from './hire.ts'
import { type CrowdOptions, type Life, planLives, type Running } from './lives.ts'
import type { PlannedStep } from './persona.ts'
import { carryOut, setStanding, type Told } from './persona-steps.ts'

/** What buyers do is told by themselves. */
const ofAgents = ['accept', 'reject', 'deliver']
/** Lives that are over by now but for their money. */
const AFTERWARDS_MS = 5 * 86_400_000

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
    this.#admin = verbsAs(options.market, options.adminId)
  }

  /** Hears of what happens to tasks, the log's entries. */
  hear(entry: LogEntry): void {
    if (entry.type !== 'task' || !ofAgents.includes(entry.trigger)) return
    const life = this.#stories.get(entry.taskId)
    if (!life) return
    ;(life.meanwhile ?? life.story).push(entry.trigger)
    this.#waiting.get(entry.taskId)?.()
  }

  hasCancelled(taskId: string): boolean {
    return this.#stories.get(taskId)?.story.includes('cancels') === true
  }

  /** Plays all lives. Resolves to them when the last has ended and its money has cleared. */
  async play(): Promise<readonly Life[]> {
    const { market, forMs } = this.#options
    const from = market.world.now()
    const lives = await planLives(this.#options, from)
    const until = from + forMs + AFTERWARDS_MS
    for (;;) {
      const at = Math.min(...lives.map(({ nextAt }) => nextAt ?? Number.POSITIVE_INFINITY))
      if (at > until) break
      await moveClockTo(market, at)
      const due = lives.filter(({ nextAt }) => nextAt !== null && nextAt <= at)
      // One after the other, so that the seed decides whom a limit refuses.
      for (const life of due) if (life.taskId === null) await this.#begin(life)
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

  /** Everything that it does at this moment. A refusal that it has not expected is the end of its story. */
  async #turn(life: Running): Promise<void> {
    life.nextAt = null
    if (life.taskId !== null) {
      await this.#unlessRefused(life, async () => {
        if (life.isNew && (await this.#answer(life, ['accept', 'reject']))) await this.#answer(life, ['deliver'])
        life.isNew = false
        while (await this.#step(life)) {}
      })
    }
    if (life.nextAt === null) this.#options.onLife?.(++this.#ended)
  }

  async #unlessRefused(life: Running, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      this.#tell(life, { does: 'refused', words: `is refused: ${error.message}` })
    }
  }

  /** Does the next thing if it is time. Returns whether there may be more. */
  async #step(life: Running): Promise<boolean> {
    const { buyer, character, draw } = life
    const task = await this.#look(life)
    life.end = task.dispute?.status === 'open' ? 'disputed' : task.status
    const plan = character.plan(task, draw)
    if (plan === 'ended' || plan === 'waits') return false
    if (plan.at > this.#options.market.world.now() && !isHasty(plan, task)) {
      life.nextAt = plan.at
      return false
    }
    const actors = { buyer: buyer.act, admin: this.#admin }
    await this.#doing(life, () => carryOut(actors, character, task, plan, told => this.#tell(life, told)))
    if (plan.step.does === 'revise') await this.#answer(life, ['deliver'])
    return plan.step.does !== 'rest'
  }

  /** Hires the agent. Whoever cancels at once does that before others come. */
  async #begin(life: Running): Promise<void> {
    const { market, agent } = this.#options
    const { buyer, character, draw, address } = life
    await this.#unlessRefused(life, async () => {
      await setStanding(this.#admin, buyer.id, character, false)
      await ensureFunds(buyer.act, this.#admin, character.offer(agent.basePrice) + 1)
      const began = (taskId: string) => {
        life.taskId = taskId
        this.#stories.set(taskId, life)
      }
      await this.#doing(life, () =>
        hire({
          ...{ buyer: address === null ? buyer.act : verbsAs(market, buyer.id, address), admin: this.#admin },
          ...{ buyerId: buyer.id, budgetId: buyer.budgetId, agent, persona: character, draw, began },
          ...{ whom: 'the agent', titled: title => title, tell: told => this.#tell(life, told) },
        }),
      )
      const task = await this.#look(life)
      const plan = character.plan(task, draw)
      life.isNew = typeof plan === 'string' || !isHasty(plan, task)
      if (!life.isNew) await this.#step(life)
    })
  }

  /** Not as the buyer, who may be banned. */
  #look({ taskId }: Running): Promise<TaskRecord> {
    return this.#admin('getTask', { id: taskId! })
  }

  #tell({ story }: Running, { does, words, byAdmin }: Told): void {
    // Behind it stands what helps, with seconds that are others each time.
    const fact = does === 'refused' ? words.split(';')[0]! : words
    story.push(byAdmin === true ? `the administrator ${fact}` : fact)
  }

  async #doing(life: Running, work: () => Promise<void>): Promise<void> {
    life.meanwhile = []
    try {
      await work()
    } finally {
      life.story.push(...life.meanwhile)
      life.meanwhile = null
    }
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

const isHasty = ({ step, at }: PlannedStep, { submittedAt }: TaskRecord): boolean =>
  step.does === 'cancel' && at - Date.parse(submittedAt ?? '') < HASTE_MS
