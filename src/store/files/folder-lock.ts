/** Makes sure that one process at a time uses a folder of files, and gives the folder an id. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '../embedded/lock.ts'
import { makeFolders } from '../folders.ts'

export interface FolderLock {
  /** The id of the folder. It never changes. */
  id: string
  /** Why the folder could not be locked; null if it was, so that no other process uses it. */
  fault: Error | null
  release(): Promise<void>
}

/** Locks the folder. If it has no id, it gets `newId`. */
export async function lockFolder(folder: string, newId: string, holder?: string): Promise<FolderLock> {
  makeFolders(folder, 0o700)
  const id = await idOf(join(folder, 'folder.id'), newId)
  try {
    return { id, fault: null, release: (await lockFile(join(folder, 'folder'), holder)).release }
  } catch (error) {
    return { id, fault: error as Error, release: async () => {} }
  }
}

async function idOf(path: string, newId: string): Promise<string> {
  await writeFile(path, `${newId}\n`, { flag: 'wx', mode: 0o600 }).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
  return (await readFile(path, 'utf8')).trim()
}
