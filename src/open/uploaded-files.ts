/** Opens the store of uploaded files. On a shared database it first makes sure that all instances use the same one. */
import { hostname } from 'node:os'
import { claimLocation, type FileLocation } from '../market/upkeep/file-location.ts'
import type { Db } from '../store/db.ts'
import type { FileStore } from '../store/files/file-store.ts'
import { openLocalFiles } from '../store/files/folder.ts'
import type { BucketOptions } from '../world/bucket.ts'
import type { World } from '../world/world.ts'

export interface FilesOptions {
  /** null: a temporary folder. */
  folder: string | null
  /** Instead of a folder. */
  bucket: BucketOptions | undefined
  /** Describes this process for messages of other instances. */
  holder: string
  /** Called if another instance turns out to use another location. The process should end then. */
  lost: (error: Error) => void
}

interface Services {
  db: Db
  world: World
}

/** Far longer than any upload takes. */
const FORGOTTEN_MS = 60 * 60 * 1000

/** Opens the store. Throws an error for people to read if it can't be opened. */
export async function openFiles(options: FilesOptions, services: Services): Promise<FileStore> {
  const release = services.db.shared ? await claim(options, services) : async () => {}
  try {
    const { bucket, folder } = options
    const files = await (bucket ? inBucket(bucket, services) : openLocalFiles(folder))
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

async function inBucket(options: BucketOptions, { world }: Services): Promise<FileStore> {
  const { openBucket } = await import('../world/bucket.ts') // most marketplaces never need it
  const { openObjectFiles } = await import('../store/files/bucket.ts')
  const bucket = await openBucket(options)
  try {
    await bucket.prove(world.id('check'))
    return await openObjectFiles(bucket, world.realNow() - FORGOTTEN_MS)
  } catch (error) {
    await bucket.close()
    throw error
  }
}

async function claim({ folder, bucket, holder, lost }: FilesOptions, services: Services): Promise<() => Promise<void>> {
  const who = `${holder}, process ${process.pid} of ${hostname()}`
  const of = async (location: Pick<FileLocation, 'name' | 'kind'>) =>
    claimLocation(services, { ...location, holder: who }, lost)
  if (bucket) return (await of({ name: `s3://${bucket.name}/${bucket.prefix}`, kind: 'shared' })).release
  if (folder === null) return (await of({ name: services.world.id('folder'), kind: 'alone' })).release
  const { lockFolder } = await import('../store/files/folder-lock.ts')
  const { id, fault, release } = await lockFolder(folder, services.world.id('folder'), holder)
  try {
    // The folder's lock is free, so its last user is gone, even if the lease in the database has not ended.
    const location = await of({ name: id, kind: fault ? 'alone' : 'successor' })
    if (!fault) return () => location.release().finally(release)
    await location.release()
    throw fault
  } catch (error) {
    await release()
    throw error
  }
}
