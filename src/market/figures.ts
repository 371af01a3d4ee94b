/** Numbers about the whole marketplace, for whoever runs it. Source: D7. */
import { countMails } from '../store/mails.ts'
import { outboxDepth } from '../store/outbox.ts'
import { sumsByKind } from '../store/transfers.ts'
import type { Market } from './market.ts'

export interface Figures {
  /** Webhooks by state: those whose turn it is, and those behind them. */
  readonly outbox: Readonly<Record<'pending' | 'waiting', number>>
  /** Since the oldest of them was written; 0 if there is none. */
  readonly oldestSeconds: number
  readonly mailsWaiting: number
  /** Cents by kind of account. */
  readonly ledger: Readonly<Record<string, number>>
}

export const readFigures = ({ db, world }: Pick<Market, 'db' | 'world'>): Promise<Figures> =>
  db.read(async q => {
    const outbox = { pending: 0, waiting: 0 }
    let oldest = world.now()
    for (const { state, count, oldestAt } of await outboxDepth(q)) {
      outbox[state] = count
      oldest = Math.min(oldest, oldestAt)
    }
    const ledger = Object.fromEntries((await sumsByKind(q)).map(({ kind, cents }) => [kind, cents]))
    return { outbox, oldestSeconds: (world.now() - oldest) / 1000, mailsWaiting: await countMails(q), ledger }
  })
