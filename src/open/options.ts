/** What a marketplace can be opened with: by this program, and by tests. */
import type { DebugSinks } from '../shared/debug.ts'
import type { FileStore } from '../store/files/file-store.ts'
import type { openDatabase } from '../store/open.ts'
import type { GivenBounds } from '../web/sockets/server-bounds.ts'
import type { World } from '../world/world.ts'
import type { OpenOptions as PublicOptions } from './embed.ts'

export interface OpenOptions extends PublicOptions {
  /** Bounds of connections and of unread responses. */
  bounds?: GivenBounds
  /** Replaces time, randomness and network. Then `seed` and `ca` have no effect. */
  world?: World
  /** Replaces the disk: the database and the uploaded files. */
  storage?: { openDatabase: typeof openDatabase; files: FileStore }
  debug?: DebugSinks | undefined
  /** How long it still takes connections while it is closed, and `/readyz` says no. Source: A-4. */
  lameDuckMs?: number | undefined
  /** Describes this process to a second one that tries to open the same file. */
  holder?: string
}
