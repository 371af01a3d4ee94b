/** What the proof consists of: plays, each of which finds faults or none. */
import { execa } from 'execa'
import { checks } from '../../../src/conform/checks/index.ts'
import type { Judged } from '../../../src/conform/judging/judge.ts'
import { forgeriesOf } from '../../../src/conform/scenarios/forged-webhooks.ts'
import { mutants } from './index.ts'
import type { Mutant } from './mutant.ts'
import { byHand, type RightAgent } from './right-agents.ts'
import { faultsOf, SEED, seersOf, trialOf, wantedFor } from './trial.ts'
import type { Trials } from './trials.ts'

export interface Play {
  readonly name: string
  /** Returns what is wrong, which should be nothing. */
  faults(trials: Trials): Promise<readonly string[]>
}

/** No check that says must fails, and of the others only those that are named. */
export const rightPlay = (agent: RightAgent): Play => ({
  name: `right: ${agent.name}`,
  async faults(trials) {
    const { command, compile, host, declared } = agent
    if (compile !== undefined) await execa(compile, { shell: true })
    const { checks: verdicts } = await trials.play({ command, host, declared, wanted: null, seed: SEED })
    return againstRight(verdicts, agent)
  },
})

function againstRight(
  verdicts: readonly Judged[],
  { warns = [], passes = [] }: Pick<RightAgent, 'warns' | 'passes'> = {},
): string[] {
  const mayBe = ({ id, level, verdict, behind }: Judged) =>
    verdict === 'pass' ||
    (verdict === 'untested' && !passes.includes(id)) ||
    (level !== 'must' && verdict === 'warn' && warns.includes(id)) ||
    (level !== 'must' && verdict === 'behind' && warns.includes(behind!))
  const bad = verdicts.filter(one => !mayBe(one)).map(told)
  return verdicts.length === checks.length ? bad : [...bad, `${verdicts.length} verdicts on ${checks.length} checks`]
}

/** An agent by hand is right, and the same run has the same verdicts so many times. */
export function repeatedPlays(runs: number): Play[] {
  let first: readonly Judged[] | null = null
  return Array.from({ length: runs }, (_, at) => ({
    name: `right: by hand, the same run, ${at + 1} of ${runs}`,
    async faults(trials: Trials) {
      const { checks: verdicts } = await trials.play({ command: byHand(), wanted: null, seed: SEED })
      first ??= verdicts
      const before = new Map(first.map(({ id, verdict }) => [id, verdict]))
      const other = verdicts.filter(({ id, verdict }) => before.get(id) !== verdict)
      return [...againstRight(verdicts), ...other.map(one => `${told(one)}, and was ${before.get(one.id)}`)]
    },
  }))
}

/** The checks that it names see its bug, and no others. */
export const mutantPlay = (mutant: Mutant): Play => ({
  name: `bug: ${mutant.bug}: ${wantedFor(mutant).join(', ')}`,
  async faults(trials) {
    const { checks: verdicts } = await trials.play(trialOf(mutant))
    return faultsOf(mutant, verdicts)
  },
})

/** What a report on an agent with one bug begins with. */
export interface Begun {
  readonly name: string
  readonly isBug: boolean
  /** Musts that are broken and behind nothing. */
  readonly causes: readonly string[]
}

/** All checks look at so many agents with one bug that breaks a must, from all areas: is it what the report names first? */
export function keyPlays(count: number, tell: (begun: Begun) => void): Play[] {
  const ofMusts = mutants.filter(({ kills }) => checks.find(({ id }) => id === kills)?.level === 'must')
  const spread = ofMusts.filter((_, at) => (at * count) % ofMusts.length < count)
  return spread.map(mutant => {
    const name = `key: ${mutant.bug}: ${mutant.kills}`
    const faults = async (trials: Trials) => {
      const causes = (await trials.play({ ...trialOf(mutant), wanted: null })).causes.map(({ id }) => id)
      tell({ name, isBug: [...seersOf(mutant), ...(mutant.named ?? [])].includes(causes[0] ?? ''), causes })
      return []
    }
    return { name, faults }
  })
}

/** Refusals of an agent that takes no genuine webhook either, from the first forged one on, say nothing of what it verifies. */
export const twinsPlay: Play = {
  name: 'twins: an agent that is busy since it was attacked has not shown that it verifies',
  async faults(trials) {
    const forged = Object.keys(forgeriesOf)
    const wanted = ['sig.wrong-secret']
    const command = byHand('--bug', 'shy-when-attacked')
    const { checks: verdicts } = await trials.play({ command, wanted, seed: SEED })
    return verdicts
      .filter(({ id, verdict }) => forged.includes(id) && !['untested', 'behind', 'inconclusive'].includes(verdict))
      .map(told)
  },
}

const told = ({ id, verdict, text }: Judged) => `${id} is ${verdict}: ${text}`
