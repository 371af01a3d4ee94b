/** Stores files in an object store that several instances share: one object per file, under its id. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { FileStore } from './file-store.ts'

/** The part of an object store's interface that is used here. */
export interface Objects {
  put(key: string, path: string): Promise<void>
  get(key: string): Promise<Readable>
  remove(key: string): Promise<void>
  close(): Promise<void>
}

const INCOMING = 'marketplace-incoming-'

/**
 * Opens the store. Arriving files are first validated in a local folder of this process. Files there that are older than
 * `before` (real ms) were left by processes that ended, and are removed.
 */
export async function openObjectFiles(objects: Objects, before: number): Promise<FileStore> {
  await removeForgotten(before)
  const incoming = await mkdtemp(join(tmpdir(), INCOMING))
  return {
    incoming,
    async keep(id, path) {
      await objects.put(id, path)
      await rm(path, { force: true })
    },
    read: id => objects.get(id),
    remove: id => objects.remove(id),
    async close() {
      await objects.close()
      await rm(incoming, { recursive: true, force: true })
    },
  }
}

/** Removes files that killed processes have left. Their empty folders stay, as those of live processes look the same. */
async function removeForgotten(before: number): Promise<void> {
  const folders = (await readdir(tmpdir())).filter(name => name.startsWith(INCOMING))
  for (const folder of folders.map(name => join(tmpdir(), name))) {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name)
      const found = await stat(path).catch(() => null)
      if (found && found.mtimeMs < before) await rm(path, { force: true }).catch(() => {})
    }
  }
}
