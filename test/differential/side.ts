/** One marketplace on one engine: time and chance in hand, its webhooks answered here, its answers under shared names. */
import { setImmediate as turn } from 'node:timers/promises'
import { durations, heartbeat } from '../../src/api/limits.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { type Marketplace, openMarketplace } from '../../src/open/open.ts'
import type { PostgresOptions } from '../../src/store/postgres/database.ts'
import { createVirtualWorld, recordingEgress, type VirtualWorld } from '../../src/world/virtual.ts'
import type { Timer } from '../../src/world/world.ts'
import { Connections } from './connections.ts'
import { Names } from './names.ts'
import { type Heard, sinkOf } from './sink.ts'

const BASE_URL = 'http://127.0.0.1:4000'
export const ADMIN = { email: 'admin@example.com', password: 'the admin of a test' }

export interface Side {
  readonly engine: string
  readonly names: Names
  readonly world: VirtualWorld
  readonly market: Marketplace['market']
  /** Webhooks and callbacks since this was last emptied. */
  readonly heard: Heard[]
  /** What a person or an operator would have read: mails, and every error. */
  readonly mails: { to: string; subject: string; text: string }[]
  readonly errors: string[]
  /** By the name of the agent. */
  readonly secrets: Map<string, string>
  exchange: Connections['exchange']
  runDue(): Promise<void>
  /** Resolves when nothing is under way in this side: no transaction, no webhook. */
  settled(): Promise<void>
  close(): Promise<void>
}

export async function openSide(engine: string, seed: string, postgres?: PostgresOptions): Promise<Side> {
  const names = new Names()
  const heard: Heard[] = []
  const mails: Side['mails'] = []
  const errors: string[] = []
  const secrets = new Map<string, string>()
  const underWay = counter()
  const answer = sinkOf({
    names,
    heard,
    secrets,
    exchange: (...request) => connections.exchange(...request),
    now: () => base.realNow(),
  })
  const base = createVirtualWorld({
    seed: `${seed} on ${engine}`,
    egress: recordingEgress(request => underWay.during(answer(request))),
  })
  const world = {
    ...base,
    // Jitter would depend on which of two webhooks was drawn for first.
    chance: () => 0.5,
    // Real time stands still, and would while a test waits for a callback that never comes.
    after: (ms: number, work: () => void) => (callbackWaits.includes(ms) ? soon(work) : base.after(ms, work)),
  }
  const log = (line: LogEntry) => {
    if (line.type === 'error') errors.push(`${line.message} ${line.stack ?? ''}`)
    if (line.type === 'mail' && line.mail) mails.push(line.mail)
  }
  const opened = await openMarketplace({
    mode: 'dev',
    file: null,
    ...(postgres && { postgres }),
    secretKey: Buffer.alloc(32, 7).toString('base64'),
    baseUrl: BASE_URL,
    payments: 'manual',
    rateLimits: 'strict',
    trustProxy: 1,
    // One at a time: the order in which several end is up to the machine.
    heartbeatBatch: 1,
    admin: ADMIN,
    world,
    log,
  })
  const { db } = opened.market
  const [read, write] = [db.read.bind(db), db.write.bind(db)]
  Object.assign(db, {
    read: (work: Parameters<typeof read>[0]) => underWay.during(read(work)),
    write: (work: Parameters<typeof write>[0]) => underWay.during(write(work)),
  })

  const connections = new Connections(opened.url)

  return {
    engine,
    names,
    world: base,
    market: opened.market,
    heard,
    mails,
    errors,
    secrets,
    exchange: connections.exchange,
    runDue: opened.runDue,
    async settled() {
      for (let quiet = 0; quiet < 2; quiet = underWay.count === 0 ? quiet + 1 : 0) {
        await turn()
      }
    },
    async close() {
      connections.close()
      await opened.close(0)
    },
  }
}

/** How long a test waits for a callback, at other times and while the clock is moved. */
const callbackWaits: readonly number[] = [durations.testCallbackMs, heartbeat.hurriedCallbackMs]

function soon(work: () => void): Timer {
  const timer = setImmediate(work)
  return { cancel: () => clearImmediate(timer) }
}

/** Counts what has begun and not ended. */
function counter() {
  return {
    count: 0,
    async during<T>(work: Promise<T>): Promise<T> {
      this.count++
      try {
        return await work
      } finally {
        this.count--
      }
    },
  }
}
