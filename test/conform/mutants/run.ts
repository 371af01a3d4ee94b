/**
 * Proves that the judge sees what it is for: the right agent passes everything, and each bug is seen by the check that is about it and by no
 * other. Arguments are parts of the names of bugs or checks: only those mutants are tried.
 */
import { checks } from '../../../src/conform/checks/index.ts'
import type { Judged } from '../../../src/conform/judge.ts'
import { mutants } from './index.ts'
import type { Mutant } from './mutant.ts'
import { faultsOf, type Trial, wantedFor } from './trial.ts'
import { playAll } from './trials.ts'

const SEED = 1
const parts = process.argv.slice(2)
const chosen = mutants.filter(
  ({ bug, kills }) => parts.length === 0 || parts.some(part => `${bug} ${kills}`.includes(part)),
)
const faults: string[] = []
const fault = (text: string) => {
  faults.push(text)
  console.log(`FAIL ${text}`)
}

interface Play extends Trial {
  readonly judge: (verdicts: readonly Judged[], seconds: string) => void
}

let killed = 0
const plays = [...(parts.length === 0 ? [base()] : []), ...chosen.map(tryMutant)]
await playAll(
  plays,
  ({ flags, wanted, seed }) => ({ flags, wanted, seed }),
  ({ judge }, verdicts, ms) => judge(verdicts, (ms / 1_000).toFixed(1)),
)
if (parts.length === 0) everyMustHasAMutant()
console.log(
  `\n${killed} killed, ${chosen.length - killed} alive${faults.length > 0 ? `, ${faults.length} faults` : ''}`,
)
process.exitCode = faults.length > 0 || chosen.length === 0 ? 1 : 0

/** The right agent, before every check. */
function base(): Play {
  return {
    ...{ flags: [], wanted: null, seed: SEED },
    judge(verdicts, seconds) {
      const count = (...wanted: string[]) => verdicts.filter(({ verdict }) => wanted.includes(verdict)).length
      if (count('pass', 'warn', 'fail', 'untested', 'inconclusive') !== checks.length)
        fault('verdicts and checks are not equally many')
      for (const { id, verdict, text } of verdicts)
        if (verdict !== 'pass') fault(`the right agent: ${id} is ${verdict}: ${text}`)
      console.log(`the right agent: ${count('pass')} of ${checks.length} pass, ${seconds} s`)
    },
  }
}

function tryMutant(mutant: Mutant): Play {
  return {
    ...{ flags: ['--bug', mutant.bug], wanted: wantedFor(mutant), seed: SEED },
    judge(verdicts, seconds) {
      const found = faultsOf(mutant, verdicts)
      for (const text of found) fault(`${mutant.bug}: ${text}`)
      if (found.length > 0) return
      killed += 1
      console.log(`ok   ${mutant.bug}: ${wantedFor(mutant).join(', ')}, ${seconds} s`)
    },
  }
}

function everyMustHasAMutant(): void {
  const seen = new Set(mutants.flatMap(wantedFor))
  for (const { id, level } of checks) if (level === 'must' && !seen.has(id)) fault(`no mutant is killed by ${id}`)
}
