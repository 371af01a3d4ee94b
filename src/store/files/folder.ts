/** Stores files in a local folder, under their ids. */
import { mkdtemp, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeFolders } from '../folders.ts'
import type { FileStore } from './file-store.ts'

/** Opens the store. `folder` null: a temporary folder, which is removed when the store is closed. */
export async function openLocalFiles(folder: string | null): Promise<FileStore> {
  const root = folder ?? (await mkdtemp(join(tmpdir(), 'marketplace-files-')))
  const incoming = join(root, 'incoming')
  await rm(incoming, { recursive: true, force: true })
  makeFolders(incoming, 0o700)
  const pathOf = (id: string) => join(root, id)

  return {
    incoming,
    async keep(id, path) {
      await sync(path)
      await rename(path, pathOf(id))
      await sync(root)
    },
    async read(id): Promise<Readable> {
      const file = await open(pathOf(id)) // opened before the response begins, so that an error can still be reported
      return file.createReadStream()
    },
    remove: id => rm(pathOf(id), { force: true }),
    async close() {
      await rm(folder === null ? root : incoming, { recursive: true, force: true })
    },
  }
}

async function sync(path: string) {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
