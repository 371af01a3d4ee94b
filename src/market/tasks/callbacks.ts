/** What agents answer about their tasks: with an API key, or by a signed callback. Source: I-callback, I-signature, A-38. */
import { actionIn, parseCallback } from '../../api/endpoints/callback-body.ts'
import { type FailureName, type FieldErrors, Refusal, refuse } from '../../api/failures.ts'
import { parseBody } from '../../api/json.ts'
import type { TaskRecord } from '../../api/records.ts'
import { Created } from '../../api/reply.ts'
import { faultText, verify } from '../../api/signature.ts'
import { ConstraintError, type Reader, type Tx } from '../../store/db.ts'
import { builderOfTask } from '../../store/tables/accounts/users.ts'
import { agentOfTask } from '../../store/tables/agents/agents.ts'
import {
  keepFirstSignature,
  keepSignature,
  type SeenSignatureRow,
  seenSignature,
} from '../../store/tables/requests/seen-signatures.ts'
import { deliverableById } from '../../store/tables/tasks/deliverables.ts'
import { type TaskRow, taskById } from '../../store/tables/tasks/tasks.ts'
import type { Acting, Ctx, Market } from '../market.ts'
import { refuseWhenFull } from '../permission.ts'
import type { SignedCallback, Verb } from '../verb.ts'
import { diagnosisOf, logCallback } from '../webhooks/callback-log.ts'
import { addHint } from '../webhooks/diagnosis.ts'
import { callbackSecrets } from '../webhooks/secrets.ts'
import { sendMessage } from './conversation.ts'
import { lockedRow } from './prefetch.ts'
import { deliverableRecord } from './task-record.ts'
import { accept, deliver, reject } from './tasks.ts'

/** One signed request while it is served. */
interface SignedRequest {
  readonly taskId: string
  readonly signed: SignedCallback
  /** Set once the signature is known to be the agent's. */
  verified: boolean
  action: string
}

const agentCallback: Verb<'agentCallback'> = async (market, { params, signed }) => {
  const request: SignedRequest = { taskId: params.id, signed, verified: false, action: '?' }
  const since = market.world.realNow()
  const log = (status: number, error: string | null, taskStatus: string | null, found: object = {}) => {
    const { taskId, action, signed } = request
    const { agentId } = signed.sender
    const how = { taskId, agentId, action, via: 'signature', taskStatus, since } as const
    logCallback(market, { ...how, status, error, ...found })
  }
  const foundIn = (error: Refusal) => diagnosisOf(market, { ...request, since }, error, signed) ?? {}
  try {
    const answer = await serveOnce(market, request)
    const isNew = answer instanceof Created
    log(isNew ? 201 : 200, null, isNew ? null : (answer as { task: { status: string } }).task.status)
    return answer as never
  } catch (error) {
    await addHint(market, error, params.id, signed)
    if (error instanceof Refusal) log(error.status, signed.sender.fault ?? error.message, null, foundIn(error))
    throw error
  }
}

/** If the same signature comes twice at once, the database lets one through and the other gets the kept response. */
async function serveOnce(market: Market, request: SignedRequest): Promise<unknown> {
  try {
    return await serve(market, request)
  } catch (error) {
    if (error instanceof ConstraintError && error.kind === 'unique') return serve(market, request)
    if (error instanceof Refusal && request.verified && isKept(error.status)) await keepRefusal(market, request, error)
    throw error
  }
}

const serve = (market: Market, request: SignedRequest) =>
  market.db.write(async tx => {
    const { task, builder, kept } = await signedTask({ ...market, tx }, request)
    if (kept) {
      request.action = actionIn(request.signed.raw, request.signed.type)
      return replay(tx, kept, task)
    }
    request.verified = true
    if (!builder || builder.banned) throw refuse('banned')
    const body = parseBody(request.signed.raw, request.signed.type)
    if (typeof body.action === 'string') request.action = body.action
    if (body.taskId !== undefined && body.taskId !== task.id) throw wrongTask(request)
    const actor = { user: builder, via: 'signature' as const, credential: task.agentId }
    const ctx = { ...market, tx, actor, prefetched: lockedRow(task) }
    const answer = await perform(ctx, task.id, body)
    const isNew = answer instanceof Created
    await keepSignature(tx, rowOf(market, request, isNew ? 201 : 200, isNew ? answer.data : withoutTexts(answer)))
    return answer
  })

/**
 * Returns the task, with all else that may be needed, if the request is signed with its agent's secret. An unknown task gets the
 * same refusal after the same time.
 */
