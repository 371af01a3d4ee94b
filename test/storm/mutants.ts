/** Changes to the source that break a promise about money, order or durability. A storm must notice each: npm run test:storm -- --mutants */
import type { Change } from './bundle.ts'

interface Mutant {
  readonly name: string
  readonly change: Change
}

const escrow = 'src/market/money/escrow.ts'
const journal = 'src/store/embedded/journal.ts'

export const mutants: readonly Mutant[] = [
  {
    name: 'durability: a batch is not synced',
    change: { file: journal, from: '    await this.#handle.datasync()\n    end.seq', to: '    end.seq' },
  },
  {
    name: 'durability: a write is acknowledged before it is in the journal',
    change: {
      file: journal,
      from: '        await this.#writeBatch(batch)\n',
      to: '        for (const waiter of batch) waiter.done()\n        await this.#writeBatch(batch)\n',
    },
  },
  {
    name: 'durability: what is read need not be durable',
    change: {
      file: 'src/store/embedded/database.ts',
      from: '(!effects && journal.settled)',
      to: '!effects',
    },
  },
  {
    name: 'money: a refund goes to the builder',
    change: {
      file: escrow,
      from: '    from,\n    to: account.available(task.buyerId),',
      to: '    from,\n    to: account.available(task.builderId),',
    },
  },
  {
    name: 'money: a payment that is reversed is paid all the same',
    change: { file: escrow, from: 'const rest = payment.released - amount\n', to: 'const rest = payment.released\n' },
  },
  {
    name: 'money: a payment clears although it has cleared',
    change: {
      file: 'src/store/tables/money/transfers.ts',
      from: "WHERE task_id = $1 AND status = 'clearing'\n       AND ($2 = 1",
      to: 'WHERE task_id = $1\n       AND ($2 = 1',
    },
  },
  {
    name: 'money: a rejected withdrawal is given back from outside',
    change: {
      file: 'src/market/wallet/wallet.ts',
      from: "kind: 'given_back',\n        from: account.payouts,",
      to: "kind: 'given_back',\n        from: account.world,",
    },
  },
  {
    name: 'money: a price that passes the budget of the day by a little is allowed',
    change: {
      file: 'src/market/budgets/spending.ts',
      from: 'if (price > maxDaily - spentToday)',
      to: 'if (price > 2 * (maxDaily - spentToday) + 1)',
    },
  },
  {
    name: 'order: an event need not wait for the one before',
    change: {
      file: 'src/store/tables/webhooks/outbox.ts',
      from: "`CASE WHEN last.position IS NULL THEN 'pending' ELSE 'waiting' END`",
      to: "`'pending'`",
    },
  },
  {
    name: 'order: the last of a queue is sent next',
    change: {
      file: 'src/store/tables/webhooks/outbox.ts',
      from: 'ORDER BY n.position, n.id LIMIT 1)`',
      to: 'ORDER BY n.position DESC, n.id DESC LIMIT 1)`',
    },
  },
  {
    name: 'order: a failed attempt counts as delivered',
    change: {
      file: 'src/market/webhooks/retry-policy.ts',
      from: 'result.ok && result.status >= 200 && result.status < 300',
      to: 'result.ok && result.status >= 200 && result.status < 504',
    },
  },
  {
    name: 'order: a lease is over at once',
    change: {
      file: 'src/market/webhooks/row-leases.ts',
      from: '  const claimedUntil = at.realNow + dispatch.leaseMs',
      to: '  const claimedUntil = at.realNow - 1',
    },
  },
  {
    name: 'once: the answer to a key is forgotten',
    change: {
      file: 'src/market/requests/idempotency.ts',
      from: 'keptSince: now - durations.idempotency.keptMs',
      to: 'keptSince: now + 1',
    },
  },
]
