/** Tries one mutant against the test files that come to it, the likeliest to notice it first. */
import { posix } from 'node:path'
import type { Bench } from './bench.ts'
import type { Mutant } from './mutant.ts'
import type { Reach } from './reach.ts'
import type { End, TestProcess } from './test-process.ts'

/** `unreached`: no test file comes to it. `survived`: none of those that do noticed it within the budget. */
export type Fate = 'killed' | 'timeout' | 'survived' | 'unreached'

export interface Judgement {
  readonly fate: Fate
  /** The file that noticed it. */
  readonly by: string | null
  readonly ms: number
  readonly filesRun: number
  /** Files that come to it as well, and were not run: one noticed it before, or the budget was spent. */
  readonly filesLeft: number
}

export interface Budget {
  /** Of time in tests, for one mutant. */
  readonly ms: number
}

/** What takes longer is left to `npm test`. */
const LONGEST_FILE_MS = 45_000
const slack = (ms: number) => 3 * ms + 4_000

/**
 * In the order in which they are tried. `numbers` are those of the mutant, `neighbours` those of all functions of its
 * file: who comes to most of them is about that file, whatever it is called.
 */
export function filesFor(
  mutant: Mutant,
  numbers: readonly number[],
  reaches: readonly Reach[],
  neighbours: readonly number[] = [],
): Reach[] {
  const wanted = new Set(numbers)
  const near = new Set(neighbours)
  const share = (reach: Reach) =>
    near.size === 0 ? 1 : 0.1 + reach.numbers.filter(number => near.has(number)).length / near.size
  return reaches
    .filter(({ passed, ms }) => passed && ms <= LONGEST_FILE_MS)
    .filter(({ engine }) => engine === 'postgres' || !isForPostgres(mutant))
    .filter(reach => reach.numbers.some(number => wanted.has(number)))
    .map(reach => ({ reach, cost: costOf(mutant, reach, reaches) / share(reach) ** 2 }))
    .sort((a, b) => a.cost - b.cost)
    .map(({ reach }) => reach)
}

const isForPostgres = ({ file, operator }: Mutant) => operator === 'sql hint' || /\/postgres[^/]*$/.test(file)

/** Quick files first, and those that come to little else; the second engine last, unless only it runs a file. */
function costOf({ file }: Mutant, reach: Reach, reaches: readonly Reach[]): number {
  const isSecond =
    reach.engine === 'postgres' && reaches.some(other => other.file === reach.file && other.engine === 'embedded')
  const namesake = kinship(file, reach.file)
  return ((500 + reach.ms) * Math.sqrt(10 + reach.numbers.length) * (isSecond ? 8 : 1)) / namesake
}

/** src/market/tasks/transitions.ts and test/market/turn.test.ts: the same name; or at least the same room, or words of the name. */
function kinship(source: string, test: string): number {
  const [, room, ...rest] = source.split('/')
  const words = posix.basename(rest.at(-1)!, '.ts').replace(/s$/, '')
  const isSameRoom = test.startsWith(`${room}/`)
  const name = posix.basename(test, '.test.ts')
  if (name.replace(/s$/, '') === words) return isSameRoom ? 12 : 8
  if (words.split('-').some(word => word.length > 3 && name.includes(word))) return 4
  return isSameRoom ? 1.5 : 1
}

/** Where the tests of a mutant run. */
export type Ground = Pick<Bench, 'start' | 'stop'>

export async function judge(
  ground: Ground,
  { mutant, index }: { mutant: Mutant; index: number },
  files: readonly Reach[],
  budget: Budget,
  lane = 'lane',
): Promise<Judgement> {
  const trial = new Trial(ground, mutant, index, lane)
  let filesRun = 0
  const result = (fate: Fate, by: Reach | null): Judgement => ({
    fate,
    by: by && `${by.file} (${by.engine})`,
    ms: Math.round(trial.spentMs),
    filesRun,
    filesLeft: files.length - filesRun,
  })
  try {
    if (files.length === 0) return result('unreached', null)
    for (const reach of files) {
      if (filesRun > 0 && trial.spentMs + reach.ms > budget.ms) continue
      const end = await trial.run(reach)
      filesRun++
      if (end !== 'passed') return result(end === 'timeout' ? 'timeout' : 'killed', reach)
    }
    return result('survived', null)
  } finally {
    await trial.end()
  }
}

/** Runs files with one mutant on, in one process as long as they may share it. */
class Trial {
  readonly #ground: Ground
  readonly #mutant: Mutant
  readonly #index: number
  readonly #lane: string
  #running: { process: TestProcess; reach: Reach } | null = null
  spentMs = 0

  constructor(ground: Ground, mutant: Mutant, index: number, lane: string) {
    this.#ground = ground
    this.#mutant = mutant
    this.#index = index
    this.#lane = lane
  }

  async run(reach: Reach): Promise<End> {
    const first = await this.#runOnce(reach)
    if (first === 'passed' || first === 'failed') return first
    // A busy machine is late as well, and may kill a process: only what ends so again, by itself, counts.
    await this.end()
    return this.#runOnce(reach)
  }

  async #runOnce(reach: Reach): Promise<End> {
    const last = this.#running?.reach
    const shares = last?.shares && reach.shares && last.engine === reach.engine
    if (!shares) await this.end()
    const process = this.#running?.process ?? this.#start(reach)
    this.#running = { process, reach }
    const started = performance.now()
    const end = await process.run(reach.file, slack(reach.ms))
    this.spentMs += performance.now() - started
    return end
  }

  #start(reach: Reach): TestProcess {
    const isMigration = this.#mutant.file.includes('/migrations/')
    return this.#ground.start(reach, this.#lane, { MUTANT: String(this.#index) }, !isMigration)
  }

  async end(): Promise<void> {
    const { process } = this.#running ?? {}
    this.#running = null
    if (process) await this.#ground.stop(process)
  }
}
