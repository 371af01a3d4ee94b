// engines: embedded, postgres; process: shared
/** The ledger: each function returns and changes the rows that it names, and no neighbour of theirs. */

import * as assert from 'uvu/assert'
import { ledgerProblems } from '../../src/market/money/ledger.ts'
import type { Tx } from '../../src/store/db.ts'
import {
  balancesOf,
  credit,
  debit,
  dueClearings,
  endClearing,
  entry,
  insertAccounts,
  isClearing,
  ledgerSize,
  reverseSettlement,
  type StatementFilter,
  setReleaseStatus,
  settlementStep,
  statementLength,
  statementOf,
  sumsByKind,
  transfer,
} from '../../src/store/tables/money/transfers.ts'
import { rowsWith, testRows } from './row-effects.ts'

const cleared = { agentId: 'g_3', builderId: 'b', refunded: 0, status: 'final', reversed: 0, clearsAt: 100 }
const idsOf = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => id)
const faultsOf = async (tx: Tx) => {
  const { ok, problems } = await ledgerProblems(tx)
  assert.is(ok, problems.length === 0)
  return problems.sort()
}
const after = (sql: string) => (tx: Tx) => tx.run(sql).then(() => faultsOf(tx))

/** The rows are not those of a life that was lived: some of their books are wrong from the start. */
const usual = [
  'a task is settled while its price is held, or ended without a settlement: t3',
  'a task is settled while its price is held, or ended without a settlement: t4',
  'an account clears another sum than its payments: clearing:a',
  'an account clears another sum than its payments: clearing:b',
  'an account is not the sum of its entries: available:a',
  'an account is not the sum of its entries: available:b',
  'an account is not the sum of its entries: available:c',
  'an account is not the sum of its entries: clearing:b',
  'an account is not the sum of its entries: held:c',
  'an account is not the sum of its entries: world',
  'payouts holds another sum than the withdrawals that wait: payouts',
  'the world owes another sum than what has come in and not gone out: world',
]

const madeTransfer = (
  fields: Partial<Parameters<typeof transfer>[0]> & Pick<Parameters<typeof transfer>[0], 'kind' | 'status'>,
) =>
  transfer({
    id: 'y1',
    payerId: null,
    payeeId: null,
    amount: 5,
    taskId: null,
    description: 'd',
    createdAt: 70,
    ...fields,
  })

const own = (userId: string, type: StatementFilter['type']): StatementFilter => ({
  ...{ userId, type, direction: null, taskId: null, from: null, to: null },
})

