/** Takes the callback of a connection test, and keeps what the first one was. Source: I-test-webhook, A-24, A-53. */
import type { Diagnosis } from '../../api/diagnosis/causes.ts'
import { actionIn, callbackFault } from '../../api/endpoints/callback-body.ts'
import { Refusal, refuse } from '../../api/failures.ts'
import { faultText, verify } from '../../api/signature.ts'
import type { Reader, Tx } from '../../store/db.ts'
import { type AgentTestRow, decideTest, testById } from '../../store/tables/agents/agent-tests.ts'
import { listedAgentById } from '../../store/tables/agents/agents.ts'
import { keepFirstSignature, seenSignature } from '../../store/tables/requests/seen-signatures.ts'
import { builderStanding } from '../agents/agent-record.ts'
import type { Market } from '../market.ts'
import type { SignedCallback, Verb } from '../verb.ts'
import { diagnosisOf, logCallback } from '../webhooks/callback-log.ts'
import { addHint, findingOn } from '../webhooks/diagnosis.ts'
import { callbackSecrets } from '../webhooks/secrets.ts'
import { announceCallback, type CallbackVerdict } from './callback-wait.ts'

/** In real ms. A test takes 30 s and 15 s at most, so an older row was left by a crash. */
export const STALE_MS = 60_000

export const testCallback: Verb<'testCallback'> = async (ctx, { params, signed }) => {
  const since = ctx.world.realNow()
  const { sender, raw, type } = signed
  const known: Known = { finding: null }
  const log = (status: number, error: string | null, refusal?: Refusal) => {
    const action = sender.fault === null ? actionIn(raw, type) : '?'
    const how = { taskId: params.id, agentId: sender.agentId, action, via: 'test', taskStatus: null, since } as const
    const found = refusal && diagnosisOf(ctx, how, refusal, signed)
    logCallback(ctx, { ...how, status, error, ...found })
  }
  try {
    const answer = await receiveCallback(ctx, params.id, signed, known)
    log(200, null)
    return answer
  } catch (error) {
    await addHint(ctx, error, params.id, signed, known.finding)
    if (error instanceof Refusal) log(error.status, sender.fault ?? error.message, error)
    throw error
  }
}

/** What is found out about a refused signature, once for the response and for the report of the test. */
interface Known {
  finding: Diagnosis | null
}

/** An unknown test gets the same refusal as a bad signature, after the same time. */
async function receiveCallback(ctx: Market, id: string, signed: SignedCallback, known: Known): Promise<{ test: true }> {
  const { db, world, config } = ctx
  const { timestamp, signature, raw, sender } = signed
  const { test, judged, banned, over } = await db.read(async q => {
    const test = await testById(q, id)
    const agent = test && (await listedAgentById(q, test.agentId))
    const secret = agent ? callbackSecrets(config, agent, world.now()) : []
    const judged = verify({ secret, timestamp, signature, body: raw, now: world.realNow() })
    const over = test ? await isOver(q, test, signature, world.realNow()) : false
    return { test, judged, banned: agent ? builderStanding(agent).banned === 1 : false, over }
  })
  sender.agentId = test?.agentId ?? null
  if (!judged.ok) sender.fault = test ? faultText(judged.reason) : 'there is no such test'
  if (over) throw refuse(judged.ok ? 'test_over' : 'bad_signature')
  // A deployment tells the builder alone, of the callback that decides.
  if (!judged.ok && test && (config.mode === 'dev' || test.callback === null))
    known.finding = await findingOn(ctx, id, signed)
  if (test) {
    const verdict = judged.ok ? bodyVerdict(raw, signed.type, test.id) : signatureVerdict(judged.reason, known)
    // One write: each costs a sync of the disk, and two days of a moved clock are hundreds of tests.
    await db.write(async tx => {
      if (judged.ok) await keepForTest(tx, signature!, test.id, world.realNow())
      await decide(ctx, tx, test.id, verdict)
    })
  }
  if (!judged.ok) throw refuse('bad_signature')
  if (banned) throw refuse('banned')
  return { test: true }
}

/**
 * Whether the test takes no more callbacks. The first ends a test, and whoever answers it as a task sends others behind it. A callback
 * that was accepted in time and is sent again is not too late.
 */
async function isOver(q: Reader, test: AgentTestRow, signature: string | undefined, now: number): Promise<boolean> {
  const isFollowed = test.callback !== null && (JSON.parse(test.callback) as CallbackVerdict).isSigned
  if ((test.ended === 0 || isFollowed) && test.startedAt >= now - STALE_MS) return false
  return !signature || (await seenSignature(q, signature))?.taskId !== test.id
}

/**
 * Stores the signature as used, so that a callback for a test can't be replayed at a task, nor the other way round. Source:
 *
 */
async function keepForTest(tx: Tx, signature: string, testId: string, seenAt: number): Promise<void> {
  const row = { signature, taskId: testId, status: 200, answer: '{"test":true}', seenAt }
  if ((await keepFirstSignature(tx, row)) > 0) return
  if ((await seenSignature(tx, signature))?.taskId !== testId) throw refuse('bad_signature')
}

function signatureVerdict(reason: string, { finding }: Known): CallbackVerdict {
  const fault = faultText(reason)
  const text = `Its callback was refused, as ${fault}.`
  return { isSigned: false, fault, finding: finding ?? { cause: 'unknown', certainty: 'likely', text } }
}

function bodyVerdict(raw: Buffer, type: string | undefined, testId: string): CallbackVerdict {
  const fault = callbackFault(raw, type, testId)?.slice(0, 300) ?? null
  const text = `A real task would refuse its callback, as ${fault}.`
  return { isSigned: true, fault, finding: fault === null ? null : { cause: 'bad_callback', certainty: 'sure', text } }
}

/** Writes the verdict of the first callback. The waiting test learns of it after the commit. */
async function decide(market: Market, tx: Tx, testId: string, verdict: CallbackVerdict): Promise<void> {
  if ((await decideTest(tx, testId, JSON.stringify(verdict))) > 0)
    tx.afterCommit(() => announceCallback(market, testId, verdict))
}
