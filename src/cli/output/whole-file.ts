/** Writes small files whole or not at all: if the disk refuses, the old content stays. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'

/** Unless a mode is given, only this user can read the file. */
export function writeWhole(path: string, content: string | Uint8Array, mode = 0o600): void {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, content, { mode, flag: 'wx', flush: true })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
