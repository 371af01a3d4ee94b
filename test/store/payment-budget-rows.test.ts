// engines: embedded, postgres; process: shared
/** Payments and budgets: each function returns and changes the rows that it names, and no neighbour of theirs. */
import { durations } from '../../src/api/limits.ts'
import {
  allowedCategoriesOf,
  budgetById,
  budgetsOf,
  countActive,
  countBudgetsOf,
  deleteBudget,
  insertBudget,
  type NewBudget,
  setAllowedCategories,
  setBudgetStatus,
  updateBudget,
} from '../../src/store/tables/money/budgets.ts'
import {
  countDecision,
  countPayments,
  decidePayment,
  depositedSince,
  listPayments,
  paymentById,
} from '../../src/store/tables/money/payments.ts'
import { testRows } from './row-effects.ts'

const DAY = durations.dayMs
const idsOf = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => id)

const maxima = { maxPerTask: 200, maxDaily: 300, maxMonthly: 400 }
const budget: NewBudget = { id: 'v9', ownerId: 'b', agentId: 'g_3', ...maxima, status: 'active', createdAt: 70 }

testRows('rows of payments and budgets', {
  'payments: listed by kind and status, decided once': [
    [tx => paymentById(tx, 'deposit', 'x2'), row => row('transfers x2')],
    [tx => paymentById(tx, 'withdrawal', 'x2'), undefined],
    [tx => listPayments(tx, 'deposit', null, 10, 0).then(idsOf), ['x1', 'x2', 'x3', 'x4', 'xb']],
    [tx => listPayments(tx, 'deposit', null, 2, 1).then(idsOf), ['x2', 'x3']],
    [tx => listPayments(tx, 'deposit', 'pending', 10, 0).then(idsOf), ['x2', 'x4']],
    [tx => listPayments(tx, 'deposit', 'completed', 1, 1).then(idsOf), ['xb']],
    [tx => listPayments(tx, 'withdrawal', null, 10, 0).then(idsOf), ['x5', 'x6']],
    [tx => countPayments(tx, 'deposit', null), 16],
    [tx => countPayments(tx, 'deposit', 'rejected'), 8],
    [tx => countPayments(tx, 'withdrawal', null), 34],
    [
      tx => decidePayment(tx, 'deposit', 'x2', 'completed', 70),
      row => ({ ...row('transfers x2'), status: 'completed', decidedAt: 70 }),
      ['transfers x2: status pending → completed, decided_at null → 70'],
    ],
    [tx => decidePayment(tx, 'withdrawal', 'x2', 'completed', 70), undefined],
    [tx => decidePayment(tx, 'deposit', 'x1', 'rejected', 70), undefined],
    [
      tx =>
        countDecision(tx, {
          id: 'x2',
          kind: 'deposit',
          status: 'rejected',
          payerId: null,
          payeeId: 'c',
          amount: 1,
          taskId: null,
          description: '',
          createdAt: 0,
          decidedAt: null,
          reason: null,
        }),
      [[true], [true]],
      [
        '+ tallies deposit pending/2 {"name":"deposit pending","slot":2,"count":-1}',
        '+ tallies deposit rejected/2 {"name":"deposit rejected","slot":2,"count":1}',
      ],
    ],
    [tx => depositedSince(tx, 'c', 10), 19000],
    [tx => depositedSince(tx, 'c', 11), 18000],
    [tx => depositedSince(tx, 'a', 0), 0],
  ],
  'budgets: what is spent of them since the day and the month began': [
    [
      tx => budgetById(tx, 'v1', { day: DAY, month: 0 }),
      row => ({
        ...row('budget_authorizations v1'),
        ...{ builderId: 'a', spentToday: 0, spentThisMonth: 1400, agentSlug: 'one', agentName: 'a name' },
      }),
    ],
    [
      tx =>
        budgetById(tx, 'v1', { day: DAY - 1, month: DAY }).then(found => [found?.spentToday, found?.spentThisMonth]),
      [1400, 0],
    ],
    [
      tx => budgetById(tx, 'v2', { day: 0, month: 0 }).then(found => [found?.spentToday, found?.spentThisMonth]),
      [100, 100],
    ],
    [tx => budgetById(tx, 'v0', { day: 0, month: 0 }), undefined],
    [tx => budgetsOf(tx, 'owner', 'c', { day: 0, month: 0 }, 10, 0).then(idsOf), ['v1', 'v2', 'v3']],
    [tx => budgetsOf(tx, 'owner', 'c', { day: 0, month: 0 }, 1, 1).then(idsOf), ['v2']],
    [tx => budgetsOf(tx, 'agent', 'b', { day: 0, month: 0 }, 10, 0).then(idsOf), ['v2', 'v3']],
    [tx => budgetsOf(tx, 'agent', 'a', { day: 0, month: 0 }, 10, 0).then(idsOf), ['v1', 'v4']],
    [tx => countBudgetsOf(tx, 'owner', 'c'), 3],
    [tx => countBudgetsOf(tx, 'agent', 'b'), 2],
    [
      tx => insertBudget(tx, budget),
      1,
      [
        '+ budget_authorizations v9 {"id":"v9","owner_id":"b","agent_id":"g_3","max_per_task":200,"max_daily":300,"max_monthly":400,"status":"active","created_at":70,"updated_at":70}',
      ],
    ],
    [tx => insertBudget(tx, { ...budget, ownerId: 'c' }), 0],
    [
      tx => updateBudget(tx, { id: 'v1', maxPerTask: 205, maxDaily: 305, maxMonthly: 405, updatedAt: 70 }),
      1,
      [
        'budget_authorizations v1: max_per_task 200 → 205, max_daily 300 → 305, max_monthly 400 → 405, updated_at 10 → 70',
      ],
    ],
    [
      tx => setBudgetStatus(tx, 'v1', 'paused', 70),
      1,
      ['budget_authorizations v1: status active → paused, updated_at 10 → 70'],
    ],
    [tx => setBudgetStatus(tx, 'v1', 'active', 70), 0],
    [
      tx => deleteBudget(tx, 'v2'),
      undefined,
      ['− budget_authorizations v2', '− budget_categories v2/cat1', '− budget_categories v2/cat3'],
    ],
    [tx => countActive(tx, 'v1'), 2],
    [tx => countActive(tx, 'v2'), 1],
    [tx => countActive(tx, 'v3'), 0],
    [
      tx => allowedCategoriesOf(tx, ['v2', 'v1', 'v3']),
      [
        ['v1', ['cat2', 'cat1']],
        ['v2', ['cat1', 'cat3']],
      ],
    ],
    [tx => allowedCategoriesOf(tx, []), []],
    [
      tx => setAllowedCategories(tx, 'v1', ['cat3', 'cat2']),
      undefined,
      [
        '+ budget_categories v1/cat3 {"authorization_id":"v1","category_id":"cat3","position":0}',
        'budget_categories v1/cat2: position 0 → 1',
        '− budget_categories v1/cat1',
      ],
    ],
    [
      tx => setAllowedCategories(tx, 'v1', null),
      undefined,
      ['− budget_categories v1/cat1', '− budget_categories v1/cat2'],
    ],
  ],
})
