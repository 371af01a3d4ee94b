/**
 * Runs tests of the files that are asked for on stdin, one request a line, and says on descriptor 3 what becomes of them: what
 * a test prints can't be taken for it. With `MUTANT_REACH` it also says which places of the code each test came to.
 */
import { existsSync, readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { runTests } from './uvu.ts'

export interface Request {
  readonly path: string
  /** Null for all. */
  readonly tests: readonly string[] | null
}

/** `at` is '' outside of all tests: while the file is loaded, and in what runs before or after its tests. */
export type Told =
  | { readonly kind: 'begin'; readonly at: string }
  | { readonly kind: 'pass'; readonly at: string; readonly ms: number; readonly numbers: readonly number[] }
  | { readonly kind: 'fail' }
  | { readonly kind: 'end'; readonly count: number; readonly numbers: readonly number[] }

const reachFile = process.env.MUTANT_REACH
const shared = globalThis as { mutantsReached?: Set<number> }

const tell = (told: Told) => writeSync(3, `${JSON.stringify(told)}\n`)

/** What this process came to since the last call; where other processes came, which write it to the file, for good. */
function reached(): number[] {
  const own = shared.mutantsReached ?? []
  if (reachFile !== undefined) shared.mutantsReached = new Set()
  return [...new Set([...own, ...reachedElsewhere()])]
}

function reachedElsewhere(): number[] {
  if (reachFile === undefined || !existsSync(reachFile)) return []
  return readFileSync(reachFile, 'utf8').split('\n').slice(0, -1).map(Number)
}

async function run({ path, tests }: Request): Promise<void> {
  const outside = new Set<number>()
  const leaveOutside = () => {
    for (const number of reached()) outside.add(number)
  }
  let started = 0
  reached()
  tell({ kind: 'begin', at: '' })
  await import(pathToFileURL(path).href)
  const count = await runTests(tests, {
    begin(at) {
      leaveOutside()
      tell({ kind: 'begin', at })
      started = performance.now()
    },
    pass(at) {
      tell({ kind: 'pass', at, ms: Math.ceil(performance.now() - started), numbers: reached() })
    },
  })
  leaveOutside()
  tell({ kind: 'end', count, numbers: [...outside] })
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    await run(JSON.parse(line) as Request)
  } catch (error) {
    console.error(error)
    tell({ kind: 'fail' })
  }
}
