// engines: embedded, postgres; process: shared
/** Tasks and what hangs on them: each function returns and changes the rows that it names, and no neighbour of theirs. */
import type { TaskState } from '../../src/api/flow.ts'
import type { Tx } from '../../src/store/db.ts'
import { historyLength, historyOf, latestPayerOf } from '../../src/store/tables/accounts/requestors.ts'
import {
  decideTest,
  deleteReports,
  endAllTests,
  endTest,
  keepReport,
  reportsOf,
  startTest,
  testById,
} from '../../src/store/tables/agents/agent-tests.ts'
import { countSamples, deleteSample, insertSample, samplesOf } from '../../src/store/tables/agents/samples.ts'
import {
  countMessages,
  insertMessage,
  insertReview,
  messagesOf,
  reviewOf,
  reviewsOfAgent,
} from '../../src/store/tables/tasks/conversation.ts'
import {
  countDeliverables,
  deliverablesOf,
  fileOf,
  insertDeliverable,
} from '../../src/store/tables/tasks/deliverables.ts'
import {
  deliveredTo,
  moneyOf,
  type NewTaskStep,
  saidAbout,
  sentAbout,
  stepsOf,
  taskStep,
} from '../../src/store/tables/tasks/task-steps.ts'
import {
  allTasks,
  countAllTasks,
  countRevision,
  countSearched,
  countTasksOf,
  insertDispute,
  insertTask,
  type Moment,
  markDisputed,
  resolveDispute,
  searchTasks,
  setMaxRevisions,
  setStatus,
  type TaskSearch,
  taskById,
  tasksByState,
  tasksOf,
  updateDraft,
  wholeTask,
} from '../../src/store/tables/tasks/tasks.ts'
import { addBytes, bytesOf, countBytes, mostBytes, uncountBytes } from '../../src/store/tables/upkeep/usage.ts'
import { type RowNamed, testRows } from './row-effects.ts'

const idOf = (row: { id: unknown } | undefined) => row?.id
const idsOf = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => id)

const noteOf = (taskId: string, fromStatus: TaskState, toStatus: TaskState): NewTaskStep => ({
  ...{ taskId, trigger: 'submit', fromStatus, toStatus, party: 'buyer', actorId: 'c', via: 'key' },
  ...{ requestId: 'q', at: 70, realAt: 71 },
})

/** What is written with it, at this position. */
const noted = (taskId: string, fromStatus: TaskState, toStatus: TaskState, position = 0) => {
  const row = { task_id: taskId, position, trigger: 'submit', from_status: fromStatus, to_status: toStatus }
  const who = { party: 'buyer', actor_id: 'c', via: 'key', request_id: 'q', at: 70, real_at: 71 }
  return `+ task_steps ${taskId}/${position} ${JSON.stringify({ ...row, ...who })}`
}

const stepOf =
  (id: string, from: TaskState, to: TaskState, moment: Moment | null, wasDisputed: 0 | 1 = 0) =>
  (tx: Tx) =>
    setStatus(tx, { id, from, wasDisputed, to, moment, now: 70 }, [taskStep(noteOf(id, from, to))])

const named = (prefix: string, row: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(row).map(([field, value]) => [`${prefix}${field[0]!.toUpperCase()}${field.slice(1)}`, value]),
  )

/** A task with its agent, its latest deliverable and its dispute. */
const whole = (id: string, deliverable: string) => (row: RowNamed) => ({
  ...row(`tasks ${id}`),
  agentSlug: 'three',
  agentName: 'a name',
  ...named('deliverable', row(`deliverables ${deliverable}`, 'id content notes files')),
  deliverableAt: row(`deliverables ${deliverable}`).createdAt,
  ...named('dispute', { ...row(`disputes ${id}`), taskId: null }),
})

