/** The judge of agents, as a simulator offers it: the command line gives it, which starts processes. Source: A-312. */
import type { JudgedRun, JudgedRunDetails } from '../../api/endpoints/conformance.ts'
import { refuse } from '../../api/failures.ts'
import type { Acting, OwnCtx } from '../market.ts'
import type { Verb } from '../verb.ts'

export interface WantedRun {
  readonly agentId: string
  /** Checks or areas; empty: all. */
  readonly only: readonly string[]
  readonly seed: number | undefined
}

export interface Judge {
  /** Returns null if this agent is nowhere on this machine. */
  begin(wanted: WantedRun): JudgedRun | null
  readonly isBusy: boolean
  /** Newest first. */
  all(): readonly JudgedRun[]
  get(id: string): JudgedRunDetails | undefined
  stop(id: string): Promise<JudgedRun | undefined>
}

const NOBODY: Judge = {
  begin: () => null,
  isBusy: false,
  all: () => [],
  get: () => undefined,
  stop: async () => undefined,
}

/** Who judges in this marketplace, and for whom: the builder of the agents of this machine, beside administrators. */
export class JudgeSeat {
  judge: Judge = NOBODY
  builderId = ''
}

/** To everybody else there are no such agents, and no runs. */
function judgeFor({ memory, actor: { user } }: Acting<OwnCtx>): Judge {
  const { judge, builderId } = memory.of(JudgeSeat)
  return user.isAdmin || user.id === builderId ? judge : NOBODY
}

const judgeAgent: Verb<'judgeAgent'> = async (ctx, { body: { agentId, only = [], seed } }) => {
  const judge = judgeFor(ctx)
  if (judge.isBusy) throw refuse('conformance_running')
  const run = judge.begin({ agentId, only, seed })
  if (!run) throw refuse('no_local_agent')
  return run
}

const listConformanceRuns: Verb<'listConformanceRuns'> = async ctx => ({ items: [...judgeFor(ctx).all()] })

const getConformanceRun: Verb<'getConformanceRun'> = async (ctx, { params }) => found(judgeFor(ctx).get(params.id))

const stopConformanceRun: Verb<'stopConformanceRun'> = async (ctx, { params }) =>
  found(await judgeFor(ctx).stop(params.id))

function found<Run>(run: Run | undefined): Run {
  if (!run) throw refuse('not_found', 'run')
  return run
}

export const conformanceVerbs = { judgeAgent, listConformanceRuns, getConformanceRun, stopConformanceRun }
