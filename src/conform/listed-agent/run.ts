/**
 * Looks at an agent where a marketplace lists it: makes its connection test, buys tasks as any buyer does, and reads what there is to read.
 * Source: A-262.
 */

import type { AgentRecord, OwnAgentRecord, TaskRecord, TestReport } from '../../api/records.ts'
import { type Client, MarketplaceError } from '../../client/typed-client.ts'
import { version } from '../../settings/config.ts'
import { seededChance } from '../../world/chance.ts'
import type { World } from '../../world/world.ts'
import { type Declared, declaredInWords, type Sample } from '../agent/declared.ts'
import { firstTaskHas, type Purchases } from '../history/history.ts'
import { stopwatch } from '../history/machine-time.ts'
import { type Listen, Recorder } from '../history/recorder.ts'
import { endOf, whyEnded } from '../judging/time-limit.ts'
import { Buyer, type Wanted } from './buyer.ts'
import { keepDeliveries } from './deliveries.ts'
import { failureInWords, Patient, type Wait } from './retries.ts'
import { labels, type Purchase, purchases, scenes } from './scenes.ts'
import { Purse } from './spending.ts'
import type { BesideWork } from './test-judges.ts'

export interface OutsideOptions {
  readonly client: Client
  readonly marketplace: string
  readonly agent: AgentRecord | OwnAgentRecord
  /** It is the account's own: it may be tested, and the log of its deliveries read. */
  readonly isOwn: boolean
  /** What all tasks together may cost, in cents; null: none is bought. */
  readonly limit: number | null
  readonly declared: Declared
  readonly seed: number
  /** Names of what is done. */
  readonly scenes: ReadonlySet<string>
  /** Ids of the checks that the run is for; undefined: all. */
  readonly chosen?: readonly string[] | undefined
  readonly newId: World['id']
  readonly listen?: Listen
  /** Hears of each task that is bought, and of what becomes of it. */
  readonly onPurchases?: (purchases: Purchases) => void
  /** Hears of each wait that a person would notice. */
  readonly onWait?: (wait: Wait) => void
  /** Ends the run. What is open then is ended as far as it can be. */
  readonly signal: AbortSignal
}

/** Resolves to what happened. */
export async function lookAt(options: OutsideOptions) {
  const recorder = new Recorder(options.listen)
  const interrupt = () => recorder.interrupt(whyEnded(options.signal))
  options.signal.addEventListener('abort', interrupt)
  try {
    await new Outside(options, recorder).perform()
    return recorder.history
  } finally {
    options.signal.removeEventListener('abort', interrupt)
  }
}

/** The purchases that these scenes make, and how many tasks in all. */
export function purchasesOf(wanted: ReadonlySet<string>, { rejects }: Declared) {
  const those = purchases.filter(([name]) => wanted.has(name) && (name !== scenes.rejection || rejects.length > 0))
  return { those, count: those.reduce((sum, [, tasks]) => sum + tasks, 0) }
}

const NOT_OWN = 'the agent is another builder’s: its own account alone may do this'
const NO_MONEY = 'a task is needed, which costs its price: --spend'
const UNSEEN = 'from outside it can’t be seen: play a marketplace to the agent, with --start or --url'
const TEST_TRIES = 4

class Outside {
  readonly #options: OutsideOptions
  readonly #recorder: Recorder
  readonly #purse: Purse
  readonly #buyer: Buyer
  readonly #patient: Patient
  readonly #chance: () => number

