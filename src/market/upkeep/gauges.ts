/** Numbers about the whole marketplace, for whoever runs it. Source: A-7. */
import type { Fill, Reader } from '../../store/db.ts'
import { countMails } from '../../store/tables/mails.ts'
import { outboxDepth } from '../../store/tables/outbox.ts'
import { type Kept, keptKinds, oldestOf } from '../../store/tables/retention.ts'
import { sumsByKind } from '../../store/tables/transfers.ts'
import { mostBytes } from '../../store/tables/usage.ts'
import { hashesWaiting } from '../accounts/passwords.ts'
import { ListingCache } from '../agents/listing-cache.ts'
import type { Market } from '../market.ts'
import { MIB } from '../mib.ts'
import { keptSince } from './retention.ts'

export interface Figures {
  /** Webhooks by state: those whose turn it is, and those behind them. */
  readonly outbox: Readonly<Record<'pending' | 'waiting', number>>
  /** Since the oldest of them was written; 0 if there is none. */
  readonly oldestSeconds: number
  readonly mailsWaiting: number
  /** null where the database has the room of a server. */
  readonly fill: Fill | null
  /** Cents by kind of account. */
  readonly ledger: Readonly<Record<string, number>>
  /** By how many seconds the oldest row of what is kept for a time alone is past it; negative, if it has time left. */
  readonly overdueSeconds: Readonly<Partial<Record<Kept, number>>>
  /** Of the account whose files take most, and what one may have. */
  readonly fileBytes: { readonly most: number; readonly quota: number }
  /** Of the account that has written most, and what one may have. */
  readonly textBytes: { readonly most: number; readonly quota: number }
  /** By what they hold. */
  readonly cacheBytes: Readonly<Record<string, number>>
  /** Passwords that wait for their turn in this process. */
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
    return {
      outbox,
      oldestSeconds: (world.now() - oldest) / 1000,
      mailsWaiting: await countMails(q),
      fill: db.fill,
      ledger,
      overdueSeconds: await overdue(q, keptSince({ world, config })),
      fileBytes: { most: await mostBytes(q, 'file_usage'), quota: config.keeping.fileMiB * MIB },
      textBytes: { most: await mostBytes(q, 'text_usage'), quota: config.keeping.textMiB * MIB },
      cacheBytes: memory.of(ListingCache).bytes(),
      hashesWaiting: hashesWaiting(),
    }
  })

/** Each is found at one end of an index. */
async function overdue(q: Reader, since: Readonly<Record<Kept, number>>): Promise<Figures['overdueSeconds']> {
  const found = await Promise.all(keptKinds.map(kind => oldestOf(q, kind)))
  return Object.fromEntries(
    keptKinds.flatMap((kind, at) => (found[at] == null ? [] : [[kind, (since[kind] - found[at]) / 1000]])),
  )
}
