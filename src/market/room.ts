/**
 * How much an account may store. An account begins with a part of its quota and earns the rest. All shares shrink as the
 * whole fills, and of its last fifth only those have a share who have work open. Source: A-291.
 */
import { room } from '../api/limits.ts'
import type { Fill, Reader } from '../store/db.ts'
import { hasOpenWork, provenBy } from '../store/tables/upkeep/proven.ts'
import { allBytes, bytesOf, countBytes, type Usage } from '../store/tables/upkeep/usage.ts'
import type { Ctx, Market } from './market.ts'
import { inMiB, MIB } from './mebibytes.ts'

type Asking = Pick<Ctx, 'config' | 'memory' | 'world' | 'db'> & { readonly tx: Reader }

const quotas = { text_usage: 'textMiB', file_usage: 'fileMiB' } as const

export const quotaOf = ({ keeping }: Market['config'], usage: Usage) => keeping[quotas[usage]] * MIB

/** What one account may add to a whole that is filled so far, up to a mark. */
const partOf = (whole: Fill | null, mark: number) =>
  whole ? Math.max(0, mark * whole.limit - whole.bytes) * room.part : Number.POSITIVE_INFINITY

/** What every account may have. */
const unproven = (quota: number, whole: Fill | null) =>
  Math.floor(Math.min(quota * room.unproven, partOf(whole, room.marks.unproven)))

/** Of what gives way by itself: the quota while there is room, and never less than everybody's part. */
export const keptWithin = (quota: number, whole: Fill | null) =>
  Math.floor(Math.max(quota * room.unproven, Math.min(quota, partOf(whole, room.marks.unproven))))

/** What an account has earned, however full the whole is. */
async function earned({ tx, config }: Pick<Asking, 'tx' | 'config'>, usage: Usage, userId: string): Promise<number> {
  const { isVerified, cents } = await provenBy(tx, userId)
  const part = isVerified ? 1 : room.unproven + cents / room.wholeAtCents
  return Math.floor(quotaOf(config, usage) * Math.min(1, part))
}

/** The bytes that the account may have now. */
export async function roomOf(ctx: Asking, usage: Usage, userId: string): Promise<number> {
  const whole = await wholeOf(ctx, usage)
  const most = await earned(ctx, usage, userId)
  const quota = quotaOf(ctx.config, usage)
  const hasEarned = most > quota * room.unproven
  const share = Math.max(unproven(quota, whole), hasEarned ? Math.min(most, partOf(whole, room.marks.earned)) : 0)
  if (share >= most || !(await hasOpenWork(ctx.tx, userId))) return Math.floor(share)
  return Math.floor(Math.max(share, Math.min(most, partOf(whole, room.marks.openWork))))
}

/** Counts the bytes to the account and returns null. If it has no room for them, counts none and says what it may have. */
export async function countWithin(
  ctx: Asking & Pick<Ctx, 'tx'>,
  usage: Usage,
  userId: string,
  bytes: number,
): Promise<number | null> {
  const whole = await wholeOf(ctx, usage)
  const count = (most: number) => countBytes(ctx.tx, usage, userId, bytes, most)
  let most = unproven(quotaOf(ctx.config, usage), whole)
  if (!(await count(most))) {
    most = await roomOf(ctx, usage, userId)
    if (!(await count(most))) return most
  }
  if (usage === 'file_usage') ctx.memory.of(FilesWhole).add(bytes)
  return null
}

/** Whether the account has used up what it has earned. For steps of open work, which find room however full the whole is. */
export async function hasUsedAll(ctx: Pick<Asking, 'tx' | 'config'>, usage: Usage, userId: string): Promise<boolean> {
  const [used, most] = await Promise.all([bytesOf(ctx.tx, usage, userId), earned(ctx, usage, userId)])
  return used >= most
}

/** How a refusal names what the account may have. */
export function roomInWords({ keeping }: Market['config'], usage: Usage, most: number): string {
  const whole = keeping[quotas[usage]]
  if (most >= whole * MIB) return inMiB(most)
  const size = most >= MIB ? inMiB(most) : `${Math.floor(most / 1024)} KiB`
  return `${size} now (of ${whole} MiB: more with money that comes in and tasks that are paid, less as the marketplace fills)`
}

const wholeOf = ({ tx, config, memory, world, db }: Asking, usage: Usage): Promise<Fill | null> | Fill | null =>
  usage === 'text_usage' ? db.fill : filesWhole({ tx, config, memory, world })

export const filesWhole = ({ tx, config, memory, world }: Omit<Asking, 'db'>): Promise<Fill> =>
  memory.of(FilesWhole).fill(tx, world, config.keeping.allFilesMiB * MIB)

/** The bytes of all files. The sum takes longer with each account, so it is asked for now and then. */
class FilesWhole {
  #bytes = 0
  #askAgainAt = 0

  async fill(q: Reader, { realNow }: Market['world'], limit: number): Promise<Fill> {
    if (realNow() >= this.#askAgainAt) {
      this.#bytes = await allBytes(q, 'file_usage')
      this.#askAgainAt = realNow() + room.lookMs
    }
    return { bytes: this.#bytes, limit }
  }

  add(bytes: number): void {
    this.#bytes += bytes
  }
}