  constructor(options: OutsideOptions, recorder: Recorder) {
    const { client, agent, limit, seed, newId, signal, onPurchases = () => {}, onWait } = options
    this.#options = options
    this.#recorder = recorder
    this.#purse = new Purse(limit ?? 0, onPurchases)
    this.#chance = seededChance(seed).fraction
    this.#patient = new Patient(signal, onWait)
    this.#buyer = new Buyer({
      ...{ client, agentId: agent.id, recorder, purse: this.#purse, patient: this.#patient },
      newId: () => newId('conform'),
    })
  }

  async perform(): Promise<void> {
    const elapsed = stopwatch()
    const { isOwn, limit, signal } = this.#options
    this.#begin()
    const mine = isOwn ? null : NOT_OWN
    await this.#scene(scenes.test, mine, () => this.#testTwice())
    try {
      for (const [name, tasks] of purchases) await this.#scene(name, this.#missing(name, tasks), this.#plays[name])
    } finally {
      await this.#endAll()
    }
    const bought = this.#purse.state.tasks.length > 0
    await this.#scene(scenes.lastTest, mine ?? (bought ? null : NO_MONEY), () => this.#test(labels.testAtEnd))
    await this.#scene(scenes.log, mine ?? (bought ? null : NO_MONEY), () => this.#readLog())
    await this.#scene(scenes.unseen, UNSEEN, async () => {})
    if (limit !== null) this.#recorder.add({ kind: 'purchases', ...this.#purse.state })
    this.#recorder.add(endOf(signal, elapsed()))
  }

  #begin(): void {
    const { agent, marketplace, declared, seed, chosen } = this.#options
    const { answer, work } = declared.patience
    const url = 'webhookUrl' in agent ? (agent.webhookUrl ?? '') : ''
    this.#recorder.add({
      ...{ kind: 'begin', schema: 'conformance-history/1', version, seed },
      agent: { url, command: null, listed: { marketplace, id: agent.id, slug: agent.slug } },
      patience: { answer, work },
      declared: declaredInWords(declared),
      ...(chosen && { chosen }),
    })
  }

  async #scene(scenario: string, missing: string | null, play: () => Promise<void>): Promise<void> {
    const { signal, scenes } = this.#options
    if (signal.aborted || !scenes.has(scenario)) return
    const elapsed = stopwatch()
    const end = (outcome: 'done' | 'skipped' | 'failed', why: string) => {
      this.#recorder.add({ kind: 'scenario', scenario, outcome, why, byDeclaration: false, ms: elapsed() })
    }
    if (missing !== null) return end('skipped', missing)
    try {
      await play()
      end('done', '')
    } catch (error) {
      if (!signal.aborted) end('failed', failureInWords(error as Error))
    }
  }

  /** Says what is missing for a purchase; null if nothing is. */
  #missing(name: Purchase, tasks: number): string | null {
    const { limit, agent, declared } = this.#options
    if (limit === null) return NO_MONEY
    if (name === scenes.rejection && declared.rejects.length === 0)
      return 'no sample that the agent rejects is declared'
    if (
      name !== scenes.life &&
      this.#options.scenes.has(scenes.life) &&
      !firstTaskHas(this.#recorder.history, 'accept', 'reject')
    )
      return 'the agent did not decide about the first task, so no more were bought'
    if (this.#purse.left >= tasks * agent.basePrice) return null
    return `what --spend allows does not suffice for ${tasks === 1 ? 'one more task' : `${tasks} more tasks`}`
  }

  readonly #plays: Readonly<Record<Purchase, () => Promise<void>>> = {
    [scenes.life]: () => this.#life(),
    [scenes.cancellation]: () => this.#cancellation(),
    [scenes.pair]: () => this.#pair(),
    [scenes.rejection]: () => this.#rejection(),
  }

  async #life(): Promise<void> {
    const { isOwn, agent, declared } = this.#options
    const buyer = this.#buyer
    const accepted = await this.#decided(await buyer.buy(labels.first, this.#wanted()))
    const testing = isOwn && accepted.status === 'in_progress' ? this.#testBeside(accepted) : null
    let task = await this.#delivered(accepted)
    await testing
    if (task.status !== 'delivered') return
    if (isOwn) await buyer.write(task, 'Thank you, I am looking at it.')
    if (declared.revisions && agent.maxRevisions !== 0) {
      task = await buyer.requestRevision(task, 'Please say it in other words once more.')
      task = await this.#delivered(task, 1)
    }
    await buyer.end(task)
  }

  async #cancellation(): Promise<void> {
    const task = await this.#buyer.cancel(await this.#buyer.buy(labels.cancelled, this.#wanted()))
    // The agent may have been quicker. Then it is paid.
    if (task.status !== 'cancelled') await this.#buyer.end(await this.#delivered(await this.#decided(task)))
  }

  async #pair(): Promise<void> {
    const wanted = this.#wanted()
    const both = [await this.#buyer.buy(labels.pair, wanted), await this.#buyer.buy(labels.pair, wanted)]
    await Promise.all(both.map(async task => this.#buyer.end(await this.#delivered(await this.#decided(task)))))
  }

  async #rejection(): Promise<void> {
    const task = await this.#buyer.buy(labels.rejected, this.#wanted(this.#options.declared.rejects[0]))
    await this.#buyer.end(await this.#delivered(await this.#decided(task)))
  }

  #decided(task: TaskRecord): Promise<TaskRecord> {
    const { answer } = this.#options.declared.patience
    return this.#buyer.until(task, ({ status }) => status !== 'pending', answer)
  }

  #delivered(task: TaskRecord, round = 0): Promise<TaskRecord> {
    if (task.status === 'pending' || task.status === 'cancelled') return Promise.resolve(task)
    const { work } = this.#options.declared.patience
    return this.#buyer.until(task, now => now.status === 'delivered' && now.revisionCount === round, work)
  }

  #wanted(sample: Sample = this.#options.declared.sample): Wanted {
    const { agent, declared } = this.#options
    const canary = `ref-${Math.floor(this.#chance() * 0x1000000)
      .toString(16)
      .padStart(6, '0')}`
    const { title, requirements, kind } = sample
    const description = declared.vary ? `${sample.description}\n\n${canary}` : sample.description
    return { title, description, requirements, kind, canary, price: agent.basePrice }
  }

  /** Also after an interrupt: nothing stays open that can be ended. */
  async #endAll(): Promise<void> {
    for (const { id } of this.#purse.open) {
      const task = await this.#options.client.getTask({ id }).catch(() => null)
      if (task) await this.#buyer.end(task).catch(() => {}) // the report says that it is open
    }
    await this.#buyer.keep().catch(() => {}) // checks that need it say so
  }

  async #testTwice(): Promise<void> {
    await this.#test(labels.test)
    await this.#test(labels.testAgain)
  }

  async #test(label: string): Promise<void> {
    this.#recorder.add({ kind: 'observation', label, value: await this.#report() })
  }

  async #testBeside({ id: taskId }: TaskRecord): Promise<void> {
    const report = await this.#report().catch(() => null)
    if (!report) return
    const value: BesideWork = { taskId, report }
    this.#recorder.add({ kind: 'observation', label: labels.testBeside, value })
  }

  /** A heartbeat may be testing it at this moment. */
  async #report(): Promise<TestReport> {
    const { client, agent, signal } = this.#options
    for (let tries = 1; ; tries++) {
      try {
        return await client.testConnection({ id: agent.id }, { signal })
      } catch (error) {
        if (!(error instanceof MarketplaceError) || ![409, 429].includes(error.status) || tries === TEST_TRIES)
          throw error
        const ms = Math.min(error.retryAfterMs ?? 5_000, 20_000)
        this.#patient.tell(ms, error)
        await this.#pause(ms)
      }
    }
  }

  #readLog(): Promise<void> {
    const { client, agent } = this.#options
    const { tasks } = this.#purse.state
    const pause = (ms: number) => this.#pause(ms)
    const patient = this.#patient
    return keepDeliveries({ client, agentId: agent.id, recorder: this.#recorder, tasks, patient, pause })
  }

  async #pause(ms: number): Promise<void> {
    await this.#recorder.next(ms)
    this.#recorder.proveGoesOn()
  }
}
