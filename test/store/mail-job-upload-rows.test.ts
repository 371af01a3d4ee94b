// engines: embedded, postgres; process: shared
/** Letters, notifications, jobs, uploads: each function returns and changes the rows that it names, and no neighbour of theirs. */

import type { Tx } from '../../src/store/db.ts'
import {
  claimMail,
  deleteMail,
  deleteNotice,
  deleteResetMails,
  dueMails,
  insertMail,
  insertNotice,
  noticeById,
  retryMail,
} from '../../src/store/tables/accounts/mails.ts'
import {
  countNotifications,
  insertNotification,
  markRead,
  notificationById,
  notificationsOf,
} from '../../src/store/tables/accounts/notifications.ts'
import {
  attachUpload,
  beginUpload,
  doomOldUploads,
  doomUpload,
  forgetUpload,
  hasOldUploads,
  postponeUpload,
} from '../../src/store/tables/tasks/deliverables.ts'
import { claimJob, endJob, ensureJob, isJobDue, releaseJobs } from '../../src/store/tables/upkeep/jobs.ts'
import {
  attemptMarks,
  attemptsAt,
  countDeliveries,
  type DeliveryFilter,
  deliveriesByState,
  deliveriesCalled,
  deliveriesOf,
  deliveryOf,
  hurry,
  hurryAgent,
  markRedelivery,
  oldestDeliveries,
} from '../../src/store/tables/webhooks/deliveries.ts'
import { testRows } from './row-effects.ts'

const idsOf = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => id)

const wanted = (given: Partial<DeliveryFilter>): DeliveryFilter => ({
  ...{ builderId: 'b', agentId: null, status: null, event: null, taskId: null, since: null, q: null, resent: null },
  ...given,
})
const listed =
  (given: Partial<DeliveryFilter>, limit = 10, offset = 0) =>
  (tx: Tx) =>
    deliveriesOf(tx, wanted(given), limit, offset).then(rows =>
      rows.map(({ id, agentId, state, attempts, resentAs }) => [id, agentId, state, attempts, resentAs]),
    )
const ATTEMPT = 'attempt url status reason message answer durationMs createdAt'

const run = (tx: Tx, change: string, filter: DeliveryFilter) =>
  tx.run(change).then(() => deliveriesOf(tx, filter, 10, 0).then(idsOf))

