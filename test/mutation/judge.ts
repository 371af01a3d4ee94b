/** Tries one mutant against the tests that come to it, until one of them notices it. */
import type { Bench } from './bench.ts'
import type { Mutant } from './mutant.ts'
import type { Batch } from './plan.ts'
import { outsideMs, type Reach } from './reach.ts'
import type { Outcome, TestProcess } from './test-process.ts'

/** `unreached`: no test comes to it. `survived`: none of those that do noticed it within the budget. */
type Fate = 'killed' | 'timeout' | 'survived' | 'unreached'

export interface Judgement {
  readonly fate: Fate
  /** The test that noticed it. */
  readonly by: string | null
  readonly ms: number
  readonly testsRun: number
  /** Tests that come to it as well, and were not run: one noticed it before, or the budget was spent. */
  readonly testsLeft: number
}

export interface Budget {
  /** Of time in tests, for one mutant. */
  readonly ms: number
}

/** A busy machine is late as well. */
const slack = (ms: number) => 3 * ms + 3_000

/** Where the tests of a mutant run. */
export type Ground = Pick<Bench, 'start' | 'stop'>

/** Runs these tests of the file with all mutants off. */
export type Control = (reach: Reach, tests: readonly string[]) => Promise<boolean>

const fileKey = ({ file, engine }: Reach) => `${file} (${engine})`

/** Whether chosen tests pass by themselves, with nothing changed: some build on what the tests before them have left. */
export class Controls {
  readonly #run: Control
  readonly #known = new Map<string, Promise<boolean>>()
  readonly #whole = new Set<string>()

  constructor(run: Control) {
    this.#run = run
  }

  /** False once a choice of its tests has failed: the file is run as a whole from then on. */
  canChoose(reach: Reach): boolean {
    return !this.#whole.has(fileKey(reach))
  }

  hold(reach: Reach, tests: readonly string[]): Promise<boolean> {
    const key = [fileKey(reach), ...tests].join('\n')
    const asked = this.#known.get(key) ?? this.#run(reach, tests)
    this.#known.set(key, asked)
    return asked.then(holds => {
      if (!holds) this.#whole.add(fileKey(reach))
      return holds
    })
  }
}

export const controlOn =
  (ground: Ground, worker: string): Control =>
  async (reach, tests) => {
    const process = ground.start(reach, worker, {})
    const { end } = await process.run(reach.file, tests, timeIn(reach))
    await ground.stop(process)
    return end === 'passed'
  }

export async function judge(
  ground: Ground,
  controls: Controls,
  { mutant, index }: { mutant: Mutant; index: number },
  batches: readonly Batch[],
  budget: Budget,
  worker = 'worker',
): Promise<Judgement> {
  const trial = new Trial({ ground, controls, mutant, index, worker })
  const all = batches.reduce((sum, { tests }) => sum + tests.length, 0)
  let testsRun = 0
  const result = (fate: Fate, by: string | null = null): Judgement => ({
    ...{ fate, by, ms: Math.round(trial.spentMs), testsRun, testsLeft: all - testsRun },
  })
  try {
    for (const batch of batches) {
      const affordable = testsRun === 0 ? batch : within(batch, budget.ms - trial.spentMs)
      if (affordable.tests.length === 0) continue
      const noticed = await trial.run(affordable)
      testsRun += affordable.tests.length
      if (noticed) return result(noticed.end === 'timeout' ? 'timeout' : 'killed', byOf(batch.reach, noticed))
    }
    return result(all === 0 ? 'unreached' : 'survived')
  } finally {
    await trial.end()
  }
}

const byOf = (reach: Reach, { at }: Outcome) => `${fileKey(reach)}${at === '' ? '' : `: ${at}`}`

/** As many of its tests as there is time for, the likeliest first. */
function within({ reach, tests }: Batch, ms: number): Batch {
  let left = ms - outsideMs(reach)
  return {
    reach,
    tests: tests.filter(test => {
      left -= test.ms
      return left >= 0
    }),
  }
}

/** For each test of a file, from its own time. */
function timeIn(reach: Reach): (at: string) => number {
  const times = new Map(reach.tests.map(({ name, ms }) => [name, ms]))
  return at => slack(at === '' ? outsideMs(reach) : (times.get(at) ?? reach.ms))
}

interface About {
  readonly ground: Ground
  readonly controls: Controls
  readonly mutant: Mutant
  readonly index: number
  readonly worker: string
}

/** Runs tests with one mutant on, in one process as long as their files may share it. */
class Trial {
  readonly #about: About
  readonly #wholes = new Set<Reach>()
  #running: { process: TestProcess; reaches: Reach[] } | null = null
  spentMs = 0

  constructor(about: About) {
    this.#about = about
  }

  /** How one of the tests noticed the mutant; null if none did. */
  async run({ reach, tests }: Batch): Promise<Outcome | null> {
    const { controls } = this.#about
    if (!controls.canChoose(reach)) return this.#runWhole(reach)
    const names = tests.map(({ name }) => name)
    const outcome = await this.#surely(reach, names)
    if (outcome.end === 'passed') return null
    if (await controls.hold(reach, upTo(outcome, reach, names))) return outcome
    return this.#runWhole(reach)
  }

  /** Once: all of it has passed with nothing changed. */
  async #runWhole(reach: Reach): Promise<Outcome | null> {
    if (this.#wholes.has(reach)) return null
    this.#wholes.add(reach)
    const outcome = await this.#surely(reach, null)
    return outcome.end === 'passed' ? null : outcome
  }

  async #surely(reach: Reach, tests: readonly string[] | null): Promise<Outcome> {
    const first = await this.#runOnce(reach, tests)
    if (first.end === 'passed' || first.end === 'failed') return first
    // A busy machine is late as well, and may kill a process: only what ends so again, by itself, counts.
    await this.end()
    return this.#runOnce(reach, tests)
  }

  async #runOnce(reach: Reach, tests: readonly string[] | null): Promise<Outcome> {
    const last = this.#running?.reaches.at(-1)
    const shares = last?.shares && reach.shares && last.engine === reach.engine
    // A module is loaded once in a process.
    if (!shares || this.#running!.reaches.includes(reach)) await this.end()
    this.#running ??= { process: this.#start(reach), reaches: [] }
    this.#running.reaches.push(reach)
    const started = performance.now()
    const outcome = await this.#running.process.run(reach.file, tests, timeIn(reach))
    this.spentMs += performance.now() - started
    return outcome
  }

  #start(reach: Reach): TestProcess {
    const { ground, mutant, index, worker } = this.#about
    return ground.start(reach, worker, { MUTANT: String(index) }, !mutant.file.includes('/migrations/'))
  }

  async end(): Promise<void> {
    const { process } = this.#running ?? {}
    this.#running = null
    if (process) await this.#about.ground.stop(process)
  }
}

/** Those that have run, the last of which noticed it; all if that was outside of them. */
function upTo({ passed, at }: Outcome, reach: Reach, asked: readonly string[]): string[] {
  if (at === '') return [...asked]
  const ran = [...passed.map(({ name }) => name), at]
  const names = new Set(reach.tests.map(({ name }) => name))
  return ran.every(name => names.has(name)) ? ran : [...asked]
}
