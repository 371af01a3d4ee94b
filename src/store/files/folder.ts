/** Files in a folder of this machine: one file each, under its id. */
import { mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { FileStore } from './file-store.ts'

/** `folder` null: a temporary one, which goes when the store is closed. */
export async function openLocalFiles(folder: string | null): Promise<FileStore> {
  const root = folder ?? (await mkdtemp(join(tmpdir(), 'marketplace-files-')))
  const incoming = join(root, 'incoming')
  await rm(incoming, { recursive: true, force: true })
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  const pathOf = (id: string) => join(root, id)

  return {
    incoming,
    async keep(id, path) {
      await sync(path)
      await rename(path, pathOf(id))
      await sync(root)
    },
    async read(id): Promise<Readable> {
      const file = await open(pathOf(id)) // before the answer begins, so that a failure can be told
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
