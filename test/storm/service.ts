/** One process of the marketplace on a simulated machine. It can be asked, stopped, and killed at any moment. */
import type { Server } from 'node:http'
import { duplexPair } from 'node:stream'
import { dispatch } from '../../src/api/dispatch.ts'
import { type Marketplace, openMarketplace } from '../../src/open/open.ts'
import type { Db } from '../../src/store/db.ts'
import { openSqliteOn, type SqliteDb } from '../../src/store/embedded/database.ts'
import { foldSealed } from '../../src/store/embedded/fold-sealed.ts'
import type { DatabaseOptions } from '../../src/store/open.ts'
import type { Timer, World } from '../../src/world/world.ts'
import { ADMIN } from '../differential/side.ts'
import type { MemoryDisk } from '../store/memory-disk.ts'
import { requestBytes, Wire, type WireAnswer, type WireHeader } from '../support/wire.ts'
import { Broken, type Ground, type Post } from './ground.ts'
import { listening } from './node.ts'

const BASE_URL = 'http://127.0.0.1:4000'
const FILE = '/data/market.db'
/** Small, so that snapshots are made in the middle of a storm. */
const JOURNAL_BYTES = 96 * 1024

export interface ServiceOptions {
  ground: Ground
  /** Opens what it stores in. */
  open(options: DatabaseOptions): Promise<Db>
  /** How far its clock is ahead of the others'. */
  skewMs: () => number
  post: Post
  /** Called if it may not go on: the process ends. */
  onFatal(): void
}

/** Whatever the clocks of two instances say, a lease lasts longer. */
const SURELY_LEASED_MS = dispatch.leaseMs - 20_000

interface State {
  isDead: boolean
  /** A clock that it has stopped goes on without it. */
  runClock(): void
}

export class Service {
  readonly #ground: Ground
  readonly #opened: Marketplace
  readonly #server: Server
  readonly #state: State
  readonly #free: Wire[] = []
  readonly #wires = new Set<Wire>()
  /** What it has logged as an error. */
  readonly errors: string[]

  private constructor(ground: Ground, opened: Marketplace, state: State, errors: string[]) {
    this.#ground = ground
    this.#opened = opened
    this.#state = state
    this.errors = errors
    this.#server = listening().at(-1) as Server
  }

  static async start({ ground, open, skewMs, post, onFatal }: ServiceOptions): Promise<Service> {
    const state: State = { isDead: false, runClock: () => {} }
    const errors: string[] = []
    const opened = await openMarketplace({
      mode: 'dev',
      file: null,
      storage: { openDatabase: async options => watched(await open(options), ground), files: filesOf(ground, state) },
      secretKey: Buffer.alloc(32, 7).toString('base64'),
      baseUrl: BASE_URL,
      payments: 'manual',
      rateLimits: 'strict',
      trustProxy: 1,
      admin: ADMIN,
      world: worldOf(ground, { state, skewMs, post }),
      onFatal: () => void (state.isDead || onFatal()),
      log: line => void (line.type === 'error' && !state.isDead && errors.push(`${line.message} ${line.stack ?? ''}`)),
    })
    return new Service(ground, opened, state, errors)
  }

  get isDead(): boolean {
    return this.#state.isDead
  }

  get db(): Db {
    return this.#opened.market.db
  }

  runDue = () => this.#opened.runDue()

