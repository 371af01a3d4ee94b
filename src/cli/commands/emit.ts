/** `marketplace emit`: sends signed webhooks to an agent without a marketplace, and judges what it does with them. */

import { shellWord } from '../../api/command-line.ts'
import { causes } from '../../api/diagnosis/table.ts'
import type { CallbackFaultName, WebhookFaultName } from '../../api/faults.ts'
import { durations, mostResponseBytes } from '../../api/limits.ts'
import { isLoopbackName } from '../../settings/config.ts'
import { callbackFaults } from '../../sim/callbacks/faults.ts'
import { type CallbackListener, listenForCallbacks } from '../../sim/callbacks/listener.ts'
import { type Emission, emissionOf, replayOf, signedAnew } from '../../sim/webhooks/emission.ts'
import { isLost, webhookFaultOf } from '../../sim/webhooks/faults.ts'
import { stateAfter } from '../../sim/webhooks/sample-event.ts'
import { createWorld } from '../../world/real.ts'
import type { OutgoingFailure, OutgoingResult, World } from '../../world/world.ts'
import { type EmitFlags, type EmitPlan, planOf, type Variant } from '../emit/plan.ts'
import { tellAll, tellOne } from '../emit/report.ts'
import { findingsOf, isAwaited, isWell, type Outcome } from '../emit/verdict.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { type CommandOutput, withOutput } from '../output/output.ts'
import { showProgress } from '../output/progress.ts'

export type { EmitFlags } from '../emit/plan.ts'

export function emit(name: string, flags: EmitFlags): Promise<number> {
  return withOutput(flags, async output => {
    const plan = await planOf(name, flags, output)
    return flags.dryRun ? print(output, plan) : play(output, plan)
  })
}

// No name under .invalid exists, so the callback fails. A port where nothing listens would not do: fetch refuses to try some.
const nowhere = (taskId: string) => `https://callback.invalid/api/agent/tasks/${taskId}/callback`
/** How long to look for callbacks where none is due. */
const QUIET_MS = 250
const MESSAGE_MS = 2_000

function worldFor(): World {
  return createWorld({ requireHttps: false, allowLoopback: true })
}

async function print({ out, answer }: CommandOutput, plan: EmitPlan): Promise<number> {
  const world = worldFor()
  try {
    const posts = plan.variants.map(variant => {
      const { headers, body } = made(world, plan, variant, taskId => plan.callbackUrl ?? nowhere(taskId))
      return { url: plan.to, headers, body }
    })
    return answer(posts.length === 1 ? posts[0] : { items: posts }, () => {
      for (const post of posts) out.raw(curlLine(post))
    })
  } finally {
    await world.egress.close()
  }
}

const made = (world: World, plan: EmitPlan, { forgery, dress }: Variant, callbackUrl: (taskId: string) => string) =>
  emissionOf(world, { ...plan, callbackUrl, forgery, dress })

async function play(output: CommandOutput, plan: EmitPlan): Promise<number> {
  const { event, variants, waitMs } = plan
  const listens = plan.callbackUrl === undefined && isHere(plan.to)
  const world = worldFor()
  const listener = listens ? await listenForCallbacks(world, plan.secret) : null
  const progress = await showProgress(output)
  try {
    progress.wait(`Sending ${event}, then waiting up to ${waitMs / 1000} s for callbacks`)
    const outcomes = await sendAll({ world, plan, listener })
    progress.clear()
    const judged = outcomes.map(outcome => ({ outcome, findings: findingsOf(event, outcome, waitMs) }))
    const [first] = judged
    if (variants.length === 1) tellOne(output, plan, first!, listens)
    else tellAll(output, plan, judged)
    return codeOf(plan, judged)
  } finally {
    progress.clear()
    await listener?.close()
    await world.egress.close()
  }
}

/** Whether an agent at this address can call this process back. */
const isHere = (to: string) => isLoopbackName(new URL(to).hostname) || /\.localhost$/i.test(new URL(to).hostname)

interface Sender {
  world: World
  plan: EmitPlan
  listener: CallbackListener | null
}

/**
 * Sends different variants one after another: each waits for the response to the one before. Repetitions of one variant go out
 * in fixed intervals and do not wait. Each webhook has its own task, so callbacks can be told apart.
 */
