// engines: embedded, postgres; process: shared
/** Letters, notifications, jobs, uploads: each function returns and changes the rows that it names, and no neighbour of theirs. */

import {
  claimMail,
  countMails,
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
  attemptsAt,
  countDeliveries,
  deliveriesOf,
  deliveryOf,
  hurry,
  hurryAgent,
  markRedelivery,
} from '../../src/store/tables/webhooks/deliveries.ts'
import { testRows } from './row-effects.ts'

const idsOf = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => id)

const LOGGED = 'id agentId taskId event state redeliveryOf nextAt createdAt endedAt'
const ATTEMPT = 'attempt url status reason message answer durationMs createdAt'

testRows('rows of what is due', {
  'the log of webhooks: newest first, an attempt under way is not counted': [
    [
      tx => deliveriesOf(tx, 'g_3', 10, 0),
      row => [
        { ...row('deliveries d8', LOGGED), attempts: 3 },
        { ...row('deliveries d7', LOGGED), attempts: 1 },
        { ...row('deliveries d6', LOGGED), attempts: 0 },
      ],
    ],
    [
      tx => deliveriesOf(tx, 'g_1', 2, 1).then(rows => rows.map(({ id, attempts }) => [id, attempts])),
      [
        ['d5', 0],
        ['d4', 1],
      ],
    ],
    [
      tx => deliveriesOf(tx, 'g_1', 10, 0).then(rows => rows.map(({ id, attempts }) => [id, attempts])),
      [
        ['da', 1],
        ['d5', 0],
        ['d4', 1],
        ['d3', 0],
        ['d2', 0],
        ['d1', 1],
      ],
    ],
    [tx => countDeliveries(tx, 'g_3'), 3],
    [tx => deliveryOf(tx, 'g_1', 'd4'), row => ({ ...row('deliveries d4', `${LOGGED} body`), attempts: 1 })],
    [tx => deliveryOf(tx, 'g_3', 'd4'), undefined],
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
    [tx => countMails(tx), 5],
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
    [tx => notificationsOf(tx, 'a', 10, 0).then(idsOf), ['n3', 'n2', 'n1']],
    [tx => notificationsOf(tx, 'a', 1, 1).then(idsOf), ['n2']],
    [tx => countNotifications(tx, 'a'), 3],
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
