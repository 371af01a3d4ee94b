/** What every verb is handed. Nothing else is ambient. */
import type { Config } from '../config.ts'
import type { Db, Reader, Tx } from '../store/db.ts'
import type { FileStore } from '../store/files.ts'
import type { UserRow } from '../store/users.ts'
import type { World } from '../world/world.ts'
import type { Log } from './log.ts'

export interface Market {
  readonly db: Db
  readonly files: FileStore
  readonly world: World
  readonly config: Config
  readonly log: Log
}

/** Who calls: an account, and by which credential. */
export interface Actor {
  readonly user: UserRow
  readonly via: 'key' | 'session' | 'signature'
  /** Id of the key, or hash of the session. */
  readonly credential: string
}

interface Shared {
  readonly world: World
  readonly config: Config
  readonly log: Log
}

/** Inside `db.read`. */
export interface ReadCtx extends Shared {
  readonly tx: Reader
}

/** Inside `db.write`. */
export interface Ctx extends Shared {
  readonly tx: Tx
}

export type Acting<C> = C & { readonly actor: Actor }
