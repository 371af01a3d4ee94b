/** Files of deliverables: each is known to the database before it is kept, until it is held or gone. Source: A-22. */
import { refuse } from '../../api/failures.ts'
import type { KeptFile } from '../../api/file-kinds.ts'
import type { Tx } from '../../store/db.ts'
import {
  beginUpload,
  doomOldUploads,
  doomUpload,
  forgetUpload,
  hasOldUploads,
  holdUpload,
  postponeUpload,
} from '../../store/tables/uploads.ts'
import type { Market } from '../market.ts'

/** An upload is over long before this, one way or the other. */
const ORPHAN_AGE_MS = 60 * 60 * 1000
const AT_ONCE = 100

/** A file that has arrived on this machine. */
export interface ArrivedFile {
  readonly id: string
  readonly path: string
}

/** Keeps all of them, or rejects and keeps none. Whoever does not hold them afterwards drops them. */
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

/** In the transaction of the deliverable that names them. */
export async function holdFiles(tx: Tx, files: readonly KeptFile[]): Promise<void> {
  for (const { id } of files) if (!(await holdUpload(tx, id))) throw refuse('lost_race')
}

/** Removes those that nothing holds. What can't be removed now is removed later; never rejects. */
export async function dropFiles(market: Market, dropped: readonly { readonly id: string }[]): Promise<void> {
  for (const { id } of dropped) {
    try {
      if (await market.db.write(tx => doomUpload(tx, id))) await removeDoomed(market, id)
    } catch (error) {
      warn(market, error)
    }
  }
}

/** Removes what a crash left between the arrival of a file and the deliverable that would have held it. */
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
  log({ type: 'warning', message: `A file that nothing holds could not be removed yet: ${(error as Error).message}` })
