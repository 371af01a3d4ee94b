/** The empty database that a build makes, so that a start in memory need not run every migration. */
import { readFile } from 'node:fs/promises'

/** Returns the SQLite file; undefined if there is none, as when the source is run without a build. */
export const emptyDatabase = (): Promise<Uint8Array | undefined> =>
  readFile(new URL('./empty.db', import.meta.url)).catch(() => undefined)
