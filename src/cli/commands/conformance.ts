/** `marketplace conformance`: does an agent behave? Plays a marketplace to it, and judges what it does. */
import { randomInt } from 'node:crypto'
import { UsageError } from '../../config.ts'
import { AgentAway } from '../../conform/agent-under-test.ts'
import { checks } from '../../conform/checks/index.ts'
import { nothingDeclared } from '../../conform/declared.ts'
import { type Outcome, outcomeOf, type Report, reportOf } from '../../conform/report.ts'
import { run } from '../../conform/run.ts'
import { scenarios } from '../../conform/scenarios/index.ts'
import { scenariosFor, selected, unknownIn, withPrerequisites } from '../../conform/selection.ts'
import { type SecretFlags, secretGiven } from '../connection/webhook-secret.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { numberGiven } from '../json-input.ts'
import { type AnswerFlags, type CommandOutput, withOutput } from '../output/output.ts'
import { showProgress } from '../output/progress.ts'
import { plain } from '../output/ui.ts'

export interface ConformanceFlags extends AnswerFlags, SecretFlags {
  url?: string
  start?: string
  only?: string[]
  seed?: string
  strict?: boolean
}

export const conformance = (flags: ConformanceFlags): Promise<number> =>
  withOutput(flags, async output => {
    const { url, start, strict = false } = flags
    if (url === undefined && start === undefined) {
      throw new UsageError(
        "Which agent? --start 'node agent.js' starts one, --url http://localhost:3000/webhook names one that is up.",
      )
    }
    const chosen = chosenOf(flags)
    const progress = await showProgress(output)
    progress.wait('The agent meets a marketplace')
    try {
      const history = await run({
        url: url ?? null,
        secret: await secretFor(flags, output),
        command: start ?? null,
        declared: nothingDeclared,
        seed: seedOf(flags),
        scenarios: scenariosFor(scenarios, withPrerequisites(checks, chosen)),
      })
      progress.clear()
      const report = reportOf(chosen, history)
      if (output.json) output.out.json(report)
      else show(output, report)
      return codes[outcomeOf(report, { strict })]
    } catch (error) {
      if (!(error instanceof AgentAway)) throw error
      throw new Fault(error.message, { code: exitCodes.network, hint: 'Is it running, and on this port?' })
    } finally {
      progress.clear()
    }
  })

const codes: Readonly<Record<Outcome, number>> = {
  good: exitCodes.ok,
  bad: exitCodes.check,
  unsure: exitCodes.failed,
}

function chosenOf({ only = [] }: ConformanceFlags) {
  const wanted = only.flatMap(list => list.split(',')).filter(name => name !== '')
  if (wanted.length === 0) return checks
  const [unknown] = unknownIn(checks, wanted)
  if (unknown !== undefined) throw new UsageError(`There is no check ${unknown}.`)
  return selected(checks, wanted)
}

/** An agent that is started here is given its secret. */
const secretFor = async (flags: ConformanceFlags, output: CommandOutput) =>
  flags.start !== undefined && flags.secret === undefined && flags.secretFile === undefined
    ? null
    : secretGiven(flags, output)

const LARGEST_SEED = 2 ** 31 - 1

const seedOf = ({ seed }: ConformanceFlags): number =>
  seed === undefined ? randomInt(LARGEST_SEED) : numberGiven('--seed', seed, [0, LARGEST_SEED])

const marks = { pass: '✔', fail: '✖', warn: '!', untested: '·', inconclusive: '?' } as const

function show({ out, notes }: CommandOutput, { checks, summary, seed, ms }: Report): void {
  for (const { id, title, verdict, text, fix } of checks) {
    if (verdict === 'pass' && text === '') continue
    out.line(`${marks[verdict]} ${id}: ${title}`)
    if (text) out.line(`  ${plain(text)}`)
    if (verdict === 'fail' || verdict === 'warn') out.line(`  ${fix}`)
  }
  const { pass, fail, warn, untested, inconclusive } = summary
  out.line(`${pass} passed, ${fail} failed, ${warn} warned, ${untested} untested, ${inconclusive} inconclusive`)
  notes.line(notes.colour.dim(`In ${(ms / 1000).toFixed(1)} s; --seed ${seed} plays the same again.`))
}
