/** Makes sure that a failed start leaves no new files behind. */
import { rm, rmdir, stat } from 'node:fs/promises'
import { realPath } from './database.ts'
import { journalPath, sealedPath } from './journal.ts'
import { lockFile } from './lock.ts'

/**
 * Call it before a database is opened. Call the function that it returns if the start has failed and the database is closed
 * again: it removes the files that were made since, if there was no database before and no other process has opened it.
 */
export async function noteFresh(given: string, filesFolder: string): Promise<() => Promise<void>> {
  const file = await realPath(given)
  const parts = [file, journalPath(file), sealedPath(file)]
  if ((await Promise.all(parts.map(exists))).some(Boolean)) return async () => {}
  const key = `${file}.key`
  const [hadKey, hadFolder] = [await exists(key), await exists(filesFolder)]
  return async () => {
    const left = await stateOf(journalPath(file))
    // From now on, a process that opens the database has the lock or waits for ours.
    const lock = await lockFile(file, 'the end of a start that was refused').catch(() => null)
    if (!lock) return
    try {
      if ((await stateOf(journalPath(file))) !== left) return
      for (const path of hadKey ? parts : [...parts, key]) await rm(path, { force: true })
      // Removes the folder only if it is empty.
      if (!hadFolder) await rmdir(filesFolder).catch(() => {})
    } finally {
      await lock.release()
    }
  }
}

const exists = async (path: string) => (await stateOf(path)) !== null

/** Returns a text that changes with every write; null if there is no file. */
const stateOf = (path: string): Promise<string | null> =>
  stat(path).then(
    ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
    () => null,
  )
