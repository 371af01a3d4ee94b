/** Figures about the whole marketplace, for its operator. Source: A-7. */
import type { EngineFigures, Fill, Reader } from '../../store/db.ts'
import { sumsByKind } from '../../store/tables/money/transfers.ts'
import { type Queue, queuesNow } from '../../store/tables/upkeep/queues.ts'
import { type Kept, keptKinds, oldestOf } from '../../store/tables/upkeep/retention.ts'
import { mostBytes } from '../../store/tables/upkeep/usage.ts'
import { outboxDepth } from '../../store/tables/webhooks/outbox.ts'
import { hashesWaiting } from '../accounts/passwords.ts'
import { ListingCache } from '../agents/listing-cache.ts'
import type { Market } from '../market.ts'
import { filesWhole, quotaOf } from '../room.ts'
import { keptSince } from './retention.ts'

export interface Figures {
  /** Webhooks by state: `pending` are next for their task, `waiting` come after another of the same task. */
  readonly outbox: Readonly<Record<'pending' | 'waiting', number>>
  /** Age of the oldest of them; 0 if there is none. */
  readonly oldestSeconds: number
  readonly queues: Readonly<
    Record<Exclude<Queue, 'webhooks'>, { readonly count: number; readonly oldestSeconds: number }>
  >
  readonly database: EngineFigures & { readonly engine: 'embedded' | 'postgres'; readonly waiting: number }
  /** null on Postgres if its operator has set no limit. */
  readonly fill: Fill | null
  /** Cents by kind of account. */
  readonly ledger: Readonly<Record<string, number>>
  /** By kind of row: for how many seconds the oldest one should have been deleted; negative while it has time left. */
  readonly overdueSeconds: Readonly<Partial<Record<Kept, number>>>
  /** The bytes of files of the account that has most, and the quota of one account; those of all, and their limit. */
  readonly fileBytes: Readonly<Record<'most' | 'quota' | 'all' | 'limit', number>>
  /** The bytes of texts of the account that has most, and the quota of one account. */
  readonly textBytes: { readonly most: number; readonly quota: number }
  /** By kind of cached data. */
  readonly cacheBytes: Readonly<Record<string, number>>
  /** Passwords that wait to be hashed in this process. */
  readonly hashesWaiting: number
}

export const readFigures = ({
  db,
  world,
  config,
  memory,
}: Omit<Market, 'files' | 'log' | 'webhooks'>): Promise<Figures> =>
  db.read(async q => {
    const outbox = { pending: 0, waiting: 0 }
    let oldest = world.now()
    for (const { state, count, oldestAt } of await outboxDepth(q)) {
      outbox[state] = count
      oldest = Math.min(oldest, oldestAt)
    }
    const ledger = Object.fromEntries((await sumsByKind(q)).map(({ kind, cents }) => [kind, cents]))
    const files = await filesWhole({ tx: q, config, memory, world })
    return {
      outbox,
      oldestSeconds: (world.now() - oldest) / 1000,
      queues: await queuesOf(q, world.now()),
      database: { ...db.figures(), engine: db.shared ? 'postgres' : 'embedded', waiting: db.waiting },
      fill: db.fill,
      ledger,
      overdueSeconds: await overdue(q, keptSince({ world, config })),
      fileBytes: {
        most: await mostBytes(q, 'file_usage'),
        quota: quotaOf(config, 'file_usage'),
        all: files.bytes,
        limit: files.limit,
      },
      textBytes: { most: await mostBytes(q, 'text_usage'), quota: quotaOf(config, 'text_usage') },
      cacheBytes: memory.of(ListingCache).bytes(),
      hashesWaiting: hashesWaiting(),
    }
  })

/** The webhooks are told of by state. */
async function queuesOf(q: Reader, now: number) {
  const found = (await queuesNow(q)).filter(({ queue }) => queue !== 'webhooks')
  return Object.fromEntries(
    found.map(({ queue, count, oldestAt }) => [queue, { count, oldestSeconds: (now - (oldestAt ?? now)) / 1000 }]),
  ) as Figures['queues']
}

/** Each query reads one end of an index. */
async function overdue(q: Reader, since: Readonly<Record<Kept, number>>): Promise<Figures['overdueSeconds']> {
  const found = await Promise.all(keptKinds.map(kind => oldestOf(q, kind)))
  return Object.fromEntries(
    keptKinds.flatMap((kind, at) => (found[at] == null ? [] : [[kind, (since[kind] - found[at]) / 1000]])),
  )
}
