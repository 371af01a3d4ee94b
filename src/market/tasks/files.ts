/**
 * Files of deliverables. A row is written before a file is stored, and stays until a deliverable has the file or the file is
 * removed. So a crash leaves no file that nobody knows of. Source: A-151.
 */
import { refuse } from '../../api/failures.ts'
import type { KeptFile } from '../../api/file-kinds.ts'
import type { Reader, Tx } from '../../store/db.ts'
import {
  attachUpload,
  beginUpload,
  doomOldUploads,
  doomUpload,
  forgetUpload,
  hasOldUploads,
  postponeUpload,
} from '../../store/tables/tasks/deliverables.ts'
import { bytesOf } from '../../store/tables/upkeep/usage.ts'
import type { Ctx, Market } from '../market.ts'
import { inMiB } from '../mebibytes.ts'
import { countWithin, roomInWords, roomOf } from '../room.ts'

/** Far longer than any upload takes. */
const ORPHAN_AGE_MS = 60 * 60 * 1000
const AT_ONCE = 100

/** A file that has been received on this machine. */
export interface ArrivedFile {
  readonly id: string
  readonly path: string
}

/** Stores all of the files, or rejects and stores none. If no deliverable takes them afterwards, the caller drops them. */
export async function keepFiles(market: Market, arrived: readonly ArrivedFile[]): Promise<void> {
  if (arrived.length === 0) return
  const { db, files, world } = market
  const begunAt = world.realNow()
  await db.write(async tx => {
    for (const { id } of arrived) await beginUpload(tx, id, begunAt)
  })
  const ends = await Promise.allSettled(arrived.map(({ id, path }) => files.keep(id, path)))
  const failed = ends.find(end => end.status === 'rejected')
  if (!failed) return
  await dropFiles(market, arrived)
  throw failed.reason
}

/**
 * Ties the files to their deliverable, in the transaction that writes it. Refuses if an upload has been removed meanwhile.
 */
export async function attachFiles(tx: Tx, files: readonly KeptFile[]): Promise<void> {
  for (const { id } of files) if (!(await attachUpload(tx, id))) throw refuse('lost_race')
}

/** Removes the files that no deliverable has. What can't be removed now is removed later. Never rejects. */
export async function dropFiles(market: Market, dropped: readonly { readonly id: string }[]): Promise<void> {
  for (const { id } of dropped) {
    try {
      if (await market.db.write(tx => doomUpload(tx, id))) await removeDoomed(market, id)
    } catch (error) {
      warn(market, error)
    }
  }
}

/** Removes files that a crash left behind before a deliverable was written for them. */
export async function removeOrphans(market: Market): Promise<void> {
  const { db, world } = market
  const before = world.realNow() - ORPHAN_AGE_MS
  while (await db.read(q => hasOldUploads(q, before))) {
    for (const id of await db.write(tx => doomOldUploads(tx, before, AT_ONCE))) {
      try {
        await removeDoomed(market, id)
      } catch (error) {
        warn(market, error)
        await db.write(tx => postponeUpload(tx, id, world.realNow()))
      }
    }
  }
}

async function removeDoomed({ db, files }: Market, id: string): Promise<void> {
  await files.remove(id)
  await db.write(tx => forgetUpload(tx, id))
}

const warn = ({ log }: Market, error: unknown) =>
  log({
    type: 'warning',
    message: `A file without a deliverable could not be removed yet: ${(error as Error).message}`,
  })

/** What the stored files of an account take, and may take. */
export interface FileRoom {
  readonly userId: string
  readonly used: number
  readonly quota: number
  readonly inWords: string
}

export async function fileRoom(q: Reader, market: Market, userId: string): Promise<FileRoom> {
  const quota = await roomOf({ ...market, tx: q }, 'file_usage', userId)
  const used = await bytesOf(q, 'file_usage', userId)
  return { userId, used, quota, inWords: roomInWords(market.config, 'file_usage', quota) }
}

/** `quota`: what the account may have, in words. */
export const filesQuota = (quota: string, used: number) => refuse('files_quota', quota, inMiB(used))

/** Counts the files to the account, or refuses. Runs in the transaction that writes their deliverable. */
export async function reserveFiles(ctx: Ctx, userId: string, files: readonly KeptFile[]): Promise<void> {
  if (files.length === 0) return
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const quota = await countWithin(ctx, 'file_usage', userId, bytes)
  if (quota === null) return
  throw filesQuota(roomInWords(ctx.config, 'file_usage', quota), await bytesOf(ctx.tx, 'file_usage', userId))
}
