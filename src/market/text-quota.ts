/**
 * What an account has written stays within a quota, with the bodies of webhooks that hold it. What begins work is refused
 * beyond it; what ends work never is, and is counted all the same. Source.
 */
import { refuse } from '../api/failures.ts'
import { WEBHOOK_BYTES } from '../store/tables/retention.ts'
import type { TaskRow } from '../store/tables/tasks.ts'
import { addBytes, bytesOf, giveBytes, takeBytes } from '../store/tables/usage.ts'
import type { Acting, Ctx } from './market.ts'
import { inMiB, MIB } from './mib.ts'

/** What a row takes beside its texts, with its places in indexes. */
const ROW_BYTES = 512
/** What a body has beside the texts of its task. */
const ENVELOPE_BYTES = 1024

type Text = string | null | undefined

/** As JSON, as which a text may take six times its bytes in a webhook. */
export const weightOf = (...texts: Text[]) => ROW_BYTES + Buffer.byteLength(JSON.stringify(texts))

export const webhookWeight = (body: string) => WEBHOOK_BYTES + Buffer.byteLength(body)

type TaskTexts = Pick<TaskRow, 'title' | 'description' | 'requirements'>

/** Of the webhook that a submission sends: it counts from the draft on, so that a submission has nothing to count. */
export const submissionWeight = ({ title, description, requirements }: TaskTexts) =>
  WEBHOOK_BYTES + ENVELOPE_BYTES + weightOf(title, description, requirements)

export const taskWeight = (task: TaskTexts) =>
  weightOf(task.title, task.description, task.requirements) + submissionWeight(task)

/** Whose texts those of a task are: whoever acts as its buyer. */
export const writerOf = ({ hirerId, buyerId }: Pick<TaskRow, 'hirerId' | 'buyerId'>) => hirerId ?? buyerId

const mostOf = ({ config }: Pick<Ctx, 'config'>) => config.keeping.textMiB * MIB

/** Counts what is written more, or less; refuses what would go beyond the quota. */
export async function takeTexts(ctx: Acting<Ctx>, userId: string, bytes: number): Promise<void> {
  if (bytes < 0) await giveTexts(ctx, userId, -bytes)
  if (bytes <= 0 || (await takeBytes(ctx.tx, 'text_usage', userId, bytes, mostOf(ctx)))) return
  throw await spent(ctx, userId)
}

/** Counts what is never refused. */
export const addTexts = ({ tx }: Ctx, userId: string, bytes: number) => addBytes(tx, 'text_usage', userId, bytes)

export const giveTexts = ({ tx }: Ctx, userId: string, bytes: number) => giveBytes(tx, 'text_usage', userId, bytes)

/** For what lets an account write later without being refused. */
export async function refuseIfSpent(ctx: Acting<Ctx>, userId: string): Promise<void> {
  if ((await bytesOf(ctx.tx, 'text_usage', userId)) >= mostOf(ctx)) throw await spent(ctx, userId)
}

async function spent(ctx: Acting<Ctx>, userId: string) {
  const kept = await bytesOf(ctx.tx, 'text_usage', userId)
  return refuse('texts_quota', inMiB(mostOf(ctx)), userId === ctx.actor.user.id ? 'yours' : 'theirs', inMiB(kept))
}
