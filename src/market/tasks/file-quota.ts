/** Bounds the bytes of an account's files, because no file is removed while its deliverable exists. Source: A-49. */
import { refuse } from '../../api/failures.ts'
import type { KeptFile } from '../../api/file-kinds.ts'
import type { Db } from '../../store/db.ts'
import { deleteSetting, settingNamed } from '../../store/tables/settings.ts'
import { bytesOf, recountFiles, takeBytes } from '../../store/tables/usage.ts'
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

/** While this setting exists, files are not counted yet. The migration that makes the table writes it. */
const UNCOUNTED = 'file_usage'

/** Counts once the files that an older version has accepted. */
export async function countFiles(db: Db): Promise<void> {
  if ((await db.read(q => settingNamed(q, UNCOUNTED))) === undefined) return
  await db.migrate(async tx => {
    if ((await settingNamed(tx, UNCOUNTED)) === undefined) return
    await recountFiles(tx)
    await deleteSetting(tx, UNCOUNTED)
  })
}
