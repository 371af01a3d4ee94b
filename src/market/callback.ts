/** The agent's answers: by key, or signed over the unified callback. Source: section 4, section 5, D38. */
import { z } from 'zod'
import { type FieldErrors, invalid, refuse } from '../api/failures.ts'
import { Created } from '../api/reply.ts'
import { verify } from '../api/signature.ts'
import { deliverableInput, messageInput } from '../api/tasks.ts'
import { agentById } from '../store/agents.ts'
import { taskById } from '../store/tasks.ts'
import { userById } from '../store/users.ts'
import { sendMessage } from './conversation.ts'
import { callbackSecrets } from './secrets.ts'
import { accept, deliver, reject } from './tasks.ts'
import type { Verb } from './verb.ts'

const agentCallback: Verb<'agentCallback'> = (market, { params, signed }) =>
  market.db.write(async tx => {
    const task = await taskById(tx, params.id)
    const agent = task && (await agentById(tx, task.agentId))
    const secret = agent ? callbackSecrets(market.config, agent, market.world.now()) : []
    const { timestamp, signature, raw } = signed
    if (!verify({ secret, timestamp, signature, body: raw, now: market.world.realNow() }).ok || !task || !signature)
      throw refuse('bad_signature')
    const builder = await userById(tx, task.builderId)
    if (!builder || builder.banned) throw refuse('banned')
    const seen = await tx.get<{ taskId: string; answer: string }>(
      'SELECT task_id AS "taskId", answer FROM seen_signatures WHERE signature = $1',
      [signature],
    )
    if (seen) {
      if (seen.taskId !== task.id) throw refuse('bad_signature')
      return JSON.parse(seen.answer)
    }
    let body: Record<string, unknown>
    try {
      body = JSON.parse(raw.toString('utf8'))
    } catch {
      throw refuse('malformed_json', 'it can not be parsed')
    }
    if (body === null || typeof body !== 'object') throw refuse('malformed_json', 'it is no object')
    if (body.taskId !== undefined && body.taskId !== task.id) throw refuse('bad_signature')
    const ctx = { ...market, tx, actor: { user: builder, via: 'signature' as const, credential: task.agentId } }
    const answer = await perform(ctx, task.id, body)
    await tx.run(
      'INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ($1, $2, 200, $3, $4)',
      [signature, task.id, JSON.stringify(answer instanceof Created ? answer.data : answer), market.world.realNow()],
    )
    return answer as never
  })

async function perform(ctx: Parameters<typeof accept>[0], id: string, body: Record<string, unknown>) {
  if (body.action === 'accept') return { task: await accept(ctx, id) }
  if (body.action === 'reject') return { task: await reject(ctx, id) }
  const shape = body.action === 'deliver' ? deliverableInput : body.action === 'message' ? messageInput : null
  if (!shape) throw refuse('bad_request', 'action must be one of: accept, reject, deliver, message')
  if (body.action === 'deliver') return { task: await deliver(ctx, id, parsed(deliverableInput, body)) }
  return new Created(
    await sendMessage(ctx, id, parsed(messageInput, { content: body.content ?? body.message }).content),
  )
}

const agentAccept: Verb<'agentAccept'> = async (ctx, { params }) => ({ task: await accept(ctx, params.id) })
const agentReject: Verb<'agentReject'> = async (ctx, { params }) => ({ task: await reject(ctx, params.id) })
const agentDeliver: Verb<'agentDeliver'> = async (ctx, { params, body }) => ({
  task: await deliver(ctx, params.id, body),
})

export const callbackVerbs = { agentAccept, agentReject, agentDeliver, agentCallback }

function parsed<Shape extends z.ZodType>(shape: Shape, input: unknown): z.infer<Shape> {
  const result = shape.safeParse(input)
  if (!result.success) throw invalid(z.flattenError(result.error).fieldErrors as FieldErrors)
  return result.data
}
