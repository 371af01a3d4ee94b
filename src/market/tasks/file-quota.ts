/** Bounds the bytes of an account's files, because no file is removed while its deliverable exists. Source: A-49. */
import { refuse } from '../../api/failures.ts'
import type { KeptFile } from '../../api/file-kinds.ts'
import { bytesOf, takeBytes } from '../../store/tables/usage.ts'
import type { Ctx } from '../market.ts'
import { inMiB, MIB } from '../mib.ts'

/** Counts the files against the quota, or refuses. Runs in the transaction that writes their deliverable. */
export async function reserveFiles({ tx, config }: Ctx, userId: string, files: readonly KeptFile[]): Promise<void> {
  if (files.length === 0) return
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const { fileMiB } = config.keeping
  if (await takeBytes(tx, 'file_usage', userId, bytes, fileMiB * MIB)) return
  throw refuse('files_quota', inMiB(fileMiB * MIB), inMiB(await bytesOf(tx, 'file_usage', userId)))
}