  /** null: the connection ended without an answer, as when it is killed. */
  async exchange(
    method: string,
    target: string,
    headers: readonly WireHeader[],
    body: string | Buffer = '',
  ): Promise<WireAnswer | null> {
    if (this.#state.isDead) return null
    const wire = this.#free.pop() ?? this.#connect()
    void wire.write(requestBytes(method, target, [['host', '127.0.0.1'], ...headers], body))
    const answer = await wire.answer(method === 'HEAD')
    this.#ground.move()
    // A stream goes on for ever.
    if (answer?.headers['content-length'] !== undefined && answer.headers.connection !== 'close') this.#free.push(wire)
    else wire.close()
    return answer
  }

  #connect(): Wire {
    const [near, far] = duplexPair()
    this.#server.emit('connection', Object.assign(far, { remoteAddress: '127.0.0.1' }))
    const wire = new Wire(BASE_URL, near)
    this.#wires.add(wire)
    near.once('close', () => this.#wires.delete(wire))
    return wire
  }

  /** From now on nothing that it does is seen by anybody. */
  kill(): void {
    if (this.#state.isDead) return
    this.#state.isDead = true
    this.#state.runClock()
    for (const wire of this.#wires) wire.close()
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** Gives back what it has of this real machine, once its disk answers no more. */
  async bury(): Promise<void> {
    await this.db.close().catch(() => {})
  }

  /** As after SIGTERM. */
  async stop(): Promise<void> {
    const stopped = this.#opened.close(1_000)
    let ended = false
    void stopped
      .catch(() => {})
      .finally(() => {
        ended = true
      })
    for (let waits = 0; !ended; waits++) {
      if (waits > 60) throw new Broken('it does not stop within a minute')
      await this.#ground.pass(1_000)
    }
    await stopped
    this.kill()
  }
}

function worldOf(
  { world, after, everyHours, move, doubles, flying }: Ground,
  { state, skewMs, post }: { state: State; skewMs: () => number; post: Post },
): World {
  const alive = (work: () => void) => () => {
    if (!state.isDead) work()
  }
  const never = new Promise<never>(() => {})
  return {
    ...world,
    stopClock() {
      state.runClock = world.stopClock()
      return () => state.runClock()
    },
    realNow: () => world.realNow() + skewMs(),
    after: (ms: number, work: () => void): Timer => after(ms, alive(work)),
    everyHours: (hours: number, work: () => void): Timer => everyHours(hours, alive(work)),
    egress: {
      async post(request) {
        if (state.isDead) return never
        move()
        const id = request.headers['X-Service-Delivery-Id'] ?? ''
        const other = flying.get(id)
        if (other && !other.state.isDead && world.realNow() - other.at < SURELY_LEASED_MS) doubles.push(id)
        flying.set(id, { state, at: world.realNow() })
        const result = await world.egress.post(request)
        flying.delete(id)
        move()
        return state.isDead ? never : result
      },
      close: async () => {},
    },
    mail: {
      async send(mail) {
        if (state.isDead) return never
        move()
        return post(mail)
      },
      close: async () => {},
    },
  }
}

/** An upload of a process that has ended is kept nowhere. */
const filesOf = ({ files }: Ground, state: State) => ({
  ...files,
  keep: async (id: string, path: string) => (state.isDead ? undefined : files.keep(id, path)),
  remove: async (id: string) => (state.isDead ? undefined : files.remove(id)),
})

/** Whatever it asks of its database moves. */
function watched(db: Db, { move }: Ground): Db {
  const [read, write] = [db.read.bind(db), db.write.bind(db)]
  const during = <T>(work: Promise<T>): Promise<T> => {
    move()
    return work.finally(move)
  }
  return Object.assign(db, {
    read: (work: Parameters<typeof read>[0]) => during(read(work)),
    write: (work: Parameters<typeof write>[0]) => during(write(work)),
  })
}

const alone = { proof: null, mayWake: false, onLost: () => {}, release: async () => {} }

/** Opens the embedded engine on a simulated disk. The thread that makes snapshots is a call that takes turns with the rest. */
export const openOn = (
  disk: MemoryDisk,
  { onFatal, warn }: Pick<DatabaseOptions, 'onFatal' | 'warn'>,
): Promise<SqliteDb> =>
  openSqliteOn(
    {
      disk,
      fold: name => new Promise<void>(resolve => setImmediate(resolve)).then(() => foldSealed(disk, name)),
      lock: async () => ({ ...alone }),
    },
    { file: FILE, journalBytes: JOURNAL_BYTES, onFatal, ...(warn && { warn }) },
  )
