/**
 * Proves that the command is right about right agents: the stacks that authors choose, so many runs each, on a machine that does nothing else or
 * beside busy processes. `--runs 10 --busy 8`, and parts of names. Two runs share a seed, and so their verdicts.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { execa } from 'execa'
import { stringify } from 'yaml'
import { missingFor, type RightAgent, serial, stacks } from '../mutants/right-agents.ts'
import { usuallyDeclared } from '../mutants/trial.ts'
import { faultsIn, type Ran } from './ran.ts'

const RUNS_OF_A_SEED = 2
const LOOK_MS = 50
const SLOW_MS = 3_000

const { values, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string', default: '10' }, busy: { type: 'string', default: '0' } },
})
const wanted = [...stacks, serial(SLOW_MS)].filter(({ name }) =>
  parts.length === 0 ? name !== serial(SLOW_MS).name : parts.some(part => name.includes(part)),
)
const folder = mkdtempSync(join(tmpdir(), 'right-runs-'))
const config = join(folder, 'conformance.yaml')
writeFileSync(config, stringify({ rejects: usuallyDeclared.rejects.map(({ kind, ...sample }) => sample) }))
const busy = Array.from({ length: Number(values.busy) }, () => spawn(process.execPath, ['-e', 'for (;;);']))

let faults = 0
try {
  for (const agent of wanted) await judgeOften(agent)
} finally {
  for (const child of busy) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
}
console.log(`${faults} faults`)
process.exitCode = faults > 0 || wanted.length === 0 ? 1 : 0

async function judgeOften(agent: RightAgent): Promise<void> {
  const missing = missingFor(agent)
  if (missing !== null) return fault(`${agent.name}: ${missing}`)
  if (agent.compile !== undefined) await execa(agent.compile, { shell: true })
  const runs: Ran[] = []
  for (let run = 0; run < Number(values.runs); run++) {
    const ran = await judgedByCommand(agent, 1 + Math.floor(run / RUNS_OF_A_SEED))
    for (const what of faultsIn(ran, agent)) fault(`${agent.name}, seed ${ran.seed}: ${what}`)
    const before = runs.find(({ seed }) => seed === ran.seed)
    for (const what of before ? opposite(before, ran) : []) fault(`${agent.name}, seed ${ran.seed}: ${what}`)
    runs.push(ran)
  }
  console.log(`${agent.name}: ${figuresOf(runs)}`)
}

async function judgedByCommand({ command }: RightAgent, seed: number): Promise<Ran> {
  const state = join(folder, `state-${seed}`)
  rmSync(state, { force: true })
  const flags = [
    '--start',
    `exec env MUTANT_STATE=${state} ${command}`,
    '--config',
    config,
    '--seed',
    `${seed}`,
    '--json',
  ]
  const started = performance.now()
  const child = spawn(process.execPath, ['bin/marketplace.js', 'conformance', ...flags])
  let [heardAt, silent, kilobytes] = [started, 0, 0]
  const hear = () => {
    silent = Math.max(silent, performance.now() - heardAt)
    heardAt = performance.now()
  }
  child.stderr.on('data', hear)
  const looking = setInterval(() => {
    kilobytes = Math.max(kilobytes, peakOf(child.pid!))
  }, LOOK_MS)
  const ended = new Promise<number>(resolve => child.once('exit', code => resolve(code ?? -1)))
  const [out, code] = await Promise.all([text(child.stdout), ended])
  clearInterval(looking)
  hear()
  const seconds = (performance.now() - started) / 1_000
  return {
    seed,
    report: JSON.parse(out),
    code,
    seconds,
    megabytes: kilobytes / 1_024,
    silent: silent / 1_000,
    isBeside: busy.length > 0,
  }
}

/** Of its own process, in kB; 0 where the system does not tell. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

function opposite(before: Ran, { report }: Ran): string[] {
  const was = new Map(before.report.checks.map(({ id, verdict }) => [id, verdict]))
  return report.checks
    .filter(
      ({ id, verdict }) => verdict !== was.get(id) && verdict !== 'inconclusive' && was.get(id) !== 'inconclusive',
    )
    .map(({ id, verdict, text }) => `${id} is ${verdict}, and was ${was.get(id)}: ${text}`)
}

function fault(what: string): void {
  faults += 1
  console.log(`FAIL ${what}`)
}

function figuresOf(runs: readonly Ran[]): string {
  const most = (of: (ran: Ran) => number) => Math.max(...runs.map(of))
  const middle = (of: (ran: Ran) => number) => runs.map(of).sort((a, b) => a - b)[Math.floor(runs.length / 2)] ?? 0
  const told = (verdict: string, level?: string) =>
    runs.map(
      ({ report }) =>
        report.checks.filter(one => one.verdict === verdict && (level === undefined || one.level === level)).length,
    )
  const unsure = runs.flatMap(({ report }) =>
    report.checks.filter(({ verdict }) => verdict === 'inconclusive').map(({ id }) => id),
  )
  return [
    `${runs.length} runs of ${middle(({ seconds }) => seconds).toFixed(1)} s, ${most(({ seconds }) => seconds).toFixed(1)} at most`,
    `${most(({ megabytes }) => megabytes).toFixed(0)} MB`,
    `silent for ${most(({ silent }) => silent).toFixed(1)} s`,
    `${Math.max(...told('untested', 'must'))} musts untested`,
    `${unsure.length} times inconclusive${unsure.length > 0 ? `: ${[...new Set(unsure)].join(' ')}` : ''}`,
  ].join(', ')
}
