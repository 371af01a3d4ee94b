/** Opens the place where uploaded files are kept; on a shared database only after it was seen that all keep them there. */
import { hostname } from 'node:os'
import { claimPlace, type Place } from './market/upkeep/file-location.ts'
import type { Db } from './store/db.ts'
import type { FileStore } from './store/files/file-store.ts'
import { openLocalFiles } from './store/files/folder.ts'
import type { BucketOptions } from './world/bucket.ts'
import type { World } from './world/world.ts'

export interface FilesOptions {
  /** null: a temporary one. */
  folder: string | null
  /** Instead of a folder. */
  bucket: BucketOptions | undefined
  /** What others are told about this process. */
  holder: string
  /** Called if another instance turns out to keep its files elsewhere: the process should end. */
  lost: (error: Error) => void
}

interface House {
  db: Db
  world: World
}

/** An upload is over long before this. */
const FORGOTTEN_MS = 60 * 60 * 1000

/** Throws a sentence if it can't be. */
export async function openFiles(options: FilesOptions, house: House): Promise<FileStore> {
  const release = house.db.shared ? await claim(options, house) : async () => {}
  try {
    const { bucket, folder } = options
    const files = await (bucket ? inBucket(bucket, house) : openLocalFiles(folder))
    return {
      ...files,
      async close() {
        await files.close()
        await release()
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}

async function inBucket(options: BucketOptions, { world }: House): Promise<FileStore> {
  const { openBucket } = await import('./world/bucket.ts') // most marketplaces never need it
  const { openObjectFiles } = await import('./store/files/bucket.ts')
  const bucket = await openBucket(options)
  try {
    await bucket.prove(world.id('check'))
    return await openObjectFiles(bucket, world.realNow() - FORGOTTEN_MS)
  } catch (error) {
    await bucket.close()
    throw error
  }
}

async function claim({ folder, bucket, holder, lost }: FilesOptions, house: House): Promise<() => Promise<void>> {
  const who = `${holder}, process ${process.pid} of ${hostname()}`
  const of = async (place: Pick<Place, 'name' | 'kind'>) => claimPlace(house, { ...place, holder: who }, lost)
  if (bucket) return (await of({ name: `s3://${bucket.name}/${bucket.prefix}`, kind: 'shared' })).leave
  if (folder === null) return (await of({ name: house.world.id('folder'), kind: 'alone' })).leave
  const { claimFolder } = await import('./store/files/folder-claim.ts')
  const { id, fault, release } = await claimFolder(folder, house.world.id('folder'), holder)
  try {
    // Whoever was in a folder that nobody uses is gone, even if its lease still runs.
    const { leave } = await of({ name: id, kind: fault ? 'alone' : 'successor' })
    if (!fault) return () => leave().finally(release)
    await leave()
    throw fault
  } catch (error) {
    await release()
    throw error
  }
}
