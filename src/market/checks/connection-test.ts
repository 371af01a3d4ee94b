/**
 * The connection test: five checks of an agent, run by its builder or by the heartbeat. Source: I-test-checks, A-24, A-30.
 */

import type { Finding } from '../../api/diagnosis/record.ts'
import { answerFinding, saidIn } from '../../api/diagnosis/responses.ts'
import { findingIn, isRefusal } from '../../api/diagnosis/story.ts'
import type { Cause } from '../../api/diagnosis/table.ts'
import type { TestPayload } from '../../api/events.ts'
import { refuse } from '../../api/failures.ts'
import { durations, limits } from '../../api/limits.ts'
import type { checkNames, TestReport } from '../../api/records.ts'
import { inSeconds } from '../../api/spans.ts'
import { webhookBody } from '../../api/webhook-request.ts'
import type { Tx } from '../../store/db.ts'
import { endTest, keepReport, startTest } from '../../store/tables/agents/agent-tests.ts'
import { type AgentRow, updateTested } from '../../store/tables/agents/agents.ts'
import type { OutgoingResult, World } from '../../world/world.ts'
import { ownAgentOf } from '../agents/access.ts'
import type { TestResult } from '../agents/health.ts'
import { tellBuilder } from '../agents/states.ts'
import type { Market } from '../market.ts'
import { unseal } from '../sealing.ts'
import { aboutAgent, Stories, told } from '../stories.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { postSigned } from '../webhooks/signed-post.ts'
import { type CallbackVerdict, listenForCallback } from './callback-wait.ts'
import { withTestSlot } from './manual-tests.ts'
import { STALE_MS, testCallback } from './test-callback.ts'

type CheckName = (typeof checkNames)[number]
type Check = TestReport['checks'][number]
/** `ownFault`: a fault of the marketplace's own, because of which the check says nothing about the agent. */
type Outcome = Pick<Check, 'status' | 'message'> & { durationMs?: number; ownFault?: string; finding?: Finding }

export interface RunOptions {
  /** A failure hides the agent. Source: A-30. */
  heartbeat?: boolean
  /** How long the last check waits for the callback. */
  callbackMs?: number
  /** When aborted, the test rejects and the agent stays as it was. */
  signal?: AbortSignal
  /** Runs in the transaction that writes the result. `current`: the agent still has the URL and secret that were tested. */
  alongside?: (tx: Tx, report: TestReport, current: boolean) => Promise<void>
}

interface Tested {
  report: TestReport
  /** A fault of the marketplace's own, or null. With one the report says nothing about the agent, and is not written. */
  ownFault: string | null
}

/**
 * Runs the five checks and writes their result to the agent's row. Refuses with `test_running` while another test of the
 * agent runs.
 */
export async function runChecks(market: Market, agent: AgentRow, options: RunOptions = {}): Promise<Tested> {
  const { db, world } = market
  const testId = `test_${world.bytes(16).toString('hex')}`
  const started = world.realNow()
  const changed = await db.write(tx => startTest(tx, testId, agent.id, started, started - STALE_MS))
  if (changed === 0) throw refuse('test_running')
  const callback = listenForCallback(market, testId)
  try {
    const { callbackMs = durations.testCallbackMs } = options
    const called = async () => callbackOutcome(await callback.wait(callbackMs), callbackMs)
    const work = performAll(market, agent, checksOf(market, agent, testId, called))
    const { checks, ownFault, finding: seen } = await unlessAborted(work, options.signal)
    const recorded = recordedFinding(market, testId, seen)
    const finding = seen && recorded?.cause === seen.cause ? { ...recorded, text: seen.text } : (recorded ?? seen)
    const report = reportOf(checks, told(finding, aboutAgent(market.config, agent)), world.now())
    const result: TestResult = { testedAt: Date.parse(report.testedAt), url: agent.webhookUrl, finding }
    await db.write(async tx => {
      await endTest(tx, testId, ownFault === null ? JSON.stringify(result) : null)
      if (ownFault === null) await note(tx, agent, report, options)
      if (ownFault === null) await keepReport(tx, keptReport(agent, report, options), limits.agent.reports)
    })
    return { report, ownFault }
  } catch (error) {
    await db.write(tx => endTest(tx, testId))
    throw error
  } finally {
    callback.close()
  }
}