testRows('rows of the ledger', {
  "accounts of money: never below zero but the world's": [
    [
      tx => insertAccounts(tx, 'd'),
      3,
      [
        '+ accounts available:d {"id":"available:d","user_id":"d","kind":"available","balance":0}',
        '+ accounts clearing:d {"id":"clearing:d","user_id":"d","kind":"clearing","balance":0}',
        '+ accounts held:d {"id":"held:d","user_id":"d","kind":"held","balance":0}',
      ],
    ],
    [tx => tx.runAll([debit('available:a', 500)]), [true], ['accounts available:a: balance 500 → 0']],
    [tx => tx.runAll([debit('available:a', 501)]), [false]],
    [tx => tx.runAll([debit('world', 501)]), [true], ['accounts world: balance -5000 → -5501']],
    [tx => tx.runAll([credit('held:c', 5)]), [true], ['accounts held:c: balance 1200 → 1205']],
    [
      tx =>
        tx.runAll([
          entry({
            legId: 'x9',
            kind: 'hold',
            debitedId: 'available:a',
            creditedId: 'held:a',
            amount: 7,
            createdAt: 70,
          }),
        ]),
      [true],
      [
        '+ entries x9 {"leg_id":"x9","kind":"hold","debited_id":"available:a","credited_id":"held:a","amount":7,"created_at":70}',
      ],
    ],
    [
      tx => balancesOf(tx, 'c'),
      [
        { kind: 'available', balance: 2000 },
        { kind: 'held', balance: 1200 },
      ],
    ],
    [
      tx => balancesOf(tx, 'b'),
      [
        { kind: 'available', balance: 600 },
        { kind: 'clearing', balance: 700 },
        { kind: 'held', balance: 0 },
      ],
    ],
    [
      tx => sumsByKind(tx),
      [
        { kind: 'available', cents: 3100 },
        { kind: 'clearing', cents: 700 },
        { kind: 'held', cents: 1200 },
        { kind: 'payouts', cents: 0 },
        { kind: 'platform', cents: 0 },
        { kind: 'world', cents: -5000 },
      ],
    ],
    [tx => ledgerSize(tx), { accounts: 11, entries: 3 }],
  ],
  'transfers: payments are counted, releases change with their task': [
    [
      tx => tx.runAll(madeTransfer({ kind: 'deposit', payeeId: 'c', status: 'pending' })),
      [true, true],
      [
        '+ transfers y1 {"id":"y1","kind":"deposit","payee_id":"c","amount":5,"status":"pending","description":"d","created_at":70}',
        'tallies deposit pending/1: count 3 → 4',
      ],
    ],
    [
      tx => tx.runAll(madeTransfer({ kind: 'withdrawal', payerId: 'a', status: 'completed' })),
      [true, true],
      [
        '+ transfers y1 {"id":"y1","kind":"withdrawal","payer_id":"a","amount":5,"status":"completed","description":"d","created_at":70}',
        'tallies withdrawal completed/1: count 21 → 22',
      ],
    ],
    [
      tx => tx.runAll(madeTransfer({ kind: 'hold', payerId: 'a', payeeId: 'a', taskId: 't2', status: 'completed' })),
      [true],
      [
        '+ transfers y1 {"id":"y1","kind":"hold","payer_id":"a","payee_id":"a","amount":5,"task_id":"t2","status":"completed","description":"d","created_at":70}',
      ],
    ],
    [
      tx => tx.runAll(madeTransfer({ kind: 'deposit', payeeId: 'c', status: 'rejected' })),
      [true],
      [
        '+ transfers y1 {"id":"y1","kind":"deposit","payee_id":"c","amount":5,"status":"rejected","description":"d","created_at":70}',
      ],
    ],
    [tx => setReleaseStatus(tx, 't5', 'completed'), 1, ['transfers x8: status clearing → completed']],
  ],
  'settlements: clearing ends once, is taken back once': [
    [
      tx =>
        tx.runAll([
          settlementStep({
            taskId: 't2',
            builderId: 'a',
            released: 200,
            refunded: 100,
            status: 'clearing',
            clearsAt: 90,
            createdAt: 70,
          }),
        ]),
      [true],
      [
        '+ settlements t2 {"task_id":"t2","builder_id":"a","released":200,"refunded":100,"status":"clearing","reversed":0,"clears_at":90,"created_at":70}',
      ],
    ],
    [
      tx => endClearing(tx, 't5', 0),
      { taskId: 't5', released: 600, createdAt: 50, ...cleared },
      ['settlements t5: status clearing → final'],
    ],
    [tx => endClearing(tx, 't4', 0), undefined],
    [
      tx => endClearing(tx, 't4', 1),
      { taskId: 't4', released: 500, createdAt: 40, ...cleared },
      ['settlements t4: status clearing → final'],
    ],
    [tx => endClearing(tx, 't6', 1), undefined],
    [tx => reverseSettlement(tx, 't5', 600), 1, ['settlements t5: released 600 → 0, refunded 0 → 600, reversed 0 → 1']],
    [tx => reverseSettlement(tx, 't5', 601), 0],
    [tx => reverseSettlement(tx, 't8', 10), 0],
    [tx => isClearing(tx, 't5'), true],
    [tx => isClearing(tx, 't6'), false],
    [
      tx => dueClearings(tx, 100, null, 10),
      [
        { taskId: 't5', clearsAt: 100 },
        { taskId: 't7', clearsAt: 100 },
      ],
    ],
    [tx => dueClearings(tx, 99, null, 10), []],
    [
      tx => dueClearings(tx, 110, null, 2),
      [
        { taskId: 't5', clearsAt: 100 },
        { taskId: 't7', clearsAt: 100 },
      ],
    ],
    [
      tx => dueClearings(tx, 110, { taskId: 't5', clearsAt: 100 }, 10),
      [
        { taskId: 't7', clearsAt: 100 },
        { taskId: 't3', clearsAt: 110 },
      ],
    ],
    [tx => dueClearings(tx, 110, { taskId: 't0', clearsAt: 101 }, 10), [{ taskId: 't3', clearsAt: 110 }]],
  ],
  "statements: both sides of what is one's own, newest first": [
    [
      tx => statementOf(tx, own('c', null), 20, 0),
      rowsWith(
        'id amount taskId description createdAt status type',
        ['xb', 16000, null, 'a description', 96, 'completed', 'deposit'],
        ['x9', 700, 't6', 'a description', 90, 'completed', 'refund'],
        ['x8', 600, 't5', 'a description', 80, 'completed', 'release'],
        ['x7', 600, 't5', 'a description', 70, 'completed', 'hold'],
        ['x3', 4000, null, 'a description', 30, 'rejected', 'deposit'],
        ['x2', 2000, null, 'a description', 20, 'pending', 'deposit'],
        ['x1', 1000, null, 'a description', 10, 'completed', 'deposit'],
      ),
    ],
    [tx => statementOf(tx, own('c', null), 2, 1).then(idsOf), ['x9', 'x8']],
    [
      tx => statementOf(tx, own('b', null), 20, 0),
      rowsWith(
        'id amount taskId description createdAt status type',
        ['xa_earning', 300, 't8', 'a description', 95, 'reversed', 'earning'],
        ['xa', 900, 't8', 'a description', 95, 'completed', 'release'],
        ['x8_earning', 600, 't5', 'a description', 80, 'clearing', 'earning'],
        ['x6', 200, null, 'a description', 60, 'completed', 'withdrawal'],
        ['x4', 8000, null, 'a description', 40, 'pending', 'deposit'],
      ),
    ],
    [
      tx => statementOf(tx, own('a', null), 20, 0),
      [
        {
          id: 'x5',
          amount: 100,
          taskId: null,
          description: 'a description',
          createdAt: 50,
          status: 'pending',
          type: 'withdrawal',
        },
      ],
    ],
    [tx => statementOf(tx, own('b', 'earning'), 20, 0).then(idsOf), ['xa_earning', 'x8_earning']],
    [tx => statementOf(tx, own('b', 'earning'), 1, 1).then(idsOf), ['x8_earning']],
    [tx => statementOf(tx, own('c', 'deposit'), 20, 0).then(idsOf), ['xb', 'x3', 'x2', 'x1']],
    [tx => statementOf(tx, own('c', 'refund'), 20, 0).then(idsOf), ['x9']],
    [tx => statementOf(tx, own('c', 'release'), 20, 0).then(idsOf), ['x8']],
    [tx => statementOf(tx, own('c', 'hold'), 20, 0).then(idsOf), ['x7']],
    [tx => statementOf(tx, own('b', 'withdrawal'), 20, 0).then(idsOf), ['x6']],
    [tx => statementOf(tx, { ...own('c', null), taskId: 't5' }, 9, 0).then(idsOf), ['x8', 'x7']],
    [tx => statementOf(tx, { ...own('b', null), taskId: 't5' }, 9, 0).then(idsOf), ['x8_earning']],
    [tx => statementOf(tx, { ...own('a', null), taskId: 't5' }, 9, 0), []],
    [tx => statementOf(tx, { ...own('c', null), direction: 'in' }, 9, 0).then(idsOf), ['xb', 'x9', 'x3', 'x2', 'x1']],
    [tx => statementOf(tx, { ...own('c', null), direction: 'out' }, 9, 0).then(idsOf), ['x8']],
    [tx => statementOf(tx, { ...own('c', null), direction: 'held' }, 9, 0).then(idsOf), ['x7']],
    [tx => statementOf(tx, { ...own('c', 'hold'), direction: 'in' }, 9, 0), []],
    [tx => statementLength(tx, { ...own('c', 'hold'), direction: 'in' }), 0],
    [tx => statementOf(tx, { ...own('c', null), from: 70, to: 90 }, 9, 0).then(idsOf), ['x8', 'x7']],
    [tx => statementOf(tx, { ...own('c', 'deposit'), to: 30 }, 9, 0).then(idsOf), ['x2', 'x1']],
    [tx => statementLength(tx, { ...own('c', null), from: 70, to: 90 }), 2],
    [tx => statementLength(tx, own('c', null)), 7],
    [tx => statementLength(tx, own('b', null)), 5],
    [tx => statementLength(tx, own('b', 'earning')), 2],
    [tx => statementLength(tx, own('c', 'deposit')), 4],
    [
      tx =>
        tx
          .run(`UPDATE settlements SET released = 0 WHERE task_id = 't8'`)
          .then(() => statementOf(tx, own('b', 'earning'), 1, 0))
          .then(rows => rows[0]?.amount),
      900,
      ['settlements t8: released 300 → 0'],
    ],
    [
      tx =>
        tx
          .run(`UPDATE settlements SET reversed = 1, released = 7 WHERE task_id = 't5'`)
          .then(() => statementOf(tx, own('b', 'earning'), 1, 1))
          .then(rows => rows[0]?.amount),
      7,
      ['settlements t5: released 600 → 7, reversed 0 → 1'],
    ],
  ],
  'the ledger: each fault is found where it is': [
    [tx => faultsOf(tx), usual],
    [
      after(`UPDATE accounts SET balance = balance + 1 WHERE id = 'held:c'`),
      [
        ...usual,
        'an account holds another sum than its open tasks: held:c',
        'the accounts do not sum to zero: all accounts',
      ].sort(),
      ['accounts held:c: balance 1200 → 1201'],
    ],
    [
      after(`UPDATE settlements SET refunded = 1 WHERE task_id = 't5'`),
      [
        'a settlement does not add up to the agreed price: t5',
        'the sums of work are not those of the tasks: v1 000000',
        ...usual,
      ].sort(),
      ['settlements t5: refunded 0 → 1'],
    ],
    [
      after(`DELETE FROM settlements WHERE task_id = 't5'`),
      [
        ...usual,
        'a task is settled while its price is held, or ended without a settlement: t5',
        'the sums of work are not those of the tasks: g_3',
      ].sort(),
      ['− settlements t5'],
    ],
    // What has come in, 17,000, less what has gone out, 200.
    [
      after(`UPDATE accounts SET balance = -16800 WHERE id = 'world'`),
      [...usual, 'the accounts do not sum to zero: all accounts']
        .filter(fault => !fault.startsWith('the world owes'))
        .sort(),
      ['accounts world: balance -5000 → -16800'],
    ],
    [
      after(`UPDATE accounts SET balance = 100 WHERE id = 'payouts'`),
      [...usual, 'an account is not the sum of its entries: payouts', 'the accounts do not sum to zero: all accounts']
        .filter(fault => !fault.startsWith('payouts holds'))
        .sort(),
      ['accounts payouts: balance 0 → 100'],
    ],
    [
      after(`UPDATE accounts SET balance = 1 WHERE id = 'platform'`),
      [
        ...usual,
        'an account is not the sum of its entries: platform',
        'platform holds money, although there is no fee: platform',
        'the accounts do not sum to zero: all accounts',
      ].sort(),
      ['accounts platform: balance 0 → 1'],
    ],
  ],
})
