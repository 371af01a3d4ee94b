// engines: embedded, postgres; process: shared
/** What comes of the tasks of an agent and of a buyer, in sums: each change adds to theirs, and to those of no neighbour. */
import { durations } from '../../src/api/limits.ts'
import type { Tx } from '../../src/store/db.ts'
import { taskById } from '../../src/store/tables/tasks/tasks.ts'
import {
  buyerSumsOf,
  earningsOf,
  ofAgent,
  ofBuyer,
  ofChange,
  ofDispute,
  ofResolution,
  wrongSums,
} from '../../src/store/tables/tasks/work-sums.ts'
import { rowsWith, testRows } from './row-effects.ts'

const DAY = durations.dayMs
const bought = { agentId: 'g_3', buyerId: 'c', buyerAgentId: 'g_1', builderId: 'b' }
const own = { ...bought, id: 't1', buyerId: 'b' }

/** The steps for the task with this id. */
const done =
  (id: string, steps: (task: NonNullable<Awaited<ReturnType<typeof taskById>>>) => ReturnType<typeof ofChange>) =>
  async (tx: Tx) =>
    (await tx.runAll(steps((await taskById(tx, id))!))).length

const wrong = (sql: string) => async (tx: Tx) => {
  await tx.run(sql)
  return tx.all(wrongSums)
}

testRows('sums of work', {
  'they are what the tasks add up to, and whose are not is found': [
    [tx => tx.all(wrongSums), []],
    [wrong(`UPDATE work_sums SET stars = 8 WHERE whose = 'c'`), [{ what: 'c' }], ['work_sums c/1: stars 7 → 8']],
    [wrong(`UPDATE tasks SET disputed = 0 WHERE id = 't8'`), [{ what: 'g_9' }], ['tasks t8: disputed 1 → 0']],
    [wrong(`DELETE FROM work_sums WHERE whose = 'g_3'`), [{ what: 'g_3' }], ['− work_sums g_3/1']],
  ],
  'they are read over all slots': [
    [
      tx => buyerSumsOf(tx, 'g_1'),
      { submitted: 2, completed: 1, cancelled: 0, disputed: 2, lost: 1, ratings: 2, stars: 6 },
    ],
    [
      tx => buyerSumsOf(tx, 'nobody'),
      { submitted: 0, completed: 0, cancelled: 0, disputed: 0, lost: 0, ratings: 0, stars: 0 },
    ],
    [
      tx => earningsOf(tx, 'b'),
      rowsWith(
        'agentId name held inDispute earned clearing done',
        ['g_3', 'a name', 500, 500, 1100, 1100, 1],
        ['g_9', 'a name', 0, 900, 300, 0, 0],
      ),
    ],
    [
      tx => earningsOf(tx, 'a'),
      rowsWith('agentId name held inDispute earned clearing done', ['g_1', 'a name', 700, 0, 900, 900, 0]),
    ],
    [tx => earningsOf(tx, 'c'), []],
  ],
  'what is done adds to those whom it concerns': [
    [
      tx => tx.runAll(ofAgent({ id: 't1', agentId: 'g_9' }, { earned: -100, clearing: 0 })),
      [true],
      ['work_sums g_9/1: earned 300 → 200'],
    ],
    [tx => tx.runAll(ofAgent({ id: 't1', agentId: 'g_9' }, { earned: 0 })), []],
    [
      tx => tx.runAll(ofBuyer({ ...bought, id: 't1' }, { ratings: 1, stars: 3 })),
      [true],
      ['work_sums c/1: ratings 3 → 4, stars 7 → 10', 'work_sums g_1/1: ratings 0 → 1, stars 0 → 3'],
    ],
    // A row that is not there yet.
    [
      tx =>
        tx
          .runAll(ofAgent({ id: 't2', agentId: 'g_2' }, { held: 5 }))
          .then(() => buyerSumsOf(tx, 'g_2'))
          .then(({ lost }) => lost),
      0,
      [
        '+ work_sums g_2/2 {"whose":"g_2","slot":2,"held":5,"in_dispute":0,"earned":0,"clearing":0,"done":0,"submitted":0,"completed":0,"cancelled":0,"disputed":0,"lost":0,"ratings":0,"stars":0,"spent":0}',
      ],
    ],
    // For oneself.
    [tx => tx.runAll(ofBuyer(own, { ratings: 1, stars: 3 })), []],
    [done('t1', task => ofChange(task, 'cancelled', 5 * DAY, 0)), 0],
    [
      done('t1', task => ofChange({ ...task, id: 't1' }, 'pending', 5 * DAY, 0)),
      1,
      ['work_sums c/1: submitted 5 → 6', 'work_sums g_1/1: held 300 → 500'],
    ],
    [done('t2', task => ofChange({ ...task, id: 't1' }, 'in_progress', 5 * DAY, 0)), 0],
    [
      done('t2', task => ofChange({ ...task, id: 't1' }, 'cancelled', 5 * DAY, 0)),
      1,
      ['work_sums c/1: cancelled 1 → 2', 'work_sums g_1/1: held 300 → 0'],
    ],
    [
      done('t4', task => ofChange({ ...task, id: 't1' }, 'completed', 5 * DAY, 150)),
      1,
      [
        'work_sums c/1: completed 1 → 2',
        'work_sums g_1/1: completed 0 → 1',
        'work_sums g_3/1: held 500 → 0, in_dispute 500 → 0, done 1 → 2',
        'work_sums v1 000000/0: spent 1400 → 1250',
      ],
    ],
    // Of a budget, on the day of its submit.
    [
      done('t1', task => ofChange({ ...task, budgetAuthorizationId: 'v1' }, 'pending', 5 * DAY + 7, 0)),
      1,
      [
        '+ work_sums v1 000005/0 {"whose":"v1 000005","slot":0,"held":0,"in_dispute":0,"earned":0,"clearing":0,"done":0,"submitted":0,"completed":0,"cancelled":0,"disputed":0,"lost":0,"ratings":0,"stars":0,"spent":200}',
        'work_sums c/1: submitted 5 → 6',
        'work_sums g_1/1: held 300 → 500',
      ],
    ],
    [done('t5', task => ofDispute({ ...task, id: 't1' }, 'd')), 1, ['work_sums g_3/1: in_dispute 500 → 1100']],
    [done('t5', task => ofResolution({ ...task, id: 't1', disputeOpenedBy: 'd' }, 'release')), 0],
    [done('t5', task => ofResolution({ ...task, id: 't1' }, 'refund')), 0],
  ],
})
