/** `marketplace conformance`: does an agent behave? Plays a marketplace to it, and judges what it does. */
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { checks } from '../../conform/checks/index.ts'
import type { History, Recorded } from '../../conform/history/history.ts'
import { historyLines, historyOf } from '../../conform/history/history-file.ts'
import { baselineOf } from '../../conform/judging/baseline.ts'
import {
  type Asked,
  type Outcome,
  outcomeOf,
  type Report,
  reportOf,
  withRepeats,
} from '../../conform/judging/report.ts'
import { chosenAmong, those, withLevels, withPrerequisites } from '../../conform/judging/selection.ts'
import { censusOf } from '../../conform/listed-agent/checks.ts'
import type { Wait } from '../../conform/listed-agent/retries.ts'
import { againLine } from '../../conform/reports/findings.ts'
import { requiredIn } from '../../conform/requirements/index.ts'
import { UsageError } from '../../settings/config.ts'
import { numberGiven } from '../command-line/json-input.ts'
import { WHICH_AGENT, withAgentAway } from '../conformance/agent-given.ts'
import { baselineIn, writeBaseline } from '../conformance/baseline-file.ts'
import { type ChoiceFlags, checkNamed, checksOf, chosenChecks, partInWords } from '../conformance/chosen-checks.ts'
import { explain, list } from '../conformance/explain.ts'
import { type ListedFlags, lookAtListed, refuseMixed, showPurchases } from '../conformance/listed-agent.ts'
import { parentOf, tellParent } from '../conformance/parent.ts'
import { Live } from '../conformance/progress.ts'
import {
  ensureWritable,
  lostOf,
  refuseSharedFiles,
  reportsIn,
  writeReports,
  writeWhole,
} from '../conformance/reports.ts'
import { type ConformanceSettings, settingsIn } from '../conformance/settings-file.ts'
import { showReport } from '../conformance/terminal-report.ts'
import { limitIn, RunTime } from '../conformance/time-limit.ts'
import { connected } from '../connection/connection.ts'
import { flagsToReach, nextSteps, typed } from '../connection/next-steps.ts'
import { type SecretFlags, secretGiven } from '../connection/webhook-secret.ts'
import { exitCodes } from '../exit-codes.ts'
import { diskReason } from '../output/disk-faults.ts'
import { type AnswerFlags, type CommandOutput, withOutput } from '../output/output.ts'

export interface ConformanceFlags extends AnswerFlags, SecretFlags, ChoiceFlags, ListedFlags {
  start?: string
  config?: string
  requirements?: string
  baseline?: string
  writeBaseline?: boolean
  strict?: boolean
  bail?: boolean
  repeat?: string
  timeout?: string
  seed?: string
  history?: string
  saveHistory?: string
  report?: string[]
  list?: boolean
  explain?: string
}

export function conformance(flags: ConformanceFlags): Promise<number> {
  const { agent, list, explain } = flags
  if (agent === undefined || list || explain !== undefined)
    return withOutput(flags, output => perform(flags, output, { play, again: againWith(flags) }))
  return connected(flags, 'builder', connection => {
    const reach = flagsToReach(connection.found, 'builder')
    return perform(flags, connection, {
      play: (plan, output, time) =>
        withLive(plan, { output, time }, ending =>
          lookAtListed(connection, flags, { ...plan, declared: plan.settings.declared, ...ending }),
        ),
      again: againAt(flags, reach),
      reach,
    })
  })
}

interface Playing {
  play(plan: Plan, output: CommandOutput, time: RunTime): Promise<History>
  /** The line that plays one check again. */
  again(report: Report): (id: string) => string
  /** The flags that reach the marketplace of a listed agent. */
  readonly reach?: string
}

async function perform(flags: ConformanceFlags, output: CommandOutput, playing: Playing): Promise<number> {
  if (flags.list) return list(output, chosenChecks(flags))
  if (flags.explain !== undefined) return explain(output, checkNamed(flags.explain), historyFor(flags))
  refuseMixed({ ...flags })
  const plan = planOf(flags)
  refuseSharedFiles(plan.wanted, filesOf(flags))
  for (const { name, path } of plan.wanted) if (path !== null) ensureWritable(`--report ${name}`, path)
  if (flags.saveHistory !== undefined) ensureWritable('--save-history', flags.saveHistory)
  const histories = await historiesFor(plan, output, playing.play)
  const report = withRepeats(histories.map(history => reportFor(plan, history)))
  const history = histories.at(-1)!
  if (plan.kept && history.of('end').length === 0) output.notes.line(CUT)
  const part = partInWords(flags, plan.played)
  if (part !== null) output.notes.line(part)
  await tellParent(report, history)
  const lost = [...historyLost(flags, history), ...tell(plan, { report, history, playing }, output)]
  if (flags.writeBaseline) {
    const lines = baselineOf(report.checks, plan.baseline, { today: report.startedAt.slice(0, 10), known })
    output.notes.line(writeBaseline(flags.baseline, lines))
  }
  for (const sentence of lost) output.notes.line(sentence)
  return codeOf(plan, report) || (lost.length > 0 ? exitCodes.failed : exitCodes.ok)
}

