/** Which tests a mutant is tried against, and in which order: the likeliest to notice it in the shortest time come first. */
import { posix } from 'node:path'
import type { Mutant } from './mutant.ts'
import { outsideMs, type Reach } from './reach.ts'
import type { Passed } from './test-process.ts'

/** Tests of one file that run together: the start of a process and what surrounds the tests is paid once. */
export interface Batch {
  readonly reach: Reach
  readonly tests: readonly Passed[]
}

/** What takes longer is left to `npm test`. */
const LONGEST_MS = 30_000

const msOf = ({ reach, tests }: Batch) => outsideMs(reach) + tests.reduce((sum, { ms }) => sum + ms, 0)

interface Candidate {
  readonly test: Passed
  /** How likely it is to notice the mutant, beside others. */
  readonly weight: number
}

/**
 * `numbers` are those of the mutant, `neighbours` those of all functions of its file: who comes to most of them is about
 * that file, whatever it is called.
 */
export function planFor(
  mutant: Mutant,
  numbers: readonly number[],
  reaches: readonly Reach[],
  neighbours: readonly number[] = [],
): Batch[] {
  const about = { mutant, wanted: new Set(numbers), near: new Set(neighbours) }
  const fitting = reaches.filter(({ passed, engine }) => passed && (engine === 'postgres' || !isForPostgres(mutant)))
  const planned = (some: readonly Reach[]) =>
    some
      .flatMap(reach => batchesOf(reach, candidatesOf(about, reach)))
      .sort((a, b) => b.density - a.density)
      .map(({ batch }) => batch)
  const isFirst = (reach: Reach) => !isSecond(reach, fitting)
  return [...planned(fitting.filter(isFirst)), ...planned(fitting.filter(reach => !isFirst(reach)))]
}

const isForPostgres = ({ operator }: Mutant) => operator === 'sql hint'

/** The second engine says what the first has said, but for what is about engines: it comes last. */
const isSecond = ({ engine, file }: Reach, reaches: readonly Reach[]) =>
  engine === 'postgres' && reaches.some(other => other.file === file && other.engine === 'embedded')

interface About {
  readonly mutant: Mutant
  readonly wanted: ReadonlySet<number>
  readonly near: ReadonlySet<number>
}

function candidatesOf({ mutant, wanted, near }: About, reach: Reach): Candidate[] {
  // Whoever reads what was made around the tests may notice it, whatever else it does.
  const isAround = reach.numbers.some(number => wanted.has(number))
  const isReached = ({ numbers }: Passed) => numbers.some(number => wanted.has(number))
  const fitting = reach.tests
    .filter(test => isAround || isReached(test))
    .filter(test => outsideMs(reach) + test.ms <= LONGEST_MS)
  if (fitting.length === 0) return []
  const share = (numbers: readonly number[]) =>
    near.size === 0 ? 1 : 0.1 + new Set(numbers.filter(number => near.has(number))).size / near.size
  const ofFile = kinship(mutant.file, reach.file) * share(reach.tests.flatMap(({ numbers }) => numbers))
  return fitting.map(test => {
    const special = share(test.numbers) / Math.sqrt(10 + test.numbers.length)
    return { test, weight: ofFile * special * (isReached(test) ? 1 : 0.2) }
  })
}

/** The best of a file first, and the rest of them later, if that spares much. */
function batchesOf(reach: Reach, candidates: readonly Candidate[]): { batch: Batch; density: number }[] {
  const sorted = [...candidates].sort((a, b) => b.weight / (20 + b.test.ms) - a.weight / (20 + a.test.ms))
  if (sorted.length === 0) return []
  const outside = outsideMs(reach)
  const totals = runningTotals(outside, sorted)
  const densities = totals.map(({ ms, weight }) => weight / ms)
  const best = densities.indexOf(Math.max(...densities)) + 1
  const isAll = totals.at(-1)!.ms - totals[best - 1]!.ms < outside
  const ends = isAll ? [sorted.length] : [best, sorted.length]
  return ends.flatMap((end, part) => {
    const from = part === 0 ? 0 : best
    const batch = { reach, tests: sorted.slice(from, end).map(({ test }) => test) }
    const weight = totals[end - 1]!.weight - (totals[from - 1]?.weight ?? 0)
    return { batch, density: weight / msOf(batch) }
  })
}

/** Tests of one file are about the same: where the first have noticed nothing, the next are less likely to. */
const LESS_LIKELY = 0.95

function runningTotals(outside: number, candidates: readonly Candidate[]): { ms: number; weight: number }[] {
  let ms = outside
  let weight = 0
  return candidates.map(({ test, weight: one }, at) => {
    ms += test.ms
    weight += one * LESS_LIKELY ** at
    return { ms, weight }
  })
}

/** src/market/money/ledger.ts and test/market/money/ledger.test.ts: the same name; or words of it, or of the shelf, or at least the same room. */
function kinship(source: string, test: string): number {
  const [, room, ...rest] = source.split('/')
  const shelves = rest.slice(0, -1).map(singular)
  const words = singular(posix.basename(rest.at(-1)!, '.ts'))
  const isSameRoom = test.startsWith(`${room}/`)
  const name = posix.basename(test, '.test.ts')
  if (singular(name) === words) return isSameRoom ? 12 : 8
  if (words.split('-').some(word => word.length > 3 && name.includes(word))) return 4
  if (shelves.some(shelf => test.includes(shelf))) return 3
  return isSameRoom ? 1.5 : 1
}

const singular = (word: string) => word.replace(/s$/, '')
