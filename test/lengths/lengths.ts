/**
 * How long functions and files may be. exceptions.json names what is longer. An exception may only shrink: it fails the
 * check once it grows, and once it is not needed.
 */
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { parse } from '@babel/parser'
import { isFunction, type Node, traverseFast } from '@babel/types'

const limits = { file: 300, function: 60 }

/** What a file has beyond the limits: its own lines, and those of its long functions, longest first. */
interface Excess {
  readonly lines?: number
  readonly functions?: readonly number[]
}

/** By path. */
export type Excesses = Readonly<Record<string, Excess>>

/** Measures these files, by path. Every line counts, from the first to the last: also comments and empty ones. */
export function measure(paths: readonly string[]): Excesses {
  const all = paths.map(path => [path, excessOf(readFileSync(path, 'utf8'), extname(path) === '.ts')] as const)
  return Object.fromEntries(all.filter(([, excess]) => Object.keys(excess).length > 0))
}

export function excessOf(text: string, isTypeScript = true): Excess {
  const lines = text.split('\n').length - 1
  const functions: number[] = []
  const program = parse(text, { sourceType: 'module', plugins: isTypeScript ? ['typescript'] : [] })
  traverseFast(program, node => {
    if (isFunction(node)) functions.push(linesOf(node))
  })
  const long = functions.filter(count => count > limits.function).sort((a, b) => b - a)
  return { ...(lines > limits.file && { lines }), ...(long.length > 0 && { functions: long }) }
}

const linesOf = ({ loc }: Node) => loc!.end.line - loc!.start.line + 1

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
