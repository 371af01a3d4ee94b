/** Runs scenarios against an agent, and records what happens. Judging comes after. Source: A-258. */
import { once } from 'node:events'
import { version } from '../settings/config.ts'
import { seededChance } from '../world/chance.ts'
import { createWorld } from '../world/real.ts'
import { type AgentUnderTest, agentUnderTest } from './agent/agent-under-test.ts'
import { type Declared, declaredInWords, Patience } from './agent/declared.ts'
import type { LaneName, Recordeds } from './history/history.ts'
import { pause, stopwatch } from './history/machine-time.ts'
import { type Listen, Recorder } from './history/recorder.ts'
import { StallWatch } from './history/stalls.ts'
import type { Check } from './judging/check.ts'
import { deathsIn, ENDED, NOTICED_MS, type ProvenDeath, suspectsOf } from './judging/deaths.ts'
import { endOf, whyEnded } from './judging/time-limit.ts'
import { CallbackFront } from './marketplaces/callback-proxy.ts'
import { Lane } from './marketplaces/lane.ts'
import { scenarios } from './scenarios/index.ts'
import { type Need, type Scenario, Stage } from './scenarios/scenario.ts'

export interface RunOptions {
  /** Its webhook; null: that of the command, which listens at `/webhook` on the port that it is given. */
  readonly url: string | null
  /** null: a new one. */
  readonly secret: string | null
  readonly command: string | null
  readonly declared: Declared
  readonly seed: number
  readonly scenarios: readonly Scenario[]
  /** Ids of the checks that the run is for; undefined: all. */
  readonly chosen?: readonly string[] | undefined
  /** Hears of everything at once. */
  readonly listen?: Listen
  /** Ends the run. What happened until then can be judged. */
  readonly signal?: AbortSignal
}

/** The scenarios in which these checks look. What decides about the needs of others is always played. */
export const scenariosFor = (checks: readonly Check[]): readonly Scenario[] =>
  scenarios.filter(({ name, when }) => when === 'first' || checks.some(({ scenario }) => scenario === name))

/** A callback that is answered late on purpose is waited for by its scenario. */
const RECORDED_MS = 250
/** So often an agent that ends by itself is started again. */
const MOST_REVIVALS = 5
/** An agent that a webhook ends may answer it first, and end this much later. */
const LATEST_END_MS = 1_500
/** So much later than the time before it may end of the same. */
const LATER_END_MS = 300
/** No longer than this is looked for what it has ended of: each that is sent may be answered late, or never. */
const LONGEST_SEARCH_MS = 60_000
const LOOK_MS = 20
/** So many scenarios at once in the lane of real time. */
const AT_ONCE = 6

/** Resolves to what happened. Throws AgentAway if the agent is not there. */
export async function run(options: RunOptions) {
  const recorder = new Recorder(options.listen, options.secret === null ? [] : [options.secret])
  const { signal } = options
  const interrupt = () => recorder.interrupt(whyEnded(signal!))
  signal?.addEventListener('abort', interrupt)
  if (signal?.aborted) interrupt()
  try {
    await new Run(options, recorder).perform()
    return recorder.history
  } finally {
    signal?.removeEventListener('abort', interrupt)
  }
}

/** What the author says by declaring it, or by leaving it out. */
const declarable: readonly Need[] = ['revisions', 'rejects', 'hires']

class Run {
  readonly #options: RunOptions
  readonly #recorder: Recorder
  readonly #patience: Patience
  readonly #lanes = new Map<LaneName, Lane>()
  #agent!: AgentUnderTest

  constructor(options: RunOptions, recorder: Recorder) {
    this.#options = options
    this.#recorder = recorder
    this.#patience = new Patience(options.declared.patience, options.command !== null)
  }

