/** What the proof consists of: plays, each of which finds faults or none. */
import { execa } from 'execa'
import { checks } from '../../../src/conform/checks/index.ts'
import type { Judged } from '../../../src/conform/judge.ts'
import type { Mutant } from './mutant.ts'
import { byHand, type RightAgent } from './right-agents.ts'
import { faultsOf, wantedFor } from './trial.ts'
import type { Trials } from './trials.ts'

export interface Play {
  readonly name: string
  /** Returns what is wrong, which should be nothing. */
  faults(trials: Trials): Promise<readonly string[]>
}

const SEED = 1

/** No check that says must fails, and of the others only those that are named. */
export const rightPlay = ({ name, command, compile, host, declared, warns = [] }: RightAgent): Play => ({
  name: `right: ${name}`,
  async faults(trials) {
    if (compile !== undefined) await execa(compile, { shell: true })
    const verdicts = await trials.play({ command, host, declared, wanted: null, seed: SEED })
    const mayBe = ({ id, level, verdict }: Judged) =>
      verdict === 'pass' || verdict === 'untested' || (level !== 'must' && verdict === 'warn' && warns.includes(id))
    const bad = verdicts.filter(one => !mayBe(one)).map(told)
    return verdicts.length === checks.length ? bad : [...bad, `${verdicts.length} verdicts on ${checks.length} checks`]
  },
})

/** The same run so many times has the same verdicts. */
export function repeatedPlays(runs: number): Play[] {
  let first: readonly Judged[] | null = null
  return Array.from({ length: runs }, (_, at) => ({
    name: `the same run, ${at + 1} of ${runs}`,
    async faults(trials: Trials) {
      const verdicts = await trials.play({ command: byHand(), wanted: null, seed: SEED })
      first ??= verdicts
      const before = new Map(first.map(({ id, verdict }) => [id, verdict]))
      const other = verdicts.filter(({ id, verdict }) => before.get(id) !== verdict)
      return other.map(one => `${told(one)}, and was ${before.get(one.id)}`)
    },
  }))
}

/** The checks that it names see its bug, and no others. */
export const mutantPlay = (mutant: Mutant): Play => ({
  name: `${mutant.bug}: ${wantedFor(mutant).join(', ')}`,
  async faults(trials) {
    const style = mutant.declared?.hires ? ['--style', 'buys'] : []
    const command = byHand('--bug', mutant.bug, ...style)
    return faultsOf(
      mutant,
      await trials.play({ command, declared: mutant.declared, wanted: wantedFor(mutant), seed: SEED }),
    )
  },
})

const told = ({ id, verdict, text }: Judged) => `${id} is ${verdict}: ${text}`
