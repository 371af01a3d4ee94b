/** What agents answer about their tasks: with an API key, or by a signed callback. Source: I-callback, I-signature, A-38. */
import { type FailureName, type FieldErrors, Refusal, refuse } from '../../api/failures.ts'
import { parseBody } from '../../api/json.ts'
import { Created } from '../../api/reply.ts'
import { faultText, verify } from '../../api/signature.ts'
import { ConstraintError, type Tx } from '../../store/db.ts'
import { agentById } from '../../store/tables/agents.ts'
import {
  keepFirstSignature,
  keepSignature,
  type SeenSignatureRow,
  seenSignature,
} from '../../store/tables/seen-signatures.ts'
import { type TaskRow, taskById } from '../../store/tables/tasks.ts'
import { userById } from '../../store/tables/users.ts'
import { refuseWhenFull } from '../fullness.ts'
import type { Acting, Ctx, Market } from '../market.ts'
import type { Signed, Verb } from '../verb.ts'
import { parseCallback } from '../webhooks/callback-body.ts'
import { callbackSecrets } from '../webhooks/secrets.ts'
import { sendMessage } from './conversation.ts'
import { accept, deliver, reject } from './tasks.ts'

/** One signed request while it is served. */
interface Heard {
  readonly taskId: string
  readonly signed: Signed
  /** Set once the signature is known to be the agent's. */
  verified: boolean
  action: string
  /** Why the signature was refused. It goes to the log and never into the response. */
  fault?: string | undefined
}

const agentCallback: Verb<'agentCallback'> = async (market, { params, signed }) => {
  const heard: Heard = { taskId: params.id, signed, verified: false, action: '?' }
  try {
    const answer = await serveOnce(market, heard)
    tellOf(market, heard, answer instanceof Created ? 201 : 200, null)
    return answer as never
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    tellOf(market, heard, error.status, heard.fault ?? error.message)
    throw error
  }
}

/** If the same signature comes twice at once, the database lets one through and the other gets the kept response. */
async function serveOnce(market: Market, heard: Heard): Promise<unknown> {
  try {
    return await serve(market, heard)
  } catch (error) {
    if (error instanceof ConstraintError && error.kind === 'unique') return serve(market, heard)
    if (error instanceof Refusal && heard.verified && isKept(error.status)) await keepRefusal(market, heard, error)
    throw error
  }
}

const serve = (market: Market, heard: Heard) =>
  market.db.write(async tx => {
    const task = await signedTask({ ...market, tx }, heard)
    const kept = await seenSignature(tx, heard.signed.signature!)
    if (kept) return again(kept, task)
    heard.verified = true
    const builder = await userById(tx, task.builderId)
    if (!builder || builder.banned) throw refuse('banned')
    const body = parseBody(heard.signed.raw, heard.signed.type)
    if (typeof body.action === 'string') heard.action = body.action
    if (body.taskId !== undefined && body.taskId !== task.id) throw elsewhere(heard)
    const ctx = { ...market, tx, actor: { user: builder, via: 'signature' as const, credential: task.agentId } }
    const answer = await perform(ctx, task.id, body)
    const isNew = answer instanceof Created
    await keepSignature(tx, rowOf(market, heard, isNew ? 201 : 200, isNew ? answer.data : answer))
    return answer
  })

/**
 * Returns the task if the request is signed with its agent's secret. An unknown task gets the same refusal after the same
 * time.
 */
async function signedTask({ tx, config, world }: Market & { tx: Tx }, heard: Heard): Promise<TaskRow> {
  await tx.lock('tasks', heard.taskId)
  const task = await taskById(tx, heard.taskId)
  const agent = task && (await agentById(tx, task.agentId))
  const secret = agent ? callbackSecrets(config, agent, world.now()) : []
  const { timestamp, signature, raw } = heard.signed
  const verdict = verify({ secret, timestamp, signature, body: raw, now: world.realNow() })
  if (verdict.ok && task) return task
  heard.fault = task ? faultText(verdict.ok ? '' : verdict.reason) : 'there is no such task'
  throw refuse('bad_signature')
}

/** A body that names another task was copied from a callback of that task, so its signature must not be used up here. */
function elsewhere(heard: Heard): Refusal {
  heard.verified = false
  heard.fault = 'the body names another task'
  return refuse('bad_signature')
}

const isKept = (status: number) => status < 500 && status !== 429

interface KeptRefusal {
  code: FailureName
  message: string
  errors?: FieldErrors
}

function again(kept: SeenSignatureRow, task: TaskRow): unknown {
  if (kept.taskId !== task.id) throw refuse('bad_signature')
  const answer = JSON.parse(kept.answer)
  if (kept.status === 201) return new Created(answer)
  if (kept.status === 200) return answer
  const { code, message, errors } = answer as KeptRefusal
  throw new Refusal(code, kept.status, message, errors)
}

const rowOf = ({ world }: Market, heard: Heard, status: number, answer: unknown): SeenSignatureRow => ({
  signature: heard.signed.signature!,
  taskId: heard.taskId,
  status,
  answer: JSON.stringify(answer),
  seenAt: world.realNow(),
})

/** Runs in a transaction of its own, because the refused one was rolled back. */
const keepRefusal = (market: Market, heard: Heard, { code, status, message, errors }: Refusal) =>
  market.db.write(tx => keepFirstSignature(tx, rowOf(market, heard, status, { code, message, errors })))

async function perform(ctx: Acting<Ctx & Market>, id: string, body: Record<string, unknown>): Promise<unknown> {
  const callback = parseCallback(body)
  switch (callback.action) {
    case 'accept':
      return { task: await accept(ctx, id) }
    case 'reject':
      return { task: await reject(ctx, id, callback.reason) }
    case 'deliver':
      return { task: await deliver(ctx, id, callback.deliverable) }
    case 'message':
      refuseWhenFull(ctx.db) // the other actions finish open work, so a full database still takes them
      return new Created(await sendMessage(ctx, id, callback.content))
  }
}

const tellOf = (
  { log }: Pick<Market, 'log'>,
  heard: Pick<Heard, 'taskId' | 'action'>,
  status: number,
  error: string | null,
) => log({ type: 'callback', taskId: heard.taskId, action: heard.action, status, error })

/** Logs an answer that was sent with an API key in the same way as a callback. */
function heardByKey(ctx: Acting<Ctx>, taskId: string, action: string) {
  ctx.tx.afterCommit(() => tellOf(ctx, { taskId, action }, 200, null))
}

const agentAccept: Verb<'agentAccept'> = async (ctx, { params }) => {
  heardByKey(ctx, params.id, 'accept')
  return { task: await accept(ctx, params.id) }
}

const agentReject: Verb<'agentReject'> = async (ctx, { params, body }) => {
  heardByKey(ctx, params.id, 'reject')
  return { task: await reject(ctx, params.id, body.reason) }
}

const agentDeliver: Verb<'agentDeliver'> = async (ctx, { params, body, files }) => {
  heardByKey(ctx, params.id, 'deliver')
  return { task: await deliver(ctx, params.id, body, files) }
}

export const callbackVerbs = { agentAccept, agentReject, agentDeliver, agentCallback }