const keptReport = ({ id }: AgentRow, report: TestReport, { heartbeat }: RunOptions) => ({
  agentId: id,
  kind: heartbeat ? ('heartbeat' as const) : ('test' as const),
  testedAt: Date.parse(report.testedAt),
  report: JSON.stringify(report),
})

/** What a simulator has seen of the test says more than its checks. */
function recordedFinding({ recording, faults, world }: Market, testId: string, seen: Finding | null): Finding | null {
  if (!recording) return null
  const story = { owes: false, now: world.realNow(), patienceMs: 0 }
  const found = findingIn(new Stories(recording, faults, testId).story(testId, story))
  // What a test is about goes before how long it took.
  return seen && found?.cause === 'slow_answer' ? null : found
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
    if (signal.aborted) giveUp()
  })
}

type Unanswered = Extract<OutgoingResult, { ok: false }>
type Steps = Record<CheckName, () => Promise<Outcome>>

/** Runs the checks in the order of the interface. After a failure, the later ones are skipped. */
async function performAll(market: Market, agent: AgentRow, steps: Steps) {
  const { world, log, config, recording } = market
  const checks: Check[] = []
  let failed = false
  let finding: Finding | null = null
  let ownFault: string | null = null
  for (const [name, step] of Object.entries(steps) as [CheckName, () => Promise<Outcome>][]) {
    const from = world.realNow()
    const outcome: Outcome = failed ? skipped : await step()
    failed ||= outcome.status === 'failed'
    ownFault ??= outcome.ownFault ?? null
    // Never below 0, even if the machine's clock is set back.
    const durationMs = Math.max(0, Math.round(outcome.durationMs ?? world.realNow() - from))
    const check = { check: checks.length + 1, name, status: outcome.status, message: outcome.message, durationMs }
    checks.push(check)
    const found = outcome.finding && { ...outcome.finding, since: world.now() }
    finding ??= found ?? null
    const diagnosis = recording && found ? told(found, aboutAgent(config, agent)) : null
    log({ type: 'check', agentId: agent.id, ...check, ...(diagnosis && { diagnosis }) })
    tellBuilder(market, agent, `${name} ${outcome.status}`)
  }
  return { checks, ownFault, finding }
}

const passed = (message: string): Outcome => ({ status: 'passed', message })
const failed = (message: string, finding?: Finding): Outcome => ({
  status: 'failed',
  message,
  ...(finding && { finding }),
})
const because = (cause: Cause, message: string): Outcome =>
  failed(message, { cause, certainty: 'sure', text: `${message}.` })
const skipped: Outcome = { status: 'skipped', message: 'Skipped, because an earlier check failed', durationMs: 0 }

function checksOf(market: Market, agent: AgentRow, testId: string, called: () => Promise<Outcome>) {
  const url = agent.webhookUrl ?? ''
  return {
    webhook_url: async () => (url ? passed('A webhook URL is saved') : because('no_url', 'No webhook URL is saved')),
    https: async () =>
      /^https:\/\//i.test(url)
        ? passed('The webhook URL starts with https://')
        : because('no_https', 'The webhook URL does not start with https://'),
    webhook_secret: async () =>
      agent.secret ? passed('A webhook secret exists') : because('no_webhook_secret', 'There is no webhook secret'),
    endpoint: () => askEndpoint(market, agent, testId),
    callback: called,
  } satisfies Steps
}

