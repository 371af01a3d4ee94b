/** What happens at the same moment: each row takes away what lets one request wait for another. */
import type { Edit, Row } from './row.ts'

const onPostgres = { engine: 'postgres' } as const
const race = (name: string) => `market/tasks/races: ${name}`
const unconditional: Edit = [
  'store/tables/tasks/tasks.ts',
  '{ id, status: from, disputed: wasDisputed },',
  '{ id, disputed: wasDisputed },',
]

export const races: readonly Row[] = [
  [
    'Postgres: of two requests about one task the second waits, or finds the state changed',
    race('submit ‖ submit'),
    'store/postgres/transaction.ts',
    ' FOR NO KEY UPDATE`',
    '`',
    { ...onPostgres, also: [unconditional] },
  ],
  [
    'Embedded: one write at a time',
    race('cancel ‖ accept'),
    'store/embedded/database.ts',
    'const next = this.#waiting.shift()\n    if (next) next.go()\n    else this.#busy = false',
    'for (const next of this.#waiting.splice(0)) next.go()\n    this.#busy = false',
  ],
  [
    'Money for one submit is held for one',
    race('two submits and more on money for one'),
    'store/tables/money/transfers.ts',
    " AND (kind = 'world' OR balance >= $2)",
    '',
  ],
  [
    'Postgres: a payment does not clear beside its dispute',
    ['market/held-rows: a payment does not clear while a dispute', race('clearing ‖ dispute')],
    'store/tables/money/transfers.ts',
    "($2 = 1 OR NOT EXISTS (SELECT 1 FROM disputes d WHERE d.task_id = $1 AND d.status = 'open'))",
    '$2 >= 0',
    onPostgres,
  ],
]
