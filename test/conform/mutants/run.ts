/**
 * Proves that the judge sees what it is for, and nothing else: agents that are right in many ways fail no check that says must, and each bug
 * is seen by the check that is about it and by no other. Arguments are parts of names of agents, bugs and checks: only those are tried.
 */
import { checks } from '../../../src/conform/checks/index.ts'
import type { Judged } from '../../../src/conform/judge.ts'
import { mutants } from './index.ts'
import type { Mutant } from './mutant.ts'
import { byHand, isThere, type RightAgent, rightAgents } from './right-agents.ts'
import { faultsOf, type Trial, wantedFor } from './trial.ts'
import { playAll, type Told } from './trials.ts'

interface Play {
  readonly name: string
  readonly trial: Trial
  /** Returns what is wrong with the verdicts. */
  faults(verdicts: readonly Judged[]): readonly string[]
}

const SEED = 1
const RUNS = 10
const parts = process.argv.slice(2)
const isWanted = (name: string) => parts.length === 0 || parts.some(part => name.includes(part))

const rightPlays = rightAgents.filter(isThere).map(rightPlay)
const mutantPlays = mutants.map(mutantPlay)
const repeated = Array.from({ length: RUNS - 1 }, (_, at) => repeatedPlay(at + 2))
const plays = [...rightPlays, ...repeated, ...mutantPlays].filter(({ name }) => isWanted(name))
let faults = 0
let first: readonly Judged[] | null = null

for (const { name, program } of rightAgents.filter(agent => !isThere(agent)))
  console.log(`not tried: ${name}, as there is no ${program}`)
const alive = new Set<Play>()
await playAll(plays, ({ trial }) => trial, took)
if (parts.length === 0) for (const text of mustsWithoutMutant()) fault(text)
const tried = mutantPlays.filter(play => plays.includes(play)).length
const living = mutantPlays.filter(play => alive.has(play)).length
console.log(`\n${tried - living} killed, ${living} alive${faults > 0 ? `, ${faults} faults` : ''}`)
process.exitCode = faults > 0 || plays.length === 0 ? 1 : 0

function took(play: Play, told: Told, ms: number): void {
  const found = 'error' in told ? [told.error] : play.faults(told.verdicts)
  if (found.length > 0) alive.add(play)
  else console.log(`ok   ${play.name}  ${(ms / 1_000).toFixed(1)} s`)
  for (const text of found) fault(`${play.name}: ${text}`)
}

function fault(text: string): void {
  faults += 1
  console.log(`FAIL ${text}`)
}

function rightPlay({ name, command, host, declared, warns = [] }: RightAgent): Play {
  return {
    name: `right: ${name}`,
    trial: { command, host, declared, wanted: null, seed: SEED },
    faults(verdicts) {
      const mayBe = ({ id, level, verdict }: Judged) =>
        verdict === 'pass' || verdict === 'untested' || (level !== 'must' && verdict === 'warn' && warns.includes(id))
      const bad = verdicts.filter(one => !mayBe(one)).map(told)
      return verdicts.length === checks.length
        ? bad
        : [...bad, `${verdicts.length} verdicts on ${checks.length} checks`]
    },
  }
}

/** The same run again. */
function repeatedPlay(number: number): Play {
  return {
    name: `the same run, ${number} of ${RUNS}`,
    trial: { command: byHand(), wanted: null, seed: SEED },
    faults(verdicts) {
      first ??= verdicts
      const before = new Map(first.map(({ id, verdict }) => [id, verdict]))
      return verdicts
        .filter(({ id, verdict }) => before.get(id) !== verdict)
        .map(one => `${told(one)}, and was ${before.get(one.id)}`)
    },
  }
}

function mutantPlay(mutant: Mutant): Play {
  const wanted = wantedFor(mutant)
  const style = mutant.declared?.hires ? ['--style', 'buys'] : []
  return {
    name: `${mutant.bug}: ${wanted.join(', ')}`,
    trial: { command: byHand('--bug', mutant.bug, ...style), declared: mutant.declared, wanted, seed: SEED },
    faults: verdicts => faultsOf(mutant, verdicts),
  }
}

function told({ id, verdict, text }: Judged): string {
  return `${id} is ${verdict}: ${text}`
}

function mustsWithoutMutant(): string[] {
  const seen = new Set(mutants.flatMap(wantedFor))
  return checks
    .filter(({ id, level }) => level === 'must' && !seen.has(id))
    .map(({ id }) => `no mutant is killed by ${id}`)
}
