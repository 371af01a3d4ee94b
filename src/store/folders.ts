/** Makes folders. */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and what is missing above it. Node's own recursive way never ends where the system says that the folder above is
 * missing although it is there, as below /proc.
 */
export function makeFolders(path: string, mode = 0o777): void {
  const above = dirname(path)
  if (above !== path && !existsSync(above)) makeFolders(above, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