async function sendAll(sender: Sender): Promise<Outcome[]> {
  const { variants, gapMs } = sender.plan
  const isMixed = new Set(variants).size > 1
  const sending: Promise<Outcome>[] = []
  for (const variant of variants) {
    if (sending.length > 0) await pause(gapMs)
    const sent = send(sender, variant)
    sent.catch(() => {}) // thrown below, with those before it
    sending.push(sent)
    if (isMixed) await sent
  }
  const outcomes = await Promise.all(sending)
  await awaitCallbacks(sender, outcomes)
  return outcomes
}

async function send({ world, plan, listener }: Sender, variant: Variant): Promise<Outcome> {
  const callbackUrl = (taskId: string) => plan.callbackUrl ?? listener?.callbackUrl(taskId) ?? nowhere(taskId)
  const emission = made(world, plan, variant, callbackUrl)
  const { fault } = variant
  const lost = fault?.direction === 'callback' ? callbackFaults[fault.name as CallbackFaultName] : null
  const task = listener?.expect(emission.taskId, stateAfter[plan.event], lost) ?? null
  const result = await (fault?.direction === 'webhook'
    ? postFaulty({ world, plan, emission }, fault.name as WebhookFaultName)
    : post(world, plan.to, emission))
  const replays = variant.forgery?.right === 'works once' && isWell(result)
  const again = replays ? await post(world, plan.to, replayOf(world, emission)) : null
  if (!result.ok && (result.reason !== 'reset' || !variant.forgery)) throw unanswered(result, plan.to)
  return { variant, emission, result, again, task }
}

/** What is lost is sent again, as a marketplace does. */
async function postFaulty(
  { world, plan, emission }: { world: World; plan: EmitPlan; emission: Emission },
  name: WebhookFaultName,
) {
  const renew = (one: Emission, attempt: number) => signedAnew(world, plan, { ...one, attempt })
  const send = (one: Emission) => post(world, plan.to, one)
  const fault = webhookFaultOf<Emission>(name, { renew, overtaken: async () => {} })
  const result = await fault.play(emission, send)
  return isLost(result) ? send(renew(emission, 2)) : result
}

const post = (world: World, url: string, { headers, body }: Emission): Promise<OutgoingResult> =>
  world.egress.post({ url, body, headers, timeoutMs: durations.webhookTimeoutMs, maxResponseBytes: mostResponseBytes })

/** Waits until nothing more is due, and then a little for what should not come. */
async function awaitCallbacks({ plan, listener }: Sender, outcomes: readonly Outcome[]): Promise<void> {
  if (!listener) return
  const { event, waitMs } = plan
  const until = performance.now() + (event === 'task.message' ? Math.min(waitMs, MESSAGE_MS) : waitMs)
  const isDue = ({ variant, result, task }: Outcome) =>
    variant.forgery?.right !== 'answers 401' && isWell(result) && task !== null && isAwaited(event, task)
  for (let left = waitMs; left > 0 && outcomes.some(isDue); left = until - performance.now()) await listener.next(left)
  await pause(Math.min(waitMs, QUIET_MS))
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

interface Judged {
  outcome: Outcome
  findings: ReturnType<typeof findingsOf>
}

function codeOf({ strict }: EmitPlan, judged: readonly Judged[]): number {
  const isPlain = ({ variant: { forgery, dress } }: Outcome) => !forgery && !dress
  if (judged.some(({ outcome }) => isPlain(outcome) && !isWell(outcome.result))) return exitCodes.failed
  const failing = strict ? ['wrong', 'weak'] : ['wrong']
  return judged.some(({ findings }) => findings.some(({ level }) => failing.includes(level)))
    ? exitCodes.check
    : exitCodes.ok
}

const unusable: readonly OutgoingFailure[] = ['bad_url', 'private_address']

function unanswered({ reason, message }: { reason: OutgoingFailure; message: string }, to: string): Fault {
  const code = unusable.includes(reason) ? exitCodes.usage : exitCodes.network
  const hints: Partial<Record<OutgoingFailure, string>> = {
    refused: causes.nobody_listens.fix,
    tls: 'On this machine http:// will do.',
  }
  return new Fault(`No answer from ${to}: ${message}`, { code, hint: hints[reason] })
}

interface Post {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** The body comes by a pipe, because one argument of a program holds 128 KiB at most on Linux. */
function curlLine({ url, headers, body }: Post): string {
  const given = Object.entries(headers).map(
    ([name, value]) => `-H ${shellWord(value === '' ? `${name};` : `${name}: ${value}`)}`,
  )
  return `printf %s ${shellWord(body)} | curl -sS -i ${shellWord(url)} ${given.join(' ')} --data-binary @-`
}
