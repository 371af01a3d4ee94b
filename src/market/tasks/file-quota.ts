/** Bounds the bytes of an account's files, because no file is removed while its deliverable exists. Source: A-49. */
import { refuse } from '../../api/failures.ts'
import type { KeptFile } from '../../api/file-kinds.ts'
import type { Reader } from '../../store/db.ts'
import { bytesOf, countBytes } from '../../store/tables/upkeep/usage.ts'
import type { Ctx } from '../market.ts'
import { inMiB, MIB } from '../mebibytes.ts'

/** What the stored files of an account take, and may take. */
export interface FileRoom {
  readonly userId: string
  readonly used: number
  readonly quota: number
}

export const fileRoom = async (q: Reader, { keeping }: Ctx['config'], userId: string): Promise<FileRoom> => ({
  userId,
  used: await bytesOf(q, 'file_usage', userId),
  quota: keeping.fileMiB * MIB,
})

export const filesQuota = (quota: number, used: number) => refuse('files_quota', inMiB(quota), inMiB(used))

/** Counts the files against the quota, or refuses. Runs in the transaction that writes their deliverable. */
export async function reserveFiles({ tx, config }: Ctx, userId: string, files: readonly KeptFile[]): Promise<void> {
  if (files.length === 0) return
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const quota = config.keeping.fileMiB * MIB
  if (await countBytes(tx, 'file_usage', userId, bytes, quota)) return
  throw filesQuota(quota, await bytesOf(tx, 'file_usage', userId))
}
