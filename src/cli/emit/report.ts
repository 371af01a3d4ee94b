/** Prints what came of the webhooks of `emit`. */

import type { CommandOutput } from '../output/output.ts'
import { plain, type Ui } from '../output/ui.ts'
import type { EmitPlan } from './plan.ts'
import { isWell, type Level, type Outcome, type WebhookFinding } from './verdict.ts'

interface Judged {
  outcome: Outcome
  findings: readonly WebhookFinding[]
}

/** `listens`: the callbacks came here. */
export function tellOne(output: CommandOutput, plan: EmitPlan, { outcome, findings }: Judged, listens: boolean): void {
  const { out, notes, answer } = output
  const { result, variant, emission } = outcome
  answer(recordOf(plan, { outcome, findings }), () => {
    if (result.ok) out.line(`${statusOf(out, outcome)} ${plain(result.body)}`.trimEnd())
    for (const { level, text, fix } of findings) {
      out.line(`${markOf(out, level)} ${plain(text)}`)
      if (fix !== undefined) out.line(`  ${fix}`)
    }
    const took = `${plan.event} for ${emission.taskId} was answered in ${result.durationMs} ms`
    const kind = variant.forgery ?? variant.dress
    const { fault } = variant
    if (fault) notes.line(`fault: ${fault.name}: the ${fault.direction}: ${fault.does}`)
    notes.line(notes.colour.dim(kind ? `${took}; it ${kind.does}` : took))
    if (!kind && result.ok && result.status === 401)
      notes.line('The agent did not accept the signature: does it know this very secret, whsec_ included?')
    if (!listens && plan.callbackUrl === undefined)
      notes.line(
        notes.colour.dim('Its callbackUrl leads nowhere, as the agent is elsewhere; --callback-url names one.'),
      )
  })
}

/** A line each, and how many were right. */
export function tellAll({ out, notes, answer }: CommandOutput, plan: EmitPlan, judged: readonly Judged[]): void {
  answer({ items: judged.map(one => recordOf(plan, one)) }, () => {
    out.table(judged.map((one, at) => rowOf(out, one, at)))
    const well = judged.filter(({ findings, outcome }) => worst(findings, outcome) !== 'wrong').length
    notes.line(`${well} of ${judged.length} as they should be.`)
  })
}

function rowOf(out: Ui, { outcome, findings }: Judged, at: number): string[] {
  const { result, variant } = outcome
  const kind = variant.forgery ?? variant.dress ?? variant.fault
  const level = worst(findings, outcome)
  const said = findings.filter(finding => kind === undefined || finding.level !== 'right').map(({ text }) => text)
  const words = kind ? [kind.does, ...said].join(': ') : said.join(', ')
  return [
    markOf(out, level),
    kind?.name ?? String(at + 1),
    statusOf(out, outcome),
    `${result.durationMs} ms`,
    plain(words),
  ]
}

const order: readonly Level[] = ['right', 'note', 'weak', 'wrong']

function worst(findings: readonly WebhookFinding[], { variant, result }: Outcome): Level {
  if (!variant.forgery && !isWell(result)) return 'wrong'
  return order[Math.max(0, ...findings.map(({ level }) => order.indexOf(level)))]!
}

function markOf({ colour }: Ui, level: Level): string {
  return { right: colour.green('✔'), note: colour.dim('-'), weak: colour.yellow('!'), wrong: colour.red('✖') }[level]
}

function statusOf({ colour }: Ui, { result, variant }: Outcome): string {
  const text = result.ok ? String(result.status) : '-'
  return (isWell(result) === !variant.forgery ? colour.green : colour.red)(text)
}

/** The answer for programs. */
function recordOf({ event, to }: EmitPlan, { outcome, findings }: Judged) {
  const { emission, result, variant, task } = outcome
  const { taskId, deliveryId } = emission
  const response = result.ok ? { status: result.status, body: result.body } : { status: null, body: null }
  return {
    ...{ event, taskId, deliveryId, to, ...response, durationMs: result.durationMs },
    ...(variant.forgery && { forge: variant.forgery.name }),
    ...(variant.dress && { dress: variant.dress.name }),
    ...(variant.fault && { fault: variant.fault.name }),
    ...(task && { callbacks: task.callbacks }),
    findings,
  }
}
