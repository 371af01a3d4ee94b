/**
 * For processes that live for seconds, as those of tests do. V8 compiles WebAssembly once, not a second time to make it
 * faster, optimises JavaScript only after nine times as much work, and compiles a function when it is first called. A start
 * of `dev` and its end cost 0.78 s of CPU so, 1.00 with the first alone; ten test files 44 s instead of 49.
 */
import { spawnSync } from 'node:child_process'

const WANTED = ['--liftoff-only', '--interrupt-budget=600000', '--max-lazy']

/** Those that a Node takes: V8 drops options, and Node ends where it is given one that it does not know. */
export const takenBy = (node: string, options: readonly string[]): string[] =>
  options.filter(option => spawnSync(node, [option, '--version']).status === 0)

// Asked once for a run, whose processes all inherit the answer.
process.env.TEST_SHORT_LIVED ??= takenBy(process.execPath, WANTED).join(' ')

export const SHORT_LIVED: readonly string[] = process.env.TEST_SHORT_LIVED.split(' ').filter(Boolean)
