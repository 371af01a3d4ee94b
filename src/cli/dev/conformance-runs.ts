/** The judge that `dev` offers: each run is a process of `marketplace conformance`, which tells how far it is. Source: A-312. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import type { JudgedRun, JudgedRunDetails } from '../../api/endpoints/conformance.ts'
import { machineNow, stopwatch } from '../../conform/history/machine-time.ts'
import { areas } from '../../conform/reports/areas.ts'
import { areaOf } from '../../conform/reports/findings.ts'
import type { Judge, WantedRun } from '../../market/simulator/conformance.ts'
import { inherited } from '../../settings/config.ts'
import type { ForwardedAgent } from '../../sim/agents/forwarded-agents.ts'
import type { ToldRun } from '../conformance/parent.ts'
import { fit } from '../output/ui.ts'

/** This program. */
const COMMAND = process.argv[1]!
/** Runs that are kept: each takes 200 kB. */
const MOST_RUNS = 10
const MOST_WORDS = 4_000
/** So long a run may take to end its agent when dev ends. */
const GRACE_MS = 5_000

interface Run {
  readonly id: string
  readonly agent: ForwardedAgent
  readonly only: readonly string[]
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  /** ISO 8601, in real time. */
  readonly startedAt: string
  readonly elapsed: () => number
  state: JudgedRun['state']
  isStopped: boolean
  /** 0 until it has ended. */
  ms: number
  told: ToldRun | null
  scenarios: number
  /** What it said to people; shown if it judged nothing. */
  words: string
}

export class ConformanceRuns implements Judge {
  readonly #agents: readonly ForwardedAgent[]
  readonly #command: string | null
  readonly #runs: Run[] = []
  #count = 0

  /** `command` starts the first of the agents; null: each of them is up. */
  constructor(agents: readonly ForwardedAgent[], command: string | null) {
    this.#agents = agents
    this.#command = command
  }

  get isBusy(): boolean {
    // One that was stopped still ends its agent.
    return this.#runs.some(({ ms }) => ms === 0)
  }

  begin({ agentId, only, seed }: WantedRun): JudgedRun | null {
    const agent = this.#agents.find(({ id }) => id === agentId)
    if (!agent) return null
    const command = this.#commandOf(agent)
    const args = [
      ...['conformance', '--json'],
      ...(command === null ? ['--url', agent.forwardTo] : ['--start', command]),
      ...only.flatMap(one => ['--only', one]),
      ...(seed === undefined ? [] : ['--seed', `${seed}`]),
    ]
    const env = {
      ...inherited(),
      MARKETPLACE_TELLS_PARENT: '1',
      ...(command === null && { MARKETPLACE_WEBHOOK_SECRET: agent.webhookSecret }),
    }
    const child = fork(COMMAND, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env })
    const run: Run = {
      ...{
        id: `run_${++this.#count}`,
        agent,
        only,
        child,
        ended: once(child, 'close').catch(() => {}),
        startedAt: new Date(machineNow()).toISOString(),
        elapsed: stopwatch(),
      },
      ...{ state: 'running', isStopped: false, ms: 0, told: null, scenarios: 0, words: '' },
    }
    child.stderr!.on('data', chunk => (run.words = (run.words + chunk).slice(-MOST_WORDS)))
    child.on('message', told => {
      run.told = told as ToldRun
      run.scenarios = run.told.count ?? run.told.played.length
    })
    void run.ended.finally(() => {
      run.ms = Math.max(1, run.elapsed())
      run.state = run.isStopped ? 'stopped' : run.told ? 'done' : 'failed'
    })
    this.#runs.unshift(run)
    this.#runs.splice(MOST_RUNS)
    return this.#recordOf(run)
  }

  all(): readonly JudgedRun[] {
    return this.#runs.map(run => this.#recordOf(run))
  }

  get(id: string): JudgedRunDetails | undefined {
    const run = this.#runs.find(one => one.id === id)
    return run && { ...this.#recordOf(run), ...detailsOf(run) }
  }

  /** It runs until it has told what it has seen, so that nobody takes what it said before for the last. */
  async stop(id: string): Promise<JudgedRun | undefined> {
    const run = this.#runs.find(one => one.id === id)
    if (run?.state === 'running') {
      // It ends its agent, and tells what it has seen. To disconnect it would do, but then it would never count as closed.
      if (!run.isStopped) run.child.kill('SIGINT')
      run.isStopped = true
      // The second signal ends it at once, and its agent with it.
      const late = setTimeout(() => run.child.kill('SIGTERM'), GRACE_MS)
      await run.ended
      clearTimeout(late)
    }
    return run && this.#recordOf(run)
  }

  async close(): Promise<void> {
    await Promise.all(this.#runs.map(({ id }) => this.stop(id)))
  }

  #commandOf(agent: ForwardedAgent): string | null {
    return agent === this.#agents[0] ? this.#command : null
  }

  #recordOf(run: Run): JudgedRun {
    const { id, agent, only, startedAt, state, told, scenarios, elapsed } = run
    const isOver = state !== 'running'
    return {
      ...{ id, agentId: agent.id, agentSlug: agent.slug, command: this.#commandOf(agent), only: [...only] },
      ...{ startedAt, ms: run.ms || elapsed(), state },
      outcome: isOver ? (told?.outcome ?? null) : null,
      text: told ? (isOver ? told.text : '') : failure(run),
      seed: told?.report.seed ?? null,
      ...{ played: told?.played.length ?? 0, scenarios },
      summary: told ? summaryOf(told) : null,
    }
  }
}

const failure = ({ state, words }: Run) => (state === 'running' ? '' : fit(stripVTControlCharacters(words).trim()))

function detailsOf({ told, state }: Run): Omit<JudgedRunDetails, keyof JudgedRun> {
  const { report, toCome, seen } = told ?? {}
  return {
    areas: Object.entries(areas).map(([id, about]) => ({ id, about })),
    causes: report?.causes.map(({ id, behind }) => ({ id, behind: [...behind] })) ?? [],
    deaths: report?.deaths.map(({ how, afterMs, lastWords }) => ({ how, afterMs, lastWords: [...lastWords] })) ?? [],
    checks:
      report?.checks.map(check => {
        const { id, title, level, verdict, text, law, why, fix, behind } = check
        const isToCome = state === 'running' && toCome!.includes(id)
        const events = (isToCome ? [] : (seen![id] ?? [])).map(({ line, bytes }) => ({ line, bytes: [...bytes] }))
        return {
          id,
          title,
          area: areaOf(check),
          level,
          verdict,
          isToCome,
          text,
          law: { ...law },
          why,
          fix,
          behind,
          seen: events,
        }
      }) ?? [],
  }
}

function summaryOf({ report }: ToldRun): JudgedRun['summary'] {
  const { levels: _, total: __, ...counts } = report.summary
  return counts
}
