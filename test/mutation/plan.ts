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

export const msOf = ({ reach, tests }: Batch) => outsideMs(reach) + tests.reduce((sum, { ms }) => sum + ms, 0)

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

const isForPostgres = ({ file, operator }: Mutant) => operator === 'sql hint' || file.includes('/postgres/')

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
  const kin = kinship(mutant.file, reach.file)
  return reach.tests.flatMap(test => {
    const isReached = test.numbers.some(number => wanted.has(number))
    if (!(isReached || isAround) || outsideMs(reach) + test.ms > LONGEST_MS) return []
    const share = near.size === 0 ? 1 : 0.1 + test.numbers.filter(number => near.has(number)).length / near.size
    const special = share ** 2 / Math.sqrt(10 + test.numbers.length)
    return [{ test, weight: kin * special * (isReached ? 1 : 0.2) }]
  })
}

/** The best of a file first, and the rest of them later, if that spares much. */
function batchesOf(reach: Reach, candidates: readonly Candidate[]): { batch: Batch; density: number }[] {
  const sorted = [...candidates].sort((a, b) => b.weight / (20 + b.test.ms) - a.weight / (20 + a.test.ms))
  const outside = outsideMs(reach)
  const totals = runningTotals(outside, sorted)
  const densities = totals.map(({ ms, weight }) => weight / ms)
  const best = densities.indexOf(Math.max(...densities)) + 1
  const isAll = sorted.length === 0 || totals.at(-1)!.ms - totals[best - 1]!.ms < outside
  const parts = isAll ? [sorted] : [sorted.slice(0, best), sorted.slice(best)]
  return parts
    .filter(part => part.length > 0)
    .map(part => {
      const batch = { reach, tests: part.map(({ test }) => test) }
      return { batch, density: part.reduce((sum, { weight }) => sum + weight, 0) / msOf(batch) }
    })
}

function runningTotals(outside: number, candidates: readonly Candidate[]): { ms: number; weight: number }[] {
  let ms = outside
  let weight = 0
  return candidates.map(({ test, weight: one }) => {
    ms += test.ms
    weight += one
    return { ms, weight }
  })
}

/** src/market/tasks/turn.ts and test/market/turn.test.ts: the same name; or words of it, or of the shelf, or at least the same room. */
function kinship(source: string, test: string): number {
  const [, room, ...rest] = source.split('/')
  const shelves = rest.slice(0, -1).map(singular)
  const words = singular(posix.basename(rest.at(-1)!, '.ts'))
  const isSameRoom = test.startsWith(`${room}/`)
  const name = posix.basename(test, '.test.ts')
  if (singular(name) === words) return isSameRoom ? 12 : 8
  if (words.split('-').some(word => word.length > 3 && name.includes(word))) return 4
  if (shelves.some(shelf => name.includes(shelf))) return 3
  return isSameRoom ? 1.5 : 1
}

const singular = (word: string) => word.replace(/s$/, '')
