/**
 * Bounds the texts of an account, together with the bodies of webhooks that repeat them. Beyond its room, texts that begin
 * work are refused. Texts that finish work are never refused, but they count. Source.
 */
import { refuse } from '../api/failures.ts'
import type { Columns, Patch, Table } from '../store/tables/table.ts'
import { type TaskRow, tasks } from '../store/tables/tasks/tasks.ts'
import { WEBHOOK_BYTES } from '../store/tables/upkeep/retention.ts'
import { addBytes, bytesOf, uncountBytes } from '../store/tables/upkeep/usage.ts'
import type { Acting, Ctx } from './market.ts'
import { inMiB } from './mebibytes.ts'
import { countWithin, hasUsedAll, roomInWords, roomOf } from './room.ts'

/** What a row takes besides its texts, with its index entries. */
const ROW_BYTES = 512
/** What the body of a webhook has besides the texts of its task. */
const ENVELOPE_BYTES = 1024

/** The texts of a row that somebody wrote. In bytes as JSON, because escapes can make a text six times as long in a webhook. */
export const weightOf = <C extends Columns>({ written }: Table<C>, row: Patch<Table<C>>) =>
  ROW_BYTES + Buffer.byteLength(JSON.stringify(written.map(name => row[name])))

export const webhookWeight = (body: string) => WEBHOOK_BYTES + Buffer.byteLength(body)

type Task = Patch<typeof tasks>

/**
 * The bytes of the webhook that a submission will send. They count with the draft, so that a submission need not count
 * anything.
 */
export const submissionWeight = (task: Task) => WEBHOOK_BYTES + ENVELOPE_BYTES + weightOf(tasks, task)

export const taskWeight = (task: Task) => weightOf(tasks, task) + submissionWeight(task)

/** The account whose texts those of a task are: the hirer if there is one, else the buyer. */
export const writerOf = ({ hirerId, buyerId }: Pick<TaskRow, 'hirerId' | 'buyerId'>) => hirerId ?? buyerId

/** Adds `bytes` to the account's texts, or subtracts them if negative. Refuses if the account has no room for them. */
export async function reserveTexts(ctx: Acting<Ctx>, userId: string, bytes: number): Promise<void> {
  if (bytes < 0) await releaseTexts(ctx, userId, -bytes)
  if (bytes <= 0) return
  const most = await countWithin(ctx, 'text_usage', userId, bytes)
  if (most !== null) throw await quotaUsed(ctx, userId, most)
}

/** Adds `bytes` without a check, for texts that are never refused. */
export const countTexts = ({ tx }: Ctx, userId: string, bytes: number) => addBytes(tx, 'text_usage', userId, bytes)

export const releaseTexts = ({ tx }: Ctx, userId: string, bytes: number) =>
  uncountBytes(tx, 'text_usage', userId, bytes)

/** Refuses a step that allows unchecked texts later if the account has used up what it has earned. */
export async function refuseIfQuotaUsed(ctx: Acting<Ctx>, userId: string): Promise<void> {
  if (!(await hasUsedAll(ctx, 'text_usage', userId))) return
  throw await quotaUsed(ctx, userId, await roomOf(ctx, 'text_usage', userId))
}

async function quotaUsed(ctx: Acting<Ctx>, userId: string, most: number) {
  const kept = await bytesOf(ctx.tx, 'text_usage', userId)
  const whose = userId === ctx.actor.user.id ? 'yours' : 'theirs'
  return refuse(
    'texts_quota',
    roomInWords(ctx.config, 'text_usage', most),
    whose,
    inMiB(kept),
    ctx.config.keeping.deliveryDays,
  )
}
