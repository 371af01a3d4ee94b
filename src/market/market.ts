/** What every verb receives. Verbs use no global state. */
import type { Config } from '../settings/config.ts'
import type { Db, Reader, Tx } from '../store/db.ts'
import type { FileStore } from '../store/files/file-store.ts'
import type { UserRow } from '../store/tables/accounts/users.ts'
import type { HiringTermsRow } from '../store/tables/tasks/hiring-terms.ts'
import type { TaskRow } from '../store/tables/tasks/tasks.ts'
import type { World } from '../world/world.ts'
import type { Faults } from './faults.ts'
import type { Log } from './log.ts'
import type { Recording } from './recording.ts'
import type { KeyFile } from './sealing.ts'
import { WebhookOutlet } from './webhook-outlet.ts'

/** What a marketplace is made of. */
export interface Resources {
  readonly db: Db
  readonly files: FileStore
  readonly world: World
  readonly config: Config
  readonly log: Log
  /** null in a deployment. */
  readonly recording: Recording | null
  /** null in a deployment. */
  readonly faults: Faults | null
  /** null if the key that seals secrets is given from outside. */
  readonly keyFile: KeyFile | null
}

export interface Market extends Resources {
  readonly webhooks: WebhookOutlet
  readonly memory: Memory
  readonly background: Background
  /** Resolves when no webhook is due, nothing is in flight and no callback is being served. */
  settled(): Promise<void>
}

export function createMarket(
  resources: Omit<Resources, 'recording' | 'faults' | 'keyFile'> & Partial<Resources>,
): Market {
  const background = new Background()
  const settled = () => background.settled()
  return {
    recording: null,
    faults: null,
    keyFile: null,
    ...resources,
    webhooks: new WebhookOutlet(),
    memory: new Memory(),
    background,
    settled,
  }
}

/** Who calls: an account, and by which credential. */
export interface Actor {
  readonly user: UserRow
  readonly via: 'key' | 'session' | 'signature'
  /** Id of the key, or hash of the session. */
  readonly credential: string
}

/** The client that sent a request. */
export interface Caller {
  /** The client's address as rate limits know it: IPv4, or the /64 network of an IPv6 one. */
  readonly address: string
  readonly userAgent?: string | undefined
  /** Aborted when the client disconnects before its response. Then throw its reason. */
  readonly gone?: AbortSignal
}

/** For a verb that runs outside any transaction and opens its own. */
export interface OwnCtx extends Market {
  /** undefined: the marketplace itself. */
  readonly caller?: Caller | undefined
  readonly requestId?: string | undefined
}

interface Shared extends Pick<Market, 'world' | 'config' | 'log' | 'webhooks' | 'memory' | 'recording' | 'faults'> {
  /** undefined: no request, but the marketplace itself. */
  readonly requestId?: string | undefined
  readonly prefetched?: Prefetched | null
}

/** Inside `db.read`. */
export interface ReadCtx extends Shared {
  readonly tx: Reader
  /** Only to ask how full the database is. */
  readonly db: Pick<Db, 'fill'>
}

/** Inside `db.write`. */
export interface Ctx extends Shared {
  readonly tx: Tx
  /** Only to ask how full the database is. Everything else goes through `tx`. */
  readonly db: Pick<Db, 'isFull' | 'fill'>
}

/**
 * Rows that were queried before the verb runs. Each is handed out once; undefined if it was not queried or is used already.
 */
export interface Prefetched {
  /** `locked`: only if the transaction has locked the task. */
  task(id: string, locked: boolean): Promise<TaskRow | undefined> | undefined
  /** The agent of that task, locked. */
  agent(taskId: string): Promise<HiringTermsRow | undefined> | undefined
}

export type Acting<C> = C & { readonly actor: Actor }

interface BackgroundWork {
  /** Does what is due now. */
  run(): Promise<void>
  /** Resolves when no webhook is due, nothing is in flight and no callback is being served. */
  settled(): Promise<void>
}

/** Passes calls to the work. Until it is attached, nothing is done. */
class Background implements BackgroundWork {
  /** True while the simulator's clock is moved: then a heartbeat waits less long for a callback. Source. */
  isHurried = false
  #work: BackgroundWork | null = null

  attach(work: BackgroundWork): void {
    this.#work = work
  }

  async run(): Promise<void> {
    await this.#work?.run()
  }

  async settled(): Promise<void> {
    await this.#work?.settled()
  }
}

/** What one running marketplace keeps in memory: one instance of each class, made when it is first asked for. @internal Tests make their own. */
export class Memory {
  readonly #parts = new Map<unknown, unknown>()

  of<Part>(kind: new () => Part): Part {
    const known = this.#parts.get(kind) as Part | undefined
    if (known) return known
    const part = new kind()
    this.#parts.set(kind, part)
    return part
  }
}
