/**
 * Decides which chunks of the bundle become one file. esbuild makes a chunk of the modules that the same entries need: many small ones.
 * A start then opens eighty files, and each costs as much time as some kilobytes of code. Run by `npm run build`; not part of the package.
 * Source: A-279.
 */
import type { Metafile } from 'esbuild'

type Outputs = Metafile['outputs']

/** Entries that are loaded together, and how much that counts beside other starts. */
export interface Start {
  entries: readonly string[]
  weight: number
}

/** Chunks that become one file, or an entry alone. */
interface Joined {
  readonly paths: string[]
  readonly isEntry: boolean
  /** Bytes, and what counts as much. */
  cost: number
  readonly imports: Set<Joined>
  /** Which starts load it. */
  readonly starts: Set<Start>
}

/** What a file costs beside its content, in bytes. With half as much `dev` is ready 4 % later, and with twice as much no sooner. */
export const FILE = 20_000
/** What a package costs that a file imports: at least that much. */
const PACKAGE = 50_000

/**
 * Returns which chunks to join, as lists of their paths. Joins what saves most, until nothing saves. No files load each other then: where a
 * chunk lies between two that are joined, all starts of these load it, so that joining it too costs nothing.
 */
export function chunksToJoin(outputs: Outputs, starts: readonly Start[]): string[][] {
  const all = graphOf(outputs)
  for (const start of starts)
    for (const { starts } of reachedFrom(all.filter(({ paths: [path] }) => isLoaded(start, outputs[path!]!))))
      starts.add(start)
  const chunks = new Set(all.filter(({ isEntry }) => !isEntry))
  for (let best = bestPair([...chunks]); best; best = bestPair([...chunks])) {
    const [kept, gone] = best
    chunks.delete(gone)
    join(kept, gone, all)
  }
  return [...chunks].map(({ paths }) => paths)
}

const isLoaded = ({ entries }: Start, { entryPoint }: Outputs[string]) =>
  entryPoint !== undefined && entries.includes(entryPoint)

function graphOf(outputs: Outputs): Joined[] {
  const byPath = new Map<string, Joined>()
  for (const [path, { bytes, entryPoint, imports }] of Object.entries(outputs)) {
    if (!path.endsWith('.js')) continue
    const packages = imports.filter(
      ({ path, kind, external }) => external && kind === 'import-statement' && !isNode(path),
    )
    const cost = bytes + PACKAGE * packages.length
    byPath.set(path, { paths: [path], isEntry: entryPoint !== undefined, cost, imports: new Set(), starts: new Set() })
  }
  for (const [path, one] of byPath)
    for (const { path: other, kind } of outputs[path]!.imports)
      if (kind === 'import-statement' && byPath.has(other)) one.imports.add(byPath.get(other)!)
  return [...byPath.values()]
}

const isNode = (path: string) => path.startsWith('node:')

/** These, and all that they load. */
function reachedFrom(some: Iterable<Joined>): Set<Joined> {
  const reached = new Set(some)
  for (const one of reached) for (const next of one.imports) reached.add(next)
  return reached
}

function bestPair(chunks: readonly Joined[]): [Joined, Joined] | null {
  const reached = new Map(chunks.map(chunk => [chunk, reachedFrom([chunk])]))
  let best: [Joined, Joined] | null = null
  let most = 0
  chunks.forEach((a, at) => {
    for (const b of chunks.slice(at + 1)) {
      const saved = savedBy(a, b, most, () => new Set([...reached.get(a)!, ...reached.get(b)!]))
      if (saved <= most) continue
      most = saved
      best = [a, b]
    }
  })
  return best
}

/** What all starts save if these are one file: a file each for those that load both; less what others then load needlessly. */
function savedBy(a: Joined, b: Joined, most: number, reached: () => Set<Joined>): number {
  let saved = 0
  for (const start of a.starts) if (b.starts.has(start)) saved += FILE * start.weight
  if (saved <= most) return 0
  const starts = new Set([...a.starts, ...b.starts])
  for (const one of reached())
    for (const start of starts)
      if (!one.starts.has(start)) saved -= start.weight * (one.cost + (one === a || one === b ? 0 : FILE))
  return saved
}

function join(kept: Joined, gone: Joined, all: readonly Joined[]): void {
  kept.paths.push(...gone.paths)
  kept.cost += gone.cost
  for (const { imports } of all) if (imports.delete(gone)) imports.add(kept)
  for (const next of gone.imports) kept.imports.add(next)
  kept.imports.delete(kept)
  kept.imports.delete(gone)
  for (const one of reachedFrom([kept])) for (const start of [...kept.starts, ...gone.starts]) one.starts.add(start)
}