testRows('rows of what is due', {
  'the log of webhooks: newest first, an attempt under way is not counted': [
    [
      listed({ agentId: 'g_3' }),
      [
        ['d8', 'g_3', 'failed', 3, null],
        ['d7', 'g_3', 'delivered', 1, 'd8'],
        ['d6', 'g_3', 'pending', 0, null],
      ],
    ],
    [
      listed({ agentId: 'g_1' }, 2, 1),
      [
        ['d5', 'g_1', 'pending', 0, null],
        ['d4', 'g_1', 'pending', 1, null],
      ],
    ],
    [tx => deliveriesOf(tx, wanted({ agentId: 'g_1' }), 10, 0).then(idsOf), ['da', 'd5', 'd4', 'd3', 'd2', 'd1']],
    [tx => countDeliveries(tx, wanted({ agentId: 'g_3' })), 3],
    [
      tx => deliveryOf(tx, 'g_1', 'd4'),
      row => ({
        ...row('deliveries d4', 'id agentId taskId event state redeliveryOf nextAt createdAt endedAt body'),
        ...{ attempts: 1, agentSlug: 'one', agentName: row('agents g_1').name, webhookUrl: 'w1', resentAs: null },
        taskTitle: row('tasks t3').title,
      }),
    ],
    [tx => deliveryOf(tx, 'g_3', 'd4'), undefined],
  ],
  'the log of all agents of a builder: what each filter leaves': [
    [tx => deliveriesOf(tx, wanted({}), 10, 0).then(idsOf), ['d9', 'd8', 'd7', 'd6']],
    [tx => deliveriesOf(tx, wanted({}), 2, 1).then(idsOf), ['d8', 'd7']],
    [tx => deliveriesOf(tx, wanted({ builderId: 'a' }), 2, 0).then(idsOf), ['db', 'da']],
    [tx => deliveriesOf(tx, wanted({ builderId: 'c' }), 10, 0).then(idsOf), []],
    [
      tx => run(tx, `UPDATE agents SET deleted_at = 1 WHERE id = 'g_9'`, wanted({})),
      ['d8', 'd7', 'd6'],
      ['agents g_9: deleted_at null → 1'],
    ],
    [tx => deliveriesOf(tx, wanted({ status: 'pending' }), 10, 0).then(idsOf), ['d9', 'd6']],
    [tx => deliveriesOf(tx, wanted({ status: 'failed' }), 10, 0).then(idsOf), ['d8']],
    [tx => countDeliveries(tx, wanted({ status: 'failed' })), 1],
    [tx => countDeliveries(tx, wanted({ builderId: 'a', status: 'failed' })), 0],
    [tx => deliveriesOf(tx, wanted({ event: 'sent' }), 10, 0).then(idsOf), ['d9', 'd8', 'd7', 'd6']],
    [tx => countDeliveries(tx, wanted({ event: 'other' })), 0],
    [tx => deliveriesOf(tx, wanted({ taskId: 't2' }), 10, 0).then(idsOf), ['d6']],
    [tx => deliveriesOf(tx, wanted({ builderId: 'a', taskId: 't2' }), 10, 0).then(idsOf), ['da', 'd3', 'd2', 'd1']],
    [tx => deliveriesOf(tx, wanted({ since: 12 }), 10, 0).then(idsOf), ['d9', 'd8']],
    [tx => deliveriesOf(tx, wanted({ q: 'd7' }), 10, 0).then(idsOf), ['d7']],
    [tx => deliveriesOf(tx, wanted({ q: 't5' }), 10, 0).then(idsOf), ['d8', 'd7']],
    [
      tx => run(tx, `UPDATE tasks SET title = 'A 50%_Ä Title' WHERE id = 't5'`, wanted({ q: '0%_Ä tIT' })),
      ['d8', 'd7'],
      [`tasks t5: title a title → A 50%_Ä Title`],
    ],
    [tx => countDeliveries(tx, wanted({ q: 'd_' })), 0],
    [tx => deliveriesByState(tx, wanted({})), { waiting: 0, pending: 2, delivered: 1, failed: 1 }],
    [tx => deliveriesByState(tx, wanted({ since: 12 })), { waiting: 0, pending: 1, delivered: 0, failed: 1 }],
    [tx => oldestDeliveries(tx, wanted({ status: 'failed', resent: false }), 5), ['d8']],
    [
      tx =>
        tx
          .run(`UPDATE deliveries SET redelivery_of = 'd8' WHERE id = 'd9'`)
          .then(() => oldestDeliveries(tx, wanted({ status: 'failed', resent: false }), 5)),
      [],
      ['deliveries d9: redelivery_of null → d8'],
    ],
    [tx => deliveriesCalled(tx, 'b', ['d9', 'd1', 'd7']).then(idsOf), ['d7', 'd9']],
    [
      tx => attemptMarks(tx, ['d8', 'da', 'd1']),
      row =>
        ['d8/1', 'd8/2', 'da/1'].map(key =>
          row(`attempts ${key}`, 'deliveryId attempt status reason durationMs createdAt'),
        ),
    ],
  ],
  'the log of one delivery': [
    [tx => attemptsAt(tx, 'd8'), row => [row('attempts d8/1', ATTEMPT), row('attempts d8/2', ATTEMPT)]],
    [tx => attemptsAt(tx, 'da'), row => [row('attempts da/1', ATTEMPT)]],
    [tx => markRedelivery(tx, 'd1', 'd7'), 1, ['deliveries d1: redelivery_of null → d7']],
    [tx => hurry(tx, 't2', 'g_3', 15), 1, ['deliveries d6: next_at 20 → 15']],
    [tx => hurry(tx, 't2', 'g_3', 20), 0],
    [tx => hurry(tx, 't2', 'g_1', 5), 1, ['deliveries d1: next_at 10 → 5']],
    [tx => hurry(tx, 't3', 'g_1', 5), 1, ['deliveries d4: next_at 10 → 5']],
    [tx => hurryAgent(tx, 'g_3', 15), 1, ['deliveries d6: next_at 20 → 15']],
    [tx => hurryAgent(tx, 'g_1', 5), 2, ['deliveries d1: next_at 10 → 5', 'deliveries d4: next_at 10 → 5']],
  ],
  'letters: the first due first, claimed once, removed alone': [
    [
      tx => insertMail(tx, { id: 'm9', kind: 'notification', about: 'n9' }, 70),
      1,
      ['+ mails m9 {"id":"m9","kind":"notification","about":"n9","attempts":0,"next_at":70,"created_at":70}'],
    ],
    [
      tx => dueMails(tx, 10, 10),
      [
        { id: 'm1', kind: 'password_reset', about: 'a@x', attempts: 0 },
        { id: 'm4', kind: 'notification', about: 'a@x', attempts: 2 },
        { id: 'm2', kind: 'notification', about: 'n1', attempts: 1 },
      ],
    ],
    [tx => dueMails(tx, 10, 2).then(idsOf), ['m1', 'm4']],
    [tx => dueMails(tx, 9, 10).then(idsOf), ['m4']],
    [
      tx => claimMail(tx, { id: 'm2', kind: 'notification', about: 'n1', attempts: 1 }, 90),
      1,
      ['mails m2: attempts 1 → 2, next_at 10 → 90'],
    ],
    [tx => claimMail(tx, { id: 'm2', kind: 'notification', about: 'n1', attempts: 0 }, 90), 0],
    [
      tx => retryMail(tx, { id: 'm2', kind: 'notification', about: 'n1', attempts: 1 }, 90),
      1,
      ['mails m2: next_at 10 → 90'],
    ],
    [tx => retryMail(tx, { id: 'm2', kind: 'notification', about: 'n1', attempts: 2 }, 90), 0],
    [tx => deleteResetMails(tx, 'a@x'), 2, ['− mails m1', '− mails m5']],
    [tx => deleteMail(tx, 'm2'), 1, ['− mails m2']],
    [
      tx =>
        insertNotice(tx, { id: 'n9', userId: 'b', kind: 'password_reset', detail: 'd', address: 'x', createdAt: 70 }),
      1,
      [
        '+ security_notices n9 {"id":"n9","user_id":"b","kind":"password_reset","detail":"d","address":"x","created_at":70}',
      ],
    ],
    [tx => noticeById(tx, 'n1'), row => row('security_notices n1')],
    [tx => noticeById(tx, 'n9'), undefined],
    [tx => deleteNotice(tx, 'n2'), 1, ['− security_notices n2']],
  ],
  'notifications: newest first, read once': [
    [
      tx =>
        insertNotification(tx, {
          id: 'n9',
          userId: 'b',
          type: 't',
          agentId: 'g_1',
          message: 'm',
          data: '{}',
          createdAt: 70,
        }),
      1,
      [
        '+ notifications n9 {"id":"n9","user_id":"b","type":"t","agent_id":"g_1","message":"m","data":"{}","created_at":70}',
      ],
    ],
    [tx => notificationById(tx, 'n2'), row => row('notifications n2')],
    [tx => notificationById(tx, 'n9'), undefined],
    [tx => notificationsOf(tx, 'a', false, 10, 0).then(idsOf), ['n3', 'n2', 'n1']],
    [tx => notificationsOf(tx, 'a', false, 1, 1).then(idsOf), ['n2']],
    [tx => countNotifications(tx, 'a', false), 3],
    [tx => markRead(tx, 'n1', 70), 1, ['notifications n1: read_at null → 70']],
    [tx => markRead(tx, 'n2', 70), 0],
  ],
  "jobs: due by the clock and free by the machine's, ended by who holds them": [
    [tx => ensureJob(tx, 'j1', 70), 0],
    [tx => ensureJob(tx, 'j9', 70), 1, ['+ jobs j9 {"name":"j9","next_at":70,"leased_until":0,"retries":0}']],
    [tx => isJobDue(tx, 'j1', 10, 0), true],
    [tx => isJobDue(tx, 'j1', 9, 99), false],
    [tx => isJobDue(tx, 'j2', 10, 50), true],
    [tx => isJobDue(tx, 'j2', 10, 49), false],
    [tx => isJobDue(tx, 'j9', 99, 99), false],
    [
      tx => claimJob(tx, { name: 'j1', now: 10, realNow: 0, leasedUntil: 90 }),
      { dueAt: 10, retries: 0 },
      ['jobs j1: leased_until 0 → 90'],
    ],
    [tx => claimJob(tx, { name: 'j1', now: 9, realNow: 0, leasedUntil: 90 }), undefined],
    [
      tx => claimJob(tx, { name: 'j2', now: 10, realNow: 50, leasedUntil: 90 }),
      { dueAt: 10, retries: 2 },
      ['jobs j2: leased_until 50 → 90'],
    ],
    [tx => claimJob(tx, { name: 'j2', now: 10, realNow: 49, leasedUntil: 90 }), undefined],
    [tx => endJob(tx, 'j2', 50, 80), 1, ['jobs j2: next_at 10 → 80, leased_until 50 → 0, retries 2 → 0']],
    [tx => endJob(tx, 'j2', 50, 80, 3), 1, ['jobs j2: next_at 10 → 80, leased_until 50 → 0, retries 2 → 3']],
    [tx => endJob(tx, 'j2', 51, 80), 0],
    [tx => endJob(tx, 'j4', 50, 80, 1), 1, ['jobs j4: next_at 5 → 80, leased_until 50 → 0, retries 0 → 1']],
    [tx => releaseJobs(tx), 2, ['jobs j2: leased_until 50 → 0', 'jobs j4: leased_until 50 → 0']],
  ],
  'uploads: held or doomed, never both; the oldest are looked for first': [
    [tx => beginUpload(tx, 'u9', 70), 1, ['+ uploads u9 {"id":"u9","begun_at":70,"doomed":0}']],
    [tx => attachUpload(tx, 'u1'), true, ['− uploads u1']],
    [tx => attachUpload(tx, 'u2'), false],
    [tx => attachUpload(tx, 'u9'), false],
    [tx => doomUpload(tx, 'u1'), true, ['uploads u1: doomed 0 → 1']],
    [tx => doomUpload(tx, 'u9'), false],
    [tx => hasOldUploads(tx, 5), false],
    [tx => hasOldUploads(tx, 6), true],
    [tx => doomOldUploads(tx, 10, 10), ['u4'], ['uploads u4: doomed 0 → 1']],
    [
      tx => doomOldUploads(tx, 11, 2).then(ids => ids.sort()),
      ['u1', 'u4'],
      ['uploads u1: doomed 0 → 1', 'uploads u4: doomed 0 → 1'],
    ],
    [
      tx => doomOldUploads(tx, 11, 10).then(ids => ids.sort()),
      ['u1', 'u2', 'u4', 'u5'],
      ['uploads u1: doomed 0 → 1', 'uploads u4: doomed 0 → 1', 'uploads u5: doomed 0 → 1'],
    ],
    [tx => forgetUpload(tx, 'u2'), 1, ['− uploads u2']],
    [tx => forgetUpload(tx, 'u1'), 0],
    [tx => postponeUpload(tx, 'u1', 70), 1, ['uploads u1: begun_at 10 → 70']],
  ],
})