const newTask = {
  agentId: 'g_3',
  builderId: 'b',
  title: 'new',
  description: 'd',
  requirements: 'r',
  agreedPrice: 300,
  maxRevisions: 2,
}
const review = { id: 'r9', taskId: 't8', agentId: 'g_9', buyerId: 'b', rating: 3, comment: 'c', createdAt: 70 }
const boughtBy = (userId: string, agentId: string | null, builderId: string, ofAgent: string | null = null) => ({
  requestor: { userId, agentId },
  builderId,
  agentId: ofAgent,
})
const bought = (row: RowNamed, id: string) => {
  const { id: taskId, ...fields } = row(`tasks ${id}`, 'id title status agreedPrice createdAt completedAt')
  return { taskId, ...fields }
}
const taskIdsOf = (rows: readonly { taskId: string }[]) => rows.map(({ taskId }) => taskId)

const resolution = { outcome: 'split', refundAmount: 50, outcomeReason: 'so', resolvedAt: 70 } as const

const wanted = (given: Partial<TaskSearch>): TaskSearch => ({
  ...{ userId: null, role: null, statuses: null, agentId: null, disputed: null, q: null },
  ...given,
})

testRows('rows of tasks', {
  'connection tests and samples: one test of an agent at a time, so many samples and no more': [
    [tx => startTest(tx, 'e9', 'g_1', 70, 10), 0],
    [
      tx => startTest(tx, 'e9', 'g_2', 70, 21),
      1,
      ['+ agent_tests e9 {"id":"e9","agent_id":"g_2","started_at":70,"ended":0}', '− agent_tests e2'],
    ],
    [
      tx => startTest(tx, 'e9', 'g_4', 70, 0),
      1,
      ['+ agent_tests e9 {"id":"e9","agent_id":"g_4","started_at":70,"ended":0}'],
    ],
    [
      tx => startTest(tx, 'e9', 'g_3', 70, 0),
      1,
      ['+ agent_tests e9 {"id":"e9","agent_id":"g_3","started_at":70,"ended":0}', '− agent_tests e3'],
    ],
    [tx => testById(tx, 'e2'), row => row('agent_tests e2')],
    [tx => testById(tx, 'e9'), undefined],
    [tx => decideTest(tx, 'e1', 'valid'), 1, ['agent_tests e1: callback null → valid']],
    [tx => decideTest(tx, 'e2', 'expired'), 0],
    [tx => decideTest(tx, 'e3', 'valid'), 0],
    [tx => endTest(tx, 'e1'), 1, ['agent_tests e1: ended 0 → 1']],
    [tx => endAllTests(tx), 2, ['agent_tests e1: ended 0 → 1', 'agent_tests e2: ended 0 → 1']],
    [
      tx => keepReport(tx, { agentId: 'g_1', kind: 'test', testedAt: 30, report: 'new' }, 2),
      undefined,
      [
        '+ agent_reports g_1/test/30 {"agent_id":"g_1","kind":"test","tested_at":30,"report":"new"}',
        '− agent_reports g_1/test/10',
      ],
    ],
    [
      tx => keepReport(tx, { agentId: 'g_1', kind: 'heartbeat', testedAt: 20, report: 'new' }, 2),
      undefined,
      ['agent_reports g_1/heartbeat/20: report four → new'],
    ],
    [tx => reportsOf(tx, 'g_1').then(rows => rows.map(({ report }) => report)), ['four', 'two', 'three', 'one']],
    [tx => deleteReports(tx, 'g_2'), 1, ['− agent_reports g_2/test/10']],
    [
      tx => insertSample(tx, { id: 'p9', agentId: 'g_1', title: 't', input: 'i', output: 'o', createdAt: 70 }),
      1,
      ['+ samples p9 {"id":"p9","agent_id":"g_1","title":"t","input":"i","output":"o","created_at":70}'],
    ],
    [tx => samplesOf(tx, 'g_1', 10, 0), row => ['p1', 'p2', 'p3'].map(id => row(`samples ${id}`))],
    [tx => samplesOf(tx, 'g_1', 1, 1).then(idsOf), ['p2']],
    [tx => countSamples(tx, 'g_1'), 3],
    [tx => deleteSample(tx, 'g_1', 'p1').then(row => row?.title), 'one', ['− samples p1']],
    [tx => deleteSample(tx, 'g_2', 'p1'), undefined],
  ],
  'tasks: whole, with the latest deliverable and the dispute': [
    [
      tx => wholeTask(tx, 't4'),
      row => ({ ...whole('t4', 'y2')(row), buyerName: row('users c').name, builderName: row('users b').name }),
    ],
    [tx => wholeTask(tx, 't1').then(task => [task?.id, task?.deliverableId, task?.disputeStatus]), ['t1', null, null]],
    [tx => wholeTask(tx, 't0'), undefined],
    [tx => taskById(tx, 't4'), whole('t4', 'y2')],
    [tx => taskById(tx, 't1'), row => ({ ...row('tasks t1'), agentSlug: 'one', agentName: 'a name' })],
    [tx => taskById(tx, 't5'), whole('t5', 'y4')],
    [tx => taskById(tx, 't2').then(task => [task?.id, task?.deliverableId, task?.disputeStatus]), ['t2', 'y5', null]],
    [tx => taskById(tx, 't0'), undefined],
  ],
  "tasks: a user's own, in each role, newest first": [
    [
      tx => tasksOf(tx, { userId: 'c', role: null, status: null }, 10, 0).then(idsOf),
      ['t6', 't5', 't4', 't3', 't2', 't1'],
    ],
    [
      tx => tasksOf(tx, { userId: 'b', role: null, status: null }, 10, 0).then(idsOf),
      ['t9', 't8', 't6', 't5', 't4', 't3'],
    ],
    [tx => tasksOf(tx, { userId: 'b', role: null, status: null }, 2, 1).then(idsOf), ['t8', 't6']],
    [tx => tasksOf(tx, { userId: 'b', role: 'buyer', status: null }, 10, 0).then(idsOf), ['t9', 't8', 't3']],
    [tx => tasksOf(tx, { userId: 'b', role: 'builder', status: null }, 10, 0).then(idsOf), ['t8', 't6', 't5', 't4']],
    [tx => tasksOf(tx, { userId: 'a', role: 'builder', status: null }, 10, 0).then(idsOf), ['t7', 't3', 't2']],
    [tx => tasksOf(tx, { userId: 'a', role: null, status: null }, 10, 0).then(idsOf), ['t7', 't5', 't4', 't3', 't2']],
    [tx => tasksOf(tx, { userId: 'a', role: null, status: 'completed' }, 10, 0).then(idsOf), ['t7', 't5']],
    [tx => tasksOf(tx, { userId: 'c', role: 'buyer', status: 'draft' }, 10, 0).then(idsOf), ['t1']],
    [tx => tasksOf(tx, { userId: 'a', role: 'builder', status: 'draft' }, 10, 0), []],
    [tx => countTasksOf(tx, { userId: 'c', role: null, status: null }), 6],
    [tx => countTasksOf(tx, { userId: 'b', role: null, status: null }), 6],
    [tx => countTasksOf(tx, { userId: 'b', role: 'buyer', status: null }), 3],
    [tx => countTasksOf(tx, { userId: 'b', role: 'builder', status: null }), 4],
    [tx => countTasksOf(tx, { userId: 'a', role: null, status: 'completed' }), 2],
    [tx => countTasksOf(tx, { userId: 'a', role: null, status: null }), 5],
    [tx => searchTasks(tx, wanted({ userId: 'b' }), 'newest', 2, 1).then(idsOf), ['t8', 't6']],
    [tx => searchTasks(tx, wanted({ userId: 'b' }), 'oldest', 3, 0).then(idsOf), ['t3', 't4', 't5']],
    [tx => searchTasks(tx, wanted({ userId: 'b' }), 'price', 2, 0).then(idsOf), ['t8', 't6']],
    [tx => searchTasks(tx, wanted({ userId: 'b' }), 'updated', 2, 0).then(idsOf), ['t9', 't8']],
    [tx => searchTasks(tx, wanted({ userId: 'b', role: 'buyer' }), 'newest', 9, 0).then(idsOf), ['t9', 't8', 't3']],
    [
      tx => searchTasks(tx, wanted({ userId: 'c', statuses: ['draft', 'delivered'] }), 'newest', 9, 0).then(idsOf),
      ['t4', 't1'],
    ],
    [tx => searchTasks(tx, wanted({ userId: 'c', disputed: 1 }), 'newest', 9, 0).then(idsOf), ['t4']],
    [tx => searchTasks(tx, wanted({ userId: 'c', disputed: 0, agentId: 'g_3' }), 'newest', 9, 0).then(idsOf), ['t5']],
    [tx => searchTasks(tx, wanted({ agentId: 'g_9' }), 'newest', 9, 0).then(idsOf), ['t8', 't6']],
    [tx => searchTasks(tx, wanted({ statuses: ['completed'] }), 'newest', 9, 0).then(idsOf), ['t8', 't7', 't5']],
    [tx => searchTasks(tx, wanted({ q: 't5' }), 'newest', 9, 0).then(idsOf), ['t5']],
    [
      tx =>
        tx
          .run(`UPDATE tasks SET title = '50%_Ä Title' WHERE id = 't5'`)
          .then(() => searchTasks(tx, wanted({ userId: 'a', q: '%_Ä tI' }), 'newest', 9, 0).then(idsOf)),
      ['t5'],
      ['tasks t5: title a title → 50%_Ä Title'],
    ],
    [tx => countSearched(tx, wanted({ userId: 'b' })), 6],
    [tx => countSearched(tx, wanted({ userId: 'b', q: '%' })), 0],
    [
      tx =>
        tasksByState(tx, wanted({ userId: 'b' })).then(rows =>
          rows.map(({ status, count }) => `${status} ${count}`).sort(),
        ),
      ['cancelled 1', 'completed 2', 'delivered 1', 'draft 1', 'in_progress 1'],
    ],
    [tx => allTasks(tx, null, 3, 1).then(idsOf), ['t8', 't7', 't6']],
    [tx => allTasks(tx, 1, 10, 0).then(idsOf), ['t8', 't4']],
    [tx => allTasks(tx, 0, 10, 0).then(idsOf), ['t9', 't7', 't6', 't5', 't3', 't2', 't1']],
    [tx => countAllTasks(tx, null), 10],
    [tx => countAllTasks(tx, 1), 2],
    [tx => countAllTasks(tx, 0), 8],
  ],
  'tasks: made, changed and moved on one at a time': [
    [
      tx =>
        insertTask(tx, {
          ...newTask,
          id: 'ta',
          agentId: 'g_1',
          buyerId: 'c',
          builderId: 'a',
          title: 't',
          buyerAgentId: 'g_3',
          hirerId: 'b',
          budgetAuthorizationId: 'v1',
          createdAt: 70,
        }),
      [1, [true]],
      [
        '+ tasks ta {"id":"ta","agent_id":"g_1","buyer_id":"c","builder_id":"a","buyer_agent_id":"g_3","budget_authorization_id":"v1","title":"t","agreed_price":300,"status":"draft","revision_count":0,"max_revisions":2,"disputed":0,"created_at":70,"updated_at":70,"hirer_id":"b","description":"d","requirements":"r"}',
        'tallies tasks/1: count 9 → 10',
      ],
    ],
    [
      tx => updateDraft(tx, { ...newTask, id: 't1', updatedAt: 70 }),
      1,
      [
        'tasks t1: agent_id g_1 → g_3, builder_id a → b, title a title → new, agreed_price 200 → 300, max_revisions null → 2, updated_at 10 → 70, description a description → d, requirements null → r',
      ],
    ],
    [tx => updateDraft(tx, { ...newTask, id: 't2', updatedAt: 70 }), 0],
    [
      stepOf('t1', 'draft', 'pending', 'submittedAt'),
      true,
      [noted('t1', 'draft', 'pending'), 'tasks t1: status draft → pending, submitted_at null → 70, updated_at 10 → 70'],
    ],
    [
      stepOf('t2', 'pending', 'in_progress', 'acceptedAt'),
      true,
      [
        noted('t2', 'pending', 'in_progress', 4),
        'tasks t2: status pending → in_progress, accepted_at null → 70, updated_at 20 → 70',
      ],
    ],
    [
      stepOf('t3', 'in_progress', 'delivered', 'deliveredAt'),
      true,
      [
        noted('t3', 'in_progress', 'delivered'),
        'tasks t3: status in_progress → delivered, delivered_at null → 70, updated_at 30 → 70',
      ],
    ],
    [
      stepOf('t4', 'delivered', 'completed', 'completedAt', 1),
      true,
      [
        '+ tallies disputed tasks/4 {"name":"disputed tasks","slot":4,"count":-1}',
        noted('t4', 'delivered', 'completed', 1),
        'tasks t4: status delivered → completed, disputed 1 → 0, completed_at null → 70, updated_at 40 → 70',
      ],
    ],
    [
      stepOf('t2', 'pending', 'cancelled', 'cancelledAt'),
      true,
      [
        noted('t2', 'pending', 'cancelled', 4),
        'tasks t2: status pending → cancelled, cancelled_at null → 70, updated_at 20 → 70',
      ],
    ],
    [
      stepOf('t8', 'completed', 'completed', null, 1),
      true,
      [
        '+ tallies disputed tasks/8 {"name":"disputed tasks","slot":8,"count":-1}',
        noted('t8', 'completed', 'completed'),
        'tasks t8: disputed 1 → 0, updated_at 80 → 70',
      ],
    ],
    // From another state, or in dispute, nothing changes: who asks is told of a lost race.
    // What was noted is undone with all else.
    [stepOf('t2', 'draft', 'pending', 'submittedAt'), false, [noted('t2', 'draft', 'pending', 4)]],
    [stepOf('t2', 'pending', 'in_progress', 'acceptedAt', 1), false, [noted('t2', 'pending', 'in_progress', 4)]],
    [tx => setMaxRevisions(tx, 't1', 3), 1, ['tasks t1: max_revisions null → 3']],
    [tx => setMaxRevisions(tx, 't1', null), 1],
    [tx => countRevision(tx, 't3'), 1, ['tasks t3: revision_count 0 → 1']],
    [
      tx => markDisputed(tx, 't3', 'in_progress', 70),
      1,
      [
        '+ tallies disputed tasks/3 {"name":"disputed tasks","slot":3,"count":1}',
        'tasks t3: disputed 0 → 1, updated_at 30 → 70',
      ],
    ],
    [tx => markDisputed(tx, 't3', 'delivered', 70), 0],
    [tx => markDisputed(tx, 't4', 'delivered', 70), 0],
    [
      tx => insertDispute(tx, { taskId: 't3', reason: 'r', openedAt: 70, openedFrom: 'in_progress', openedBy: 'c' }),
      1,
      [
        '+ disputes t3 {"task_id":"t3","status":"open","reason":"r","opened_at":70,"opened_from":"in_progress","opened_by":"c"}',
      ],
    ],
    [
      tx => resolveDispute(tx, 't4', resolution),
      1,
      [
        'disputes t4: status open → resolved, resolved_at null → 70, outcome null → split, refund_amount null → 50, outcome_reason null → so',
      ],
    ],
    [tx => resolveDispute(tx, 't5', resolution), 0],
  ],
  'deliverables, messages, reviews: of one task, in their order': [
    [
      tx => insertDeliverable(tx, 't4', { id: 'y9', content: 'c', notes: 'n', files: null, createdAt: 70 }, 4),
      1,
      ['+ deliverables y9 {"id":"y9","task_id":"t4","content":"c","notes":"n","created_at":70,"position":3}'],
    ],
    [tx => insertDeliverable(tx, 't4', { id: 'y9', content: 'c', notes: 'n', files: null, createdAt: 70 }, 3), 0],
    [
      tx => insertDeliverable(tx, 't3', { id: 'y9', content: 'c', notes: null, files: '[]', createdAt: 70 }, 1),
      1,
      ['+ deliverables y9 {"id":"y9","task_id":"t3","content":"c","created_at":70,"files":"[]","position":0}'],
    ],
    [
      tx => deliverablesOf(tx, 't4', 10, 0),
      row => ['y3', 'y1', 'y2'].map(id => row(`deliverables ${id}`, 'id content notes files createdAt')),
    ],
    [tx => deliverablesOf(tx, 't4', 1, 1).then(idsOf), ['y1']],
    [tx => countDeliverables(tx, 't4'), 3],
    [tx => fileOf(tx, 't4', 'f3'), { id: 'f3', name: 'n', size: 5, type: 't' }],
    [tx => fileOf(tx, 't4', 'f2'), { id: 'f2', name: 'n', size: 4, type: 't' }],
    [tx => fileOf(tx, 't4', 'f4'), undefined],
    [
      tx =>
        insertMessage(tx, { id: 'e9', taskId: 't4', senderId: 'c', senderRole: 'buyer', content: 'm', createdAt: 70 }),
      1,
      ['+ messages e9 {"id":"e9","task_id":"t4","sender_id":"c","sender_role":"buyer","content":"m","created_at":70}'],
    ],
    [tx => messagesOf(tx, 't4', 10, 0), row => ['e1', 'e2', 'e3'].map(id => row(`messages ${id}`))],
    [tx => messagesOf(tx, 't4', 1, 1).then(idsOf), ['e2']],
    [tx => countMessages(tx, 't4'), 3],
    [
      tx => insertReview(tx, review),
      1,
      [
        '+ reviews r9 {"id":"r9","task_id":"t8","agent_id":"g_9","buyer_id":"b","rating":3,"comment":"c","created_at":70}',
      ],
    ],
    [tx => insertReview(tx, { ...review, taskId: 't5' }), 0],
    [tx => reviewsOfAgent(tx, 'g_3', 10, 0), row => [row('reviews r1', 'id agentId rating comment createdAt')]],
    [tx => reviewsOfAgent(tx, 'g_1', 10, 0), []],
    [
      tx =>
        tx
          .run(`UPDATE tasks SET status = 'completed' WHERE id = 't6' OR id = 't4'`)
          .then(() => reviewsOfAgent(tx, 'g_3', 2, 1))
          .then(idsOf)
          .then(ids => tx.run(`UPDATE tasks SET status = 'cancelled' WHERE id = 't6'`).then(() => ids)),
      ['r3', 'r1'],
      ['tasks t4: status delivered → completed'],
    ],
    [tx => reviewOf(tx, 't5'), row => row('reviews r1')],
    [tx => reviewOf(tx, 't8'), undefined],
  ],
  'the history of a task: what was done to it, said, paid and sent, in its order': [
    [tx => stepsOf(tx, 't2'), row => ['t2/0', 't2/3'].map(key => row(`task_steps ${key}`))],
    [tx => stepsOf(tx, 't1'), []],
    [tx => saidAbout(tx, 't4').then(idsOf), ['e1', 'e2', 'e3']],
    [tx => saidAbout(tx, 't5').then(rows => rows.map(({ text, length }) => [text, length])), [['four', 4]]],
    [tx => deliveredTo(tx, 't4').then(idsOf), ['y3', 'y1', 'y2']],
    [tx => deliveredTo(tx, 't2').then(rows => rows.map(({ text, length }) => [text, length])), [[null, null]]],
    [tx => moneyOf(tx, 't5').then(rows => rows.map(({ legId }) => legId)), ['x7', 'x8']],
    [
      async tx => {
        await tx.run(
          `INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at)
           VALUES ('t5_cleared', 'cleared', 'clearing:b', 'available:b', 600, 60)`,
        )
        const rows = await moneyOf(tx, 't5')
        await tx.run(`DELETE FROM entries WHERE leg_id = 't5_cleared'`)
        return rows.map(({ legId }) => legId)
      },
      ['t5_cleared', 'x7', 'x8'],
    ],
    [
      tx =>
        sentAbout(tx, 't5').then(rows => rows.map(({ id, attempt, status, begun }) => [id, attempt, status, begun])),
      [
        ['d7', null, null, 1],
        ['d8', 1, 500, 3],
        ['d8', 2, null, 3],
      ],
    ],
    [
      tx => sentAbout(tx, 't2').then(rows => rows.map(({ id, isUnderWay }) => `${id} ${isUnderWay}`)),
      ['d1 0', 'd2 0', 'd3 0', 'd6 0', 'da 0'],
    ],
    [tx => sentAbout(tx, 't3').then(rows => rows.map(({ id, isUnderWay }) => `${id} ${isUnderWay}`)), ['d4 1']],
  ],
  'bytes of files: taken within the limit, counted anew': [
    [tx => countBytes(tx, 'file_usage', 'a', 50, 150), true, ['file_usage a: bytes 100 → 150']],
    [tx => countBytes(tx, 'file_usage', 'a', 51, 150), false],
    [tx => countBytes(tx, 'file_usage', 'c', 150, 150), true, ['+ file_usage c {"user_id":"c","bytes":150}']],
    [tx => countBytes(tx, 'file_usage', 'c', 151, 150), false],
    [tx => bytesOf(tx, 'file_usage', 'a'), 100],
    [tx => bytesOf(tx, 'file_usage', 'c'), 0],
    [tx => mostBytes(tx, 'file_usage'), 100],
    [
      tx => tx.run('DELETE FROM file_usage').then(() => mostBytes(tx, 'file_usage')),
      0,
      ['− file_usage a', '− file_usage b'],
    ],
  ],
  'bytes of texts: of their own, never below nothing': [
    [tx => countBytes(tx, 'text_usage', 'b', 60, 80), true, ['text_usage b: bytes 20 → 80']],
    [tx => countBytes(tx, 'text_usage', 'b', 61, 80), false],
    [tx => addBytes(tx, 'text_usage', 'b', 1_000), true, ['text_usage b: bytes 20 → 1020']],
    [tx => uncountBytes(tx, 'text_usage', 'b', 19), 1, ['text_usage b: bytes 20 → 1']],
    [tx => uncountBytes(tx, 'text_usage', 'b', 21), 1, ['text_usage b: bytes 20 → 0']],
    [tx => uncountBytes(tx, 'text_usage', 'c', 1), 0],
    [tx => bytesOf(tx, 'text_usage', 'b'), 20],
    [tx => mostBytes(tx, 'text_usage'), 30],
  ],
  'requestors: what they bought, and how it went': [
    [tx => latestPayerOf(tx, 'g_1', 'b').then(idOf), 'b'],
    [tx => latestPayerOf(tx, 'g_3', 'b').then(idOf), 'c'],
    [tx => latestPayerOf(tx, 'g_3', 'a').then(idOf), 'c'],
    [tx => latestPayerOf(tx, 'g_9', 'a'), undefined],
    [
      tx =>
        tx
          .run(`UPDATE tasks SET builder_id = 'a', submitted_at = 10, buyer_id = 'a' WHERE id = 't4'`)
          .then(() => latestPayerOf(tx, 'g_1', 'a'))
          .then(idOf),
      'a',
      ['tasks t4: buyer_id c → a, builder_id b → a, submitted_at 40 → 10'],
    ],
    [
      tx => historyOf(tx, boughtBy('c', null, 'b'), 10, 0),
      row => [
        { ...bought(row, 't6'), rating: 1 },
        { ...bought(row, 't5'), rating: 4 },
        { ...bought(row, 't4'), rating: 2 },
      ],
    ],
    [tx => historyOf(tx, boughtBy('c', null, 'b'), 1, 1).then(taskIdsOf), ['t5']],
    [tx => historyOf(tx, boughtBy('c', null, 'b', 'g_9'), 10, 0).then(taskIdsOf), ['t6']],
    [tx => historyOf(tx, boughtBy('c', null, 'a'), 10, 0).then(taskIdsOf), ['t3', 't2']],
    [tx => historyOf(tx, boughtBy('x', 'g_1', 'b'), 10, 0).then(taskIdsOf), ['t8', 't5', 't4']],
    [tx => historyLength(tx, boughtBy('c', null, 'b')), 3],
    [tx => historyLength(tx, boughtBy('c', null, 'b', 'g_9')), 1],
  ],
})
