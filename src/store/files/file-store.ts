/** The interface of the store for uploaded files. */
import type { Readable } from 'node:stream'

export interface FileStore {
  /** A local folder for files that are still arriving. What an earlier process left there is removed at the start. */
  readonly incoming: string
  /** Stores the file at `path`, which may be moved. It is durable when this resolves. */
  keep(id: string, path: string): Promise<void>
  /** Returns the file as a stream. Rejects if there is no such file. */
  read(id: string): Promise<Readable>
  /** Removes the file. No error if there is none. */
  remove(id: string): Promise<void>
  close(): Promise<void>
}
