/** Where the bytes of uploaded files are kept. */
import type { Readable } from 'node:stream'

export interface FileStore {
  /** A folder of this machine for files that are still arriving. What an earlier process left there is gone. */
  readonly incoming: string
  /** Takes over a file that has arrived at `path`. Durable when it resolves. */
  keep(id: string, path: string): Promise<void>
  /** Rejects if there is no such file. */
  read(id: string): Promise<Readable>
  /** No error if it is not there. */
  remove(id: string): Promise<void>
  close(): Promise<void>
}
