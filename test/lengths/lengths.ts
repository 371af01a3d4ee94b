/**
 * How long functions and files may be. biome.json has the limits, exceptions.json names what is longer. An exception may
 * only shrink: it fails the check once it grows, and once it is not needed.
 */
import { spawnSync } from 'node:child_process'

/** What a file has beyond the limits: its own lines, and those of its long functions, longest first. */
interface Excess {
  readonly lines?: number
  readonly functions?: readonly number[]
}

/** By path. */
export type Excesses = Readonly<Record<string, Excess>>

interface Diagnostic {
  readonly category: string
  readonly message: string
  readonly location: { readonly path: string }
}

const rules = ['style/noExcessiveLinesPerFile', 'complexity/noExcessiveLinesPerFunction']

/** Asks biome, which names nothing else then. */
export function measure(): Excesses {
  const only = rules.map(rule => `--only=${rule}`)
  const args = ['lint', ...only, '--max-diagnostics=none', '--reporter=json', 'src', 'test', 'bin']
  const { stdout, stderr } = spawnSync('node_modules/.bin/biome', args, { encoding: 'utf8', maxBuffer: 100_000_000 })
  if (stdout === '') throw new Error(`biome says nothing of lengths: ${stderr}`)
  return excessesOf(JSON.parse(stdout).diagnostics)
}

export function excessesOf(diagnostics: readonly Diagnostic[]): Excesses {
  const found: Record<string, { lines?: number; functions?: number[] }> = {}
  for (const { category, message, location } of diagnostics) {
    const lines = Number(/too many lines \((\d+)\)/.exec(message)?.[1])
    if (!lines) throw new Error(`biome counts lines in other words: ${message}`)
    const file = found[location.path] ?? {}
    found[location.path] = file
    if (category.endsWith('PerFile')) file.lines = lines
    else file.functions = [...(file.functions ?? []), lines].sort((a, b) => b - a)
  }
  return found
}

/** What is too long and not excepted, has grown, or is excepted and short enough: a sentence each. */
export function faultsIn(measured: Excesses, excepted: Excesses): string[] {
  const paths = new Set([...Object.keys(measured), ...Object.keys(excepted)])
  return [...paths].sort().flatMap(path => {
    const { lines, functions = [] } = measured[path] ?? {}
    const { lines: mostLines, functions: most = [] } = excepted[path] ?? {}
    return [
      ...faultOf(`${path}`, lines, mostLines),
      ...Array.from({ length: Math.max(functions.length, most.length) }, (_, at) =>
        faultOf(`a function of ${path}`, functions[at], most[at]),
      ).flat(),
    ]
  })
}

function faultOf(what: string, lines: number | undefined, most: number | undefined): string[] {
  if (lines === undefined) return most === undefined ? [] : [`${what} is excepted, and short enough`]
  if (most === undefined) return [`${what} has ${lines} lines: split it by idea`]
  return lines > most
    ? [
        `${what} has grown from ${most} to ${lines} lines: first move a part of it that stands for itself into a file of its own`,
      ]
    : []
}

/** The exceptions that are left, none of them larger than before. */
export function shrunk(measured: Excesses, excepted: Excesses): Excesses {
  const kept = Object.entries(excepted).flatMap(([path, { lines: mostLines, functions: most }]) => {
    const { lines, functions } = measured[path] ?? {}
    const file = lines && mostLines ? { lines: Math.min(lines, mostLines) } : {}
    const each = most?.flatMap((one, at) => (functions?.[at] ? [Math.min(one, functions[at])] : [])) ?? []
    const left = { ...file, ...(each.length > 0 ? { functions: each } : {}) }
    return Object.keys(left).length > 0 ? [[path, left] as const] : []
  })
  return Object.fromEntries(kept)
}