const filesOf = ({ history, saveHistory, baseline, config }: ConformanceFlags) =>
  [
    ['--history', history],
    ['--save-history', saveHistory],
    ['--baseline', baseline],
    ['--config', config],
  ] as const

/** Returns what could not be kept, as `writeReports` does. */
const historyLost = ({ saveHistory }: ConformanceFlags, history: History): string[] =>
  saveHistory === undefined
    ? []
    : lostOf('--save-history', saveHistory, () => writeWhole(saveHistory, historyLines(history)))

type Plan = ReturnType<typeof planOf>

const MOST_REPEATS = 100
const CUT = 'The history has no end: its last lines are missing, so most of what it does not show is inconclusive.'
const WHOLE_SET =
  '--requirements asks for every check of its set, so it takes no --only or --skip: leave it out to play some of them.'
const PART_WAS_PLAYED =
  '--requirements asks for every check of its set, and the run of --history was asked for some alone: leave out one of them.'
const LARGEST_SEED = 2 ** 31 - 1

function planOf(flags: ConformanceFlags) {
  const { seed, repeat = '1', report = [], json = false } = flags
  const settings = settingsIn(flags.config)
  const wanted = reportsIn(report)
  const repeats = numberGiven('--repeat', repeat, [1, MOST_REPEATS])
  const kept = historyFor(flags)
  const played = checksOf(kept)
  if (json && wanted.some(({ path }) => path === null))
    throw new UsageError('--json prints on stdout, so every --report needs a file: --report junit=out/junit.xml.')
  return {
    ...{ flags, settings, kept, played, chosen: chosenChecks(flags, played), wanted },
    requirements: requirementsIn(flags, settings, played.length === checks.length),
    baseline: baselineIn(flags.baseline, flags.writeBaseline === true),
    seed: seed === undefined ? randomInt(LARGEST_SEED) : numberGiven('--seed', seed, [0, LARGEST_SEED]),
    repeats,
    limitMs: limitIn(flags.timeout, settings.timeout, repeats),
  }
}