async function askEndpoint(market: Market, agent: AgentRow, testId: string): Promise<Outcome> {
  const { world, config } = market
  const secret = unseal(config, agent.id, agent.secret ?? '')
  const body = webhookBody(testPayload(agent, testId, config.baseUrl, world.now()))
  const url = agent.webhookUrl ?? ''
  const { id: agentId, builderId } = agent
  const deliveryId = world.id('dlv', agent.id)
  const answer = await postSigned(market, {
    ...{ url, secret, body, deliveryId, agentId, builderId },
    ...{ attempt: 1, taskId: testId },
  })
  const { durationMs } = answer
  const wire = { url, attempt: 1, deliveryId, taskId: testId }
  if (!answer.ok) {
    const finding = answerFinding({ ...wire, status: null, reason: answer.reason, message: answer.message })
    return { ...(await unanswered(world, answer)), durationMs, finding }
  }
  if (answer.status === 200) return { ...passed('The endpoint answered 200'), durationMs }
  const [location] = [answer.headers.location].flat()
  const { status, body: text } = answer
  if (isRefusal(status)) await market.recording?.probe?.(agentId)
  const mistake = isRefusal(status) ? market.recording?.notesOn(agentId).mistake : null
  const finding =
    mistake ?? answerFinding({ ...wire, status, reason: null, message: '', location, body: text }, 'exactly 200')
  return {
    ...failed(`The endpoint answered ${status}${said(answer)}; exactly 200 is needed`, finding),
    durationMs,
  }
}

/** What an agent says about its failure. Redirects and successes say nothing that helps. */
function said({ status, body }: { status: number; body: string }): string {
  const text = status < 400 ? '' : saidIn(body)
  return text && ` and said “${text}”`
}

async function unanswered({ egress }: World, answer: Unanswered): Promise<Outcome> {
  const outcome = failed(`No answer to the test webhook: ${answer.message}`)
  if (answer.reason === 'own_fault') return { ...outcome, ownFault: answer.message }
  if (!answer.unclear || ((await egress.isOnline?.(answer.reason)) ?? true)) return outcome
  const message = `${outcome.message} The marketplace reaches nobody at this moment, so this says nothing about the agent.`
  return { ...failed(message), ownFault: `nobody could be reached (${answer.reason})` }
}

/** Has every field of a real webhook, so that the agent's own validation is tested too. */
const testPayload = (agent: AgentRow, testId: string, baseUrl: string, now: number): TestPayload => ({
  event: 'task.submitted',
  timestamp: iso(now),
  data: {
    taskId: testId,
    agentId: agent.id,
    title: '[TEST] Connection test',
    description: 'A test of the webhook. Answer 200, then send one signed callback, for example accept.',
    requirements: '',
    agreedPrice: 0,
    status: 'pending',
    callbackUrl: `${baseUrl}/api/agent/test/${testId}/callback`,
    requestor: { id: 'test_requestor', type: 'user', trustTier: 'trusted' },
    test: true,
  },
})

/** The check is about the signature. A body that a real task would refuse only adds a warning. Source: A-53. */
function callbackOutcome(verdict: CallbackVerdict | null, waitedMs: number): Outcome {
  if (verdict === null) {
    const message = `No callback arrived within ${inSeconds(waitedMs)}`
    return { status: 'warning', message, finding: { cause: 'no_callback', certainty: 'sure', text: `${message}.` } }
  }
  const { isSigned, fault, finding } = verdict
  if (!isSigned) return failed(`A callback with an invalid signature arrived: ${fault}`, finding ?? undefined)
  if (!finding) return passed('A validly signed callback arrived')
  return { ...passed(`A validly signed callback arrived. Warning: a real task would refuse it, as ${fault}`), finding }
}

function reportOf(checks: Check[], diagnosis: TestReport['diagnosis'], now: number): TestReport {
  const status = (['failed', 'warning'] as const).find(bad => checks.some(check => check.status === bad)) ?? 'passed'
  return { passed: status !== 'failed', status, testedAt: iso(now), checks, diagnosis }
}

async function note(tx: Tx, agent: AgentRow, report: TestReport, options: RunOptions) {
  const now = Date.parse(report.testedAt)
  const result = report.passed ? { lastPassAt: now } : options.heartbeat ? { failedAt: now } : {}
  const changed = await updateTested(tx, agent, { testedAt: now, ...result })
  await options.alongside?.(tx, report, changed > 0)
}

const testConnection: Verb<'testConnection'> = async (ctx, { params }) => {
  const agent = await ctx.db.read(q => ownAgentOf(q, params.id, ctx.actor.user))
  return withTestSlot(ctx, agent.builderId, async () => (await runChecks(ctx, agent)).report)
}

export const checkVerbs = { testConnection, testCallback }
