/** Bugs of the judge itself. Each is put into a copy of the source, where the proof that is about it must fail. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Play } from './play.ts'
import { Trials } from './trials.ts'

interface JudgeMutant {
  readonly bug: string
  /** In src/. */
  readonly file: string
  /** Stands there once. */
  readonly right: string
  readonly wrong: string
  /** A part of the names of the plays that notice it. */
  readonly noticed: string
}

const judgeMutants: readonly JudgeMutant[] = [
  {
    bug: 'exit codes are swapped',
    file: 'cli/commands/conformance.ts',
    right: 'good: exitCodes.ok,\n  bad: exitCodes.check,',
    wrong: 'good: exitCodes.check,\n  bad: exitCodes.ok,',
    noticed: 'command: a right agent',
  },
  {
    bug: 'a check always passes',
    file: 'conform/judging/judge.ts',
    right: 'if (finding.holds === true) return',
    wrong: 'if (finding.holds !== null) return',
    noticed: 'verifies-only-if-signed',
  },
  {
    bug: 'a fault never happens',
    file: 'conform/marketplaces/callback-proxy.ts',
    right: 'if (!one) return null',
    wrong: 'if (!one || one) return null',
    noticed: 'follows-redirects',
  },
  {
    bug: 'an excuse that is not needed goes unnoticed',
    file: 'conform/judging/baseline.ts',
    right: 'else if (now && isTold(now.verdict)',
    wrong: 'else if (now && !now',
    noticed: 'command: an excuse that is not needed',
  },
  {
    bug: 'JUnit has no failures',
    file: 'conform/reports/junit.ts',
    right: "failure: { '@type'",
    wrong: "properties: { '@type'",
    noticed: 'command: a bug gives 3',
  },
  {
    bug: 'nothing is listened for in quiet',
    file: 'conform/agent/declared.ts',
    right: 'return Math.max(leastMs, Math.min(',
    wrong: 'return 0 * Math.max(leastMs, Math.min(',
    noticed: 'works-later-on-refused',
  },
  {
    bug: 'a forged webhook needs no genuine twin',
    file: 'conform/checks/evidence.ts',
    right: 'if (between) return',
    wrong: 'if (between || !between) return',
    noticed: 'twins: ',
  },
  {
    bug: 'what depends on a broken check is judged too',
    file: 'conform/judging/judge.ts',
    right: 'blocker && !(',
    wrong: '!blocker && blocker && !(',
    noticed: 'time-in-seconds',
  },
  {
    bug: 'a scenario that is left out hides a fault',
    file: 'conform/judging/judge.ts',
    right: 'if (finding.holds === false) return finding',
    wrong:
      'if (finding.holds === false && history.of("scenario").every(one => one.outcome !== "skipped")) return finding',
    noticed: 'accepts-in-a-loop',
  },
]

const COPIED = ['bin', 'fixtures', 'src', 'test/conform', 'test/support', 'package.json', 'tsconfig.json']

/** `plays`: the proofs that may notice. */
export const judgePlays = (plays: readonly Play[]): Play[] =>
  judgeMutants.map(mutant => ({
    name: `judge: ${mutant.bug}`,
    async faults() {
      const noticing = plays.filter(({ name }) => name.includes(mutant.noticed))
      const found = await foundWith(mutant, noticing)
      return found.length > 0 ? [] : [`nothing notices it in ${noticing.length} proofs`]
    },
  }))

async function foundWith({ file, right, wrong }: JudgeMutant, plays: readonly Play[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'judge-'))
  const trials = new Trials(folder)
  try {
    for (const name of COPIED) cpSync(name, join(folder, name), { recursive: true })
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    const path = join(folder, 'src', file)
    const pieces = readFileSync(path, 'utf8').split(right)
    if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} times: ${right}`)
    writeFileSync(path, pieces.join(wrong))
    return (await Promise.all(plays.map(play => play.faults(trials)))).flat()
  } finally {
    trials.end()
    rmSync(folder, { recursive: true })
  }
}