async function signedTask({ tx, config, world }: Market & { tx: Tx }, { taskId, signed }: SignedRequest) {
  const { sender, timestamp, signature, raw } = signed
  const [, task, agent, builder, kept] = await Promise.all([
    tx.lock('tasks', taskId),
    taskById(tx, taskId),
    agentOfTask(tx, taskId),
    builderOfTask(tx, taskId),
    seenSignature(tx, signature ?? ''),
  ])
  sender.agentId = agent?.id ?? null
  const secret = agent ? callbackSecrets(config, agent, world.now()) : []
  const verdict = verify({ secret, timestamp, signature, body: raw, now: world.realNow() })
  if (verdict.ok && task) return { task, builder, kept }
  sender.fault = task ? faultText(verdict.ok ? '' : verdict.reason) : 'there is no such task'
  throw refuse('bad_signature')
}

/** A body that names another task was copied from a callback of that task, so its signature must not be used up here. */
function wrongTask(request: SignedRequest): Refusal {
  request.verified = false
  request.signed.sender.fault = 'the body names another task'
  return refuse('bad_signature')
}

const isKept = (status: number) => status < 500 && status !== 429

interface KeptRefusal {
  code: FailureName
  message: string
  errors?: FieldErrors
}

function replay(tx: Tx, kept: SeenSignatureRow, task: TaskRow): unknown {
  if (kept.taskId !== task.id) throw refuse('bad_signature')
  const answer = JSON.parse(kept.answer)
  if (kept.status === 201) return new Created(answer)
  if (kept.status === 200) return withTexts(tx, answer, task)
  const { code, message, errors } = answer as KeptRefusal
  throw new Refusal(code, kept.status, message, errors)
}

const rowOf = ({ world }: Market, request: SignedRequest, status: number, answer: unknown): SeenSignatureRow => ({
  signature: request.signed.signature!,
  taskId: request.taskId,
  status,
  answer: JSON.stringify(answer),
  seenAt: world.realNow(),
})

/** Runs in a transaction of its own, because the refused one was rolled back. */
const keepRefusal = (market: Market, request: SignedRequest, { code, status, message, errors }: Refusal) =>
  market.db.write(tx => keepFirstSignature(tx, rowOf(market, request, status, { code, message, errors })))

async function perform(ctx: Acting<Ctx & Market>, id: string, body: Record<string, unknown>) {
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

/** Logs an answer that was sent with an API key in the same way as a callback. */
async function withKey<Answer>(
  ctx: Acting<Ctx>,
  [taskId, action]: readonly [taskId: string, action: string],
  answer: () => Promise<Answer & { status: string; agentId: string }>,
) {
  const since = ctx.world.realNow()
  const task = await answer()
  const { agentId, status: taskStatus } = task
  ctx.tx.afterCommit(() =>
    logCallback(ctx, { taskId, agentId, action, via: 'key', status: 200, error: null, taskStatus, since }),
  )
  return { task }
}

const agentAccept: Verb<'agentAccept'> = (ctx, { params: { id } }) =>
  withKey(ctx, [id, 'accept'], () => accept(ctx, id))

const agentReject: Verb<'agentReject'> = (ctx, { params: { id }, body }) =>
  withKey(ctx, [id, 'reject'], () => reject(ctx, id, body.reason))

const agentDeliver: Verb<'agentDeliver'> = (ctx, { params: { id }, body, files }) =>
  withKey(ctx, [id, 'deliver'], () => deliver(ctx, id, body, files))

export const callbackVerbs = { agentAccept, agentReject, agentDeliver, agentCallback }

/**
 * The response to a signed callback as it is kept. A task's own texts and a deliverable never change after the callback, so
 * they are left out and read again for a repeat: a deliverable of 200 KB would be stored twice. Source: A-112.
 */
type Reply = { readonly task: TaskRecord }

/** The order of the properties stays, so that a repeat gets the same bytes. */
const withoutTexts = ({ task }: Reply) => ({
  task: {
    ...task,
    title: '',
    description: '',
    requirements: null,
    deliverable: task.deliverable && { id: task.deliverable.id },
  },
})

/** Makes the response whole again; `row` is its task as it is now. */
async function withTexts(q: Reader, { task }: ReturnType<typeof withoutTexts>, row: TaskRow): Promise<Reply> {
  const { title, description, requirements } = row
  const delivered = task.deliverable && (await deliverableById(q, task.deliverable.id))
  const deliverable = delivered ? deliverableRecord(row.id, delivered) : null
  return { task: { ...task, title, description, requirements, deliverable } }
}
