/** One process for each folder of files, and an id by which the folder is known again. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '../embedded/lock.ts'

export interface FolderClaim {
  /** Stays with the folder. */
  id: string
  /** Why the folder is not ours; null if it is: then nobody else uses it. */
  fault: Error | null
  release(): Promise<void>
}

/** `newId` is the folder's from now on if it has none. */
export async function claimFolder(folder: string, newId: string, holder?: string): Promise<FolderClaim> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
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