  async perform(): Promise<void> {
    const elapsed = stopwatch()
    const world = createWorld({ requireHttps: false, allowLoopback: true })
    this.#agent = await agentUnderTest(world, this.#options, this.#recorder)
    this.#begin()
    const stalls = new StallWatch(this.#recorder, () => this.#agent.pid)
    try {
      const { maxRevisions } = this
      for (const name of ['real', 'clock'] as const) {
        const given = { name, agent: this.#agent, recorder: this.#recorder, egress: world.egress, maxRevisions }
        this.#lanes.set(name, await Lane.open(given))
      }
      CallbackFront.unite([...this.#lanes.values()].map(({ callbacks }) => callbacks))
      this.#agent.environment = this.#lanes.get('real')!.environment
      this.#agent.onEnd = () => this.#hasEnded()
      if (!this.#isOver) await this.#untilAborted(this.#agent.open().then(() => this.#scenes()))
      this.#noteUnused()
      // What comes while everything is taken down says nothing of the agent.
      if (this.#isOver) this.#recorder.add(endOf(this.#options.signal, elapsed()))
    } finally {
      this.#agent.onEnd = () => {}
      await stalls.close()
      for (const lane of this.#lanes.values()) await lane.close()
      // Nobody waits for what it may still do when the run is interrupted.
      if (this.#isOver) await this.#agent.kill()
      await this.#agent.close()
      await world.egress.close()
    }
    this.#recorder.add(endOf(this.#options.signal, elapsed()))
  }

  #revivals = 0
  /** How long what it has ended of is looked for. */
  #searched = () => 0
  #revival: Promise<void> = Promise.resolve()

  /** It is started again, so that the rest is judged. Who ends again and again is left as it is. */
  #hasEnded(): void {
    if (this.#isOver || this.#revivals === MOST_REVIVALS) return
    this.#revivals += 1
    // Whoever does not come up is not there: that is seen by all that is sent.
    this.#revival = this.#revival.then(() => this.#comesBack()).catch(() => {})
  }

  async #comesBack(): Promise<void> {
    const { history } = this.#recorder
    const death = deathsIn(history).at(-1)!
    // What was cut is known a moment later.
    await pause(NOTICED_MS / 4)
    await this.#agent.revive()
    const suspects = suspectsOf(history, death)
    if (suspects.length > 1)
      await this.#agent.rehearse(
        suspects.map(({ taskId }) => taskId),
        () => this.#findCulprit(death.seq, suspects),
      )
    if (!this.#isOver) await this.#agent.revive()
  }

  /** It ends twice of the very same bytes. What is usual is tried first: where that ends it too, what is unusual is not the cause. */
  async #findCulprit(death: number, suspects: readonly Recordeds<'webhook'>[]): Promise<void> {
    const isOdd = ({ change, genuine }: Recordeds<'webhook'>) => change !== null || !genuine
    this.#searched = this.#recorder.calmStopwatch()
    for (const group of [suspects.filter(one => !isOdd(one)), suspects.filter(isOdd)]) {
      const culprit = await this.#culpritIn(group, LATEST_END_MS)
      if (!culprit) continue
      const value: ProvenDeath = { death, culprit: culprit.seq }
      this.#recorder.add({ kind: 'observation', label: ENDED, value }, culprit.lane)
      return
    }
  }

  /** Halves what ends it until one is left. Where only several together do, none is the culprit. */
  async #culpritIn(group: Recordeds<'webhook'>[], withinMs: number): Promise<Recordeds<'webhook'> | null> {
    const afterMs = group.length > 0 ? await this.#endsAfter(group, withinMs) : null
    if (afterMs === null) return null
    const half = group.length >> 1
    const enoughMs = Math.min(afterMs + LATER_END_MS, withinMs)
    if (half === 0) return (await this.#endsAfter(group, enoughMs)) === null ? null : group[0]!
    return (await this.#culpritIn(group.slice(half), enoughMs)) ?? this.#culpritIn(group.slice(0, half), enoughMs)
  }

  /** Sends each once more. Resolves to how long after the first of them it ended; null: it did not, `withinMs` after the last. */
  async #endsAfter(group: readonly Recordeds<'webhook'>[], withinMs: number): Promise<number | null> {
    if (this.#isOver || this.#searched() > LONGEST_SEARCH_MS) return null
    await this.#agent.revive()
    const elapsed = this.#recorder.calmStopwatch()
    for (const { lane, seq } of group) {
      if (this.#agent.hasEnded || this.#searched() > LONGEST_SEARCH_MS) break
      await this.#lanes.get(lane ?? 'real')!.webhooks.repeat(seq)
    }
    return (await this.#endsWithin(withinMs)) ? elapsed() : null
  }

  /** Time in which the machine held somebody up does not count. */
  async #endsWithin(ms: number): Promise<boolean> {
    const elapsed = this.#recorder.calmStopwatch()
    while (!this.#isOver && !this.#agent.hasEnded && elapsed() < ms) await pause(LOOK_MS)
    return this.#agent.hasEnded
  }

  /** Nothing more is begun, and what ends now was cut off. */
  get #isOver(): boolean {
    return this.#options.signal?.aborted ?? false
  }

  /** Who asks the agent at this moment may wait for its answer, and is not waited for. */
  async #untilAborted(work: Promise<void>): Promise<void> {
    const { signal } = this.#options
    if (!signal) return work
    const over = new AbortController()
    const aborted = signal.aborted ? Promise.resolve() : once(signal, 'abort', { signal: over.signal }).catch(() => {})
    await Promise.race([work, aborted]).finally(() => over.abort())
  }

  get maxRevisions(): number {
    return this.#options.declared.revisions ? 3 : 0
  }

  #begin(): void {
    const { seed, declared, command, chosen } = this.#options
    const { answer, work } = declared.patience
    this.#recorder.add({
      ...{ kind: 'begin', schema: 'conformance-history/1', version, seed },
      agent: { url: this.#agent.url, command },
      patience: { answer, work },
      declared: declaredInWords(declared),
      ...(chosen && { chosen }),
    })
  }

  async #scenes(): Promise<void> {
    const all = this.#options.scenarios
    const those = (when: Scenario['when'], lane?: LaneName) =>
      all.filter(one => one.when === when && (lane === undefined || one.lane === lane))
    await this.#inTurn(those('first'))
    const shuffled = shuffle(those(undefined, 'real'), seededChance(this.#options.seed).fraction)
    const [long, short] = [shuffled.filter(one => one.long), shuffled.filter(one => !one.long)]
    // Time is moved for the whole lane, so there one scenario follows the other.
    await Promise.all([this.#sideBySide([...long, ...short]), this.#inTurn(those(undefined, 'clock'))])
    await this.#inTurn(those('alone'))
    await this.#listenInQuiet()
    await this.#inTurn(those('last'))
  }

  #noteUnused(): void {
    for (const lane of this.#lanes.values())
      for (const { label, fault } of [...lane.webhooks.unused, ...lane.callbacks.unused])
        lane.record({ kind: 'unused', label, fault: fault.name })
  }

  async #inTurn(scenarios: readonly Scenario[]): Promise<void> {
    for (const scenario of scenarios) await this.#play(scenario)
  }

  async #sideBySide(scenarios: readonly Scenario[]): Promise<void> {
    const queue = [...scenarios]
    const worker = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) await this.#play(next)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }

  async #play(scenario: Scenario): Promise<void> {
    // What is sent while it is found out of what the agent has ended would be lost, and a restart would end the finding out.
    await this.#revival
    const elapsed = stopwatch()
    const end = (outcome: 'done' | 'skipped' | 'failed', why: string, byDeclaration = false) => {
      if (this.#isOver) return
      const ended = { scenario: scenario.name, outcome, why, byDeclaration, ms: elapsed() }
      this.#recorder.add({ kind: 'scenario', ...ended }, scenario.lane)
    }
    if (this.#isOver) return
    const missing = this.#missing(scenario.needs ?? [])
    if (missing !== null) return end('skipped', missing.why, missing.byDeclaration)
    try {
      await scenario.run(this.#stageOf(scenario))
      await this.#lanes.get(scenario.lane)!.callbacks.recorded(RECORDED_MS)
      end('done', '')
    } catch (error) {
      end('failed', (error as Error).message)
    }
  }

  #stageOf({ name: scenario, lane }: Scenario): Stage {
    const { declared, seed } = this.#options
    const chance = seededChance(`${seed} ${scenario}`).fraction
    const shared = { agent: this.#agent, declared, patience: this.#patience, recorder: this.#recorder }
    return new Stage({ ...shared, scenario, lane: this.#lanes.get(lane)!, lanes: [...this.#lanes.values()], chance })
  }

  /** Says what is missing for a scenario; null if nothing is. */
  #missing(needs: readonly Need[]): { why: string; byDeclaration: boolean } | null {
    const { declared, command } = this.#options
    const [first] = this.#recorder.history.tasks('first-task')
    const steps = first ? this.#recorder.history.stepsOf(first.taskId) : []
    const has = (trigger: string) => steps.some(step => step.trigger === trigger)
    const reasons: Readonly<Record<Need, string | false>> = {
      accepted: !has('accept') && 'the agent did not accept the sample: declare one that it accepts',
      delivered:
        declared.work === 'manual'
          ? 'a person does the work, as declared'
          : !has('deliver') && 'the agent did not deliver the sample',
      revisions: !declared.revisions && 'the agent takes no revisions, as declared',
      rejects: declared.rejects.length === 0 && 'no sample that the agent rejects is declared',
      start: command === null && 'the run has not started the agent, so it can’t start it anew: use --start',
      secret: this.#options.secret !== null && 'the agent has a secret of its own, so it can’t be given another',
      hires: !declared.hires && 'the agent hires nobody: declare that it does',
    }
    for (const need of needs) {
      const why = reasons[need]
      if (why)
        return { why, byDeclaration: declarable.includes(need) || (need === 'delivered' && declared.work === 'manual') }
    }
    return null
  }

  /** What must not happen is listened for once, at the end, for all scenarios. */
  async #listenInQuiet(): Promise<void> {
    await this.#revival
    if (this.#isOver) return
    const ms = this.#patience.quietMs(this.#options.declared.patience.quiet)
    for (const lane of this.#lanes.values()) await lane.settled()
    const elapsed = this.#recorder.calmStopwatch()
    try {
      while (elapsed() < ms) await this.#recorder.next(ms - elapsed())
      this.#recorder.add({ kind: 'quiet', ms })
    } catch {} // the run ends without it, and what needs it says nothing
  }
}

function shuffle<Item>(items: readonly Item[], chance: () => number): Item[] {
  const left = [...items]
  return items.map(() => left.splice(Math.floor(chance() * left.length), 1)[0]!)
}
