/**
 * Proves that the judge sees what it is for, and nothing else: agents that are right in many ways fail no check that says must, each bug is
 * seen by the check that is about it and by no other, and a bug of the judge itself is noticed. Arguments are parts of names: only what has
 * one of them is tried.
 */
import { availableParallelism } from 'node:os'
import { checks } from '../../../src/conform/checks/index.ts'
import { commandPlays } from './command-plays.ts'
import { mutants } from './index.ts'
import { judgePlays } from './judge-mutants.ts'
import { type Begun, keyPlays, mutantPlay, type Play, repeatedPlays, rightPlay, twinsPlay } from './play.ts'
import { missingFor, rightAgents } from './right-agents.ts'
import { seersOf } from './trial.ts'
import { Trials } from './trials.ts'

const RUNS = 10
/** Agents of which it is looked at what a report begins with, and in how many of them that has to be the bug. */
const KEYS = 60
const LEAST_NAMED = 0.95
/** A process for each core, with so many plays side by side: a run waits most of its time. */
const PROCESSES = Math.min(4, availableParallelism())
const AT_ONCE = 5

const parts = process.argv.slice(2)
const isWanted = ({ name }: Pick<Play, 'name'>) => parts.length === 0 || parts.some(part => name.includes(part))

const mutantPlays = mutants.map(mutantPlay)
const missing = rightAgents.flatMap(agent => {
  const why = missingFor(agent)
  return why === null ? [] : [{ agent, name: `right: ${agent.name}`, why }]
})
const right = rightAgents.filter(agent => !missing.some(one => one.agent === agent)).map(rightPlay)
const small = [twinsPlay, ...commandPlays, ...mutantPlays]
// What takes longest begins first.
const begun: Begun[] = []
const keys = keyPlays(KEYS, one => void begun.push(one))
const everyPlay = [...right, ...repeatedPlays(RUNS), ...judgePlays(small), ...keys, ...small]
const known = [...everyPlay.map(({ name }) => name), ...missing.map(({ name }) => name)]
const unknown = parts.filter(part => !known.some(name => name.includes(part)))
if (unknown.length > 0) {
  for (const part of unknown)
    console.error(`Nothing to try has "${part}" in its name. Names are like "${small.at(-1)!.name}".`)
  process.exit(2)
}
const plays = everyPlay.filter(isWanted)
const started = performance.now()
const alive = new Set<Play>()
let faults = 0

// Nobody reads that something was left out.
for (const { name, why } of missing.filter(isWanted)) fault(`${name}: ${why}`)
await playAll()
if (parts.length === 0) for (const text of mustsWithoutMutant()) fault(text)
if (begun.length > 0) tellFirstCauses()
const tried = mutantPlays.filter(play => plays.includes(play)).length
const living = mutantPlays.filter(play => alive.has(play)).length
const seconds = Math.round((performance.now() - started) / 1_000)
console.log(`\n${tried - living} killed, ${living} alive${faults > 0 ? `, ${faults} faults` : ''}, ${seconds} s`)
process.exitCode = faults > 0 || plays.length === 0 ? 1 : 0

async function playAll(): Promise<void> {
  const left = [...plays]
  const lane = async (trials: Trials) => {
    for (let play = left.shift(); play; play = left.shift()) await take(play, trials)
  }
  const processes = Array.from({ length: Math.min(PROCESSES, plays.length) }, () => new Trials())
  await Promise.all(processes.flatMap(trials => Array.from({ length: AT_ONCE }, () => lane(trials))))
  for (const trials of processes) trials.end()
}

async function take(play: Play, trials: Trials): Promise<void> {
  const started = performance.now()
  const found = await play.faults(trials).catch((error: Error) => [error.message])
  if (found.length > 0) alive.add(play)
  else console.log(`ok   ${play.name}  ${((performance.now() - started) / 1_000).toFixed(1)} s`)
  for (const text of found) fault(`${play.name}: ${text}`)
}

function fault(text: string): void {
  faults += 1
  console.log(`FAIL ${text}`)
}

function tellFirstCauses(): void {
  for (const { name, isBug, causes } of begun)
    if (!isBug) console.log(`not first: ${name}, but ${causes.join(', ') || 'nothing'}`)
  const named = begun.filter(({ isBug }) => isBug).length
  const most = begun.map(({ causes }) => causes.length).sort((a, b) => a - b)[begun.length >> 1]!
  console.log(`\nfirst cause is the bug in ${named} of ${begun.length}, ${most} red musts behind nothing in the median`)
  // Of a few agents no share is told.
  if (begun.length < KEYS / 2) return
  if (named < LEAST_NAMED * begun.length) fault('the first cause is too seldom the bug')
  if (most > 1) fault('more than one red must in the median')
}

function mustsWithoutMutant(): string[] {
  const seen = new Set(mutants.flatMap(seersOf))
  return checks
    .filter(({ id, level }) => level === 'must' && !seen.has(id))
    .map(({ id }) => `no mutant is killed by ${id}`)
}