function requirementsIn(flags: ConformanceFlags, settings: ConformanceSettings, isOfAll: boolean) {
  const { requirements, only, skip } = flags
  if (requirements !== undefined && (only || skip)) throw new UsageError(WHOLE_SET)
  if (requirements !== undefined && !isOfAll) throw new UsageError(PART_WAS_PLAYED)
  const named = requirements ?? settings.requirements
  try {
    return requiredIn(named)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

async function historiesFor(plan: Plan, output: CommandOutput, play: Playing['play']): Promise<History[]> {
  const { kept, repeats, limitMs } = plan
  if (kept) return [kept]
  const histories: History[] = []
  const time = new RunTime(limitMs)
  try {
    while (histories.length < repeats && !histories.some(isCutOff)) histories.push(await play(plan, output, time))
    return histories
  } finally {
    time.close()
  }
}

const isCutOff = (history: History) => history.of('end').some(({ interrupted }) => interrupted)

/** null: none is named. */
function historyFor({ history: path }: ConformanceFlags): History | null {
  try {
    return path === undefined ? null : historyOf(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UsageError(`--history: ${path} can't be read: ${diskReason(error as Error)}.`)
  }
}

/** Loaded late: judging a history or listing the checks needs no marketplace. */
async function play(plan: Plan, output: CommandOutput, time: RunTime): Promise<History> {
  const { flags, settings, chosen, seed } = plan
  const { start = settings.start, url = settings.url } = flags
  if (url === undefined && start === undefined) throw new UsageError(WHICH_AGENT)
  const secret = await secretFor(flags, start, output)
  const { run, scenariosFor } = await import('../../conform/run.ts')
  const scenarios = scenariosFor(withPrerequisites(checks, chosen))
  try {
    return await withLive(plan, { output, time, count: scenarios.length }, ending =>
      run({
        ...{ url: url ?? null, secret, command: start ?? null, declared: settings.declared, seed },
        scenarios,
        ...chosenAmong(checks, chosen),
        ...ending,
      }),
    )
  } catch (error) {
    throw withAgentAway(error, start !== undefined)
  }
}

interface Ending {
  readonly listen: (event: Recorded, history: History) => void
  readonly onWait: (wait: Wait) => void
  readonly signal: AbortSignal
}

interface Around {
  readonly output: CommandOutput
  readonly time: RunTime
  /** Of scenarios. */
  readonly count?: number
}

/** Tells what is broken while the run goes on. Ctrl-C ends it, and so does its time. */
async function withLive(plan: Plan, { output, time, count }: Around, work: (ending: Ending) => Promise<History>) {
  const ended = new AbortController()
  const { chosen, baseline, requirements, flags } = plan
  const options = { bail: flags.bail === true, stop: () => ended.abort() }
  const live = await Live.open(output, options, { chosen, baseline, levels: requirements?.levels, count })
  output.onInterrupt(() => ended.abort())
  const parent = parentOf(count, () => ended.abort())
  time.tellTo(live.takesLong)
  try {
    return await work({
      listen(event, history) {
        live.hear(event, history)
        if (event.kind === 'scenario') parent(() => reportFor(plan, history), history)
      },
      onWait: wait => live.wait(wait),
      signal: AbortSignal.any([ended.signal, time.signal]),
    })
  } finally {
    live.close()
  }
}

/** An agent that is started here is given its secret. */
const secretFor = async (flags: ConformanceFlags, start: string | undefined, output: CommandOutput) =>
  start !== undefined && flags.secret === undefined && flags.secretFile === undefined
    ? null
    : secretGiven(flags, output)

const known = checks.map(({ id }) => id)

function reportFor({ chosen, baseline, requirements }: Plan, history: History): Report {
  const census = withLevels(censusOf(history), requirements?.levels)
  const some = those(census, chosen)
  return reportOf(withPrerequisites(census, some), history, { baseline, requirements, known }, some)
}

interface Told {
  readonly report: Report
  readonly history: History
  readonly playing: Playing
}

/** Its author names it in the file of the agent, and plays one check again. */
const PART_OF_SET = 'Some checks alone were played: whether the set of requirements is kept takes a run of all.'

function tell(plan: Plan, { report, history, playing }: Told, output: CommandOutput): string[] {
  const { wanted, settings } = plan
  const { json, out, notes } = output
  const asked = askedOf(plan, report)
  const lost = writeReports(wanted, { report, asked, history, output })
  if (json) out.json(report)
  else if (wanted.every(({ path }) => path !== null)) showReport(out, { report, history, asked }, playing.again(report))
  if (settings.requirements !== undefined && plan.chosen.length < checks.length)
    notes.line(notes.colour.dim(PART_OF_SET))
  if (report.bought) showPurchases(notes, report.bought, playing.reach ?? '')
  notes.line(notes.colour.dim(`In ${(report.ms / 1000).toFixed(1)} s; --seed ${report.seed} plays the same again.`))
  return lost
}

const withConfig = ({ config }: ConformanceFlags) => (config === undefined ? '' : ` --config ${config}`)

const againWith = (flags: ConformanceFlags) => (report: Report) => (id: string) => {
  const [, ...words] = againLine(report, id, 'marketplace').split(' ')
  return typed(words.join(' ') + withConfig(flags))
}

const againAt = (flags: ConformanceFlags, reach: string) => () => (id: string) =>
  nextSteps.judgeListed(
    flags.agent!,
    `${reach}${flags.spend ? ` --spend ${flags.spend}` : ''} --only ${id}${withConfig(flags)}`,
  )

const codes: Readonly<Record<Outcome, number>> = {
  good: exitCodes.ok,
  bad: exitCodes.check,
  unsure: exitCodes.failed,
}

/** Whoever looks from outside knows that most is untested. */
const askedOf = ({ flags, settings }: Plan, { agent }: Report): Asked => ({
  strict: flags.strict === true,
  complete: agent.listed === undefined && (flags.requirements ?? settings.requirements) !== undefined,
})

function codeOf(plan: Plan, report: Report): number {
  const { flags } = plan
  const isTimeOver = report.limitMs !== null
  if (report.interrupted && !isTimeOver && !flags.bail && flags.history === undefined) return exitCodes.interrupted
  if (flags.writeBaseline && !isTimeOver) return exitCodes.ok
  return codes[outcomeOf(report, askedOf(plan, report))]
}
