/** A start that is refused leaves nothing where nothing was. */
import { rm, rmdir, stat } from 'node:fs/promises'
import { realPath } from './database.ts'
import { journalPath, sealedPath } from './journal.ts'
import { lockFile } from './lock.ts'

/**
 * To be called before a database is opened. The function it returns is for when that was in vain, and the database is
 * closed again: it removes what has been made since, if there was no database before and nobody has opened it since.
 */
export async function noteFresh(given: string, filesFolder: string): Promise<() => Promise<void>> {
  const file = await realPath(given)
  const parts = [file, journalPath(file), sealedPath(file)]
  if ((await Promise.all(parts.map(exists))).some(Boolean)) return async () => {}
  const key = `${file}.key`
  const [hadKey, hadFolder] = [await exists(key), await exists(filesFolder)]
  return async () => {
    const left = await stateOf(journalPath(file))
    // Whoever opens it from now on has the lock, or waits for ours.
    const lock = await lockFile(file, 'the end of a start that was refused').catch(() => null)
    if (!lock) return
    try {
      if ((await stateOf(journalPath(file))) !== left) return
      for (const path of hadKey ? parts : [...parts, key]) await rm(path, { force: true })
      // Only an empty one goes.
      if (!hadFolder) await rmdir(filesFolder).catch(() => {})
    } finally {
      await lock.release()
    }
  }
}

const exists = async (path: string) => (await stateOf(path)) !== null

/** Changes with whatever is written; null: there is nothing. */
const stateOf = (path: string): Promise<string | null> =>
  stat(path).then(
    ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
    () => null,
  )
