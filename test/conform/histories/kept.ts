/**
 * Runs of the judge that are kept: what happened, packed, and the verdicts that it has. A check is a function of a history, so whoever changes
 * a verdict of an old one by a change of a check is told.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { parse, stringify } from 'yaml'
import type { Declared } from '../../../src/conform/agent/declared.ts'
import { checks } from '../../../src/conform/checks/index.ts'
import type { History } from '../../../src/conform/history/history.ts'
import { historyLines, historyOf } from '../../../src/conform/history/history-file.ts'
import { judge, type Verdict } from '../../../src/conform/judging/judge.ts'

interface KeptRun {
  readonly name: string
  /** Flags of the agent in agents/mutant.mjs. */
  readonly flags: readonly string[]
  /** What its author says besides the usual. */
  readonly declared?: Partial<Declared>
  /** Checks whose scenarios were played; null: all. */
  readonly wanted: readonly string[] | null
}

const wrong = (bug: string, ...wanted: readonly string[]): KeptRun => ({ name: bug, flags: ['--bug', bug], wanted })

export const keptRuns: readonly KeptRun[] = [
  { name: 'right', flags: ['--style', 'buys'], declared: { hires: true }, wanted: null },
  wrong('no-verification', 'sig.wrong-secret', 'sig.stale-301s', 'sig.refusal-401'),
  wrong('no-dedupe', 'dup.retry', 'dup.revision'),
  wrong('works-anew-when-cut', 'cb.lost-deliver', 'cb.no-storm'),
  wrong('delivers-after-rejecting', 'life.rejects', 'life.reject-reason'),
  wrong('works-on-what-is-over', 'order.cancelled-first'),
]

const FOLDER = 'test/conform/histories'
export const historyPath = (name: string) => `${FOLDER}/${name}.jsonl.br`
const verdictsPath = (name: string) => `${FOLDER}/${name}.yaml`

export const linesOf = (name: string): string => brotliDecompressSync(readFileSync(historyPath(name))).toString()
export const keptHistory = (name: string): History => historyOf(linesOf(name))

export function keep(name: string, history: History): void {
  const { BROTLI_PARAM_LGWIN: window, BROTLI_MAX_WINDOW_BITS: largest } = constants
  writeFileSync(historyPath(name), brotliCompressSync(historyLines(history), { params: { [window]: largest } }))
}

type Verdicts = Readonly<Record<string, Verdict>>

/** What the checks of today say that look into what was played. */
export function verdictsOf(history: History): Verdicts {
  const played = history.of('scenario').map(({ scenario }) => scenario)
  const verdicts = judge(
    checks.filter(({ scenario }) => played.includes(scenario)),
    history,
  )
  return Object.fromEntries(verdicts.map(({ id, verdict }) => [id, verdict]))
}

/** What they said when it was kept, or last written. */
export const keptVerdicts = (name: string): Verdicts => parse(readFileSync(verdictsPath(name), 'utf8'))

export const keepVerdicts = (name: string, verdicts: Verdicts): void =>
  writeFileSync(verdictsPath(name), stringify(verdicts))
