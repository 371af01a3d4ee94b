// engines: embedded, postgres; process: shared
/** Webhooks that wait and their log: each function returns and changes the rows that it names, and no neighbour of theirs. */
import type { Tx } from '../../src/store/db.ts'
import {
  claimDelivery,
  dueDeliveries,
  endDelivery,
  insertAttempt,
  insertDelivery,
  insertFirstDelivery,
  outboxDepth,
  queuedAgent,
  queuedAgents,
  queueHead,
  queueHeads,
  queueLength,
  retryAt,
  unclaimDeliveries,
} from '../../src/store/tables/webhooks/outbox.ts'
import {
  countBeat,
  insertSender,
  otherSenders,
  removeSender,
  removeSilent,
} from '../../src/store/tables/webhooks/senders.ts'
import { rowsWith, testRows } from './row-effects.ts'

const idOf = (row: { id: unknown } | undefined) => row?.id
const idsOf = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => id)
const dueOf = (rows: readonly { agentId: string; due: number }[]) => rows.map(({ agentId, due }) => [agentId, due])
const headsOf = (rows: readonly { agentId: string; id: string | null }[]) =>
  rows.map(({ agentId, id }) => [agentId, id])

const dueOfAgent = (tx: Tx, now: number, realNow: number) =>
  queuedAgent(tx, { agentId: 'g_1', now, realNow }).then(found => found?.due)
const CLAIMED = (sender: string) => [`deliveries d4: sender null → ${sender}`, `deliveries d5: sender null → ${sender}`]

const delivery = { id: 'e1', agentId: 'g_3', taskId: 't5', event: 'sent', body: 'b', createdAt: 70, countedTo: null }

/** Has claimed two: the lease of one runs until 50, that of the other until 60. */
const claimedBy = (tx: Tx, sender: string) =>
  tx.run(`UPDATE deliveries SET sender = $1 WHERE id IN ('d4', 'd5')`, [sender])

testRows('rows of webhooks', {
  'senders: each counts its own beats, and one is removed unless it has counted meanwhile': [
    [
      tx => otherSenders(tx, 's2'),
      [
        { id: 's1', beats: 3 },
        { id: 's3', beats: 3 },
      ],
    ],
    [tx => insertSender(tx, 's4'), 1, ['+ senders s4 {"id":"s4","beats":0}']],
    [tx => countBeat(tx, 's1'), true, ['senders s1: beats 3 → 4']],
    [tx => countBeat(tx, 's4'), false],
    [tx => removeSilent(tx, { id: 's1', beats: 3 }), true, ['− senders s1']],
    [tx => removeSilent(tx, { id: 's2', beats: 4 }), false],
    [tx => removeSender(tx, 's2'), 1, ['− senders s2']],
  ],
  'claims: one is over when its lease is, or when its sender is gone': [
    [tx => claimedBy(tx, 's1').then(() => dueOfAgent(tx, 9, 49)), 0, CLAIMED('s1')],
    [tx => claimedBy(tx, 's1').then(() => dueOfAgent(tx, 9, 60)), 1, CLAIMED('s1')],
    [tx => claimedBy(tx, 's9').then(() => dueOfAgent(tx, 9, 49)), 1, CLAIMED('s9')],
    [tx => dueOfAgent(tx, 9, 49), 0],
    [
      tx => claimedBy(tx, 's9').then(() => queuedAgents(tx, { after: '', count: 1, now: 9, realNow: 49 }).then(dueOf)),
      [['g_1', 1]],
      CLAIMED('s9'),
    ],
    [
      tx =>
        claimedBy(tx, 's9')
          .then(() => claimDelivery(tx, { agentId: 'g_1', now: 9, realNow: 49, leasedUntil: 90, sender: 's1' }))
          .then(idOf),
      'd5',
      ['deliveries d4: sender null → s9', 'deliveries d5: attempts 1 → 2, leased_until 60 → 90, sender null → s1'],
    ],
  ],
  "queues: an event joins the end of its task's queue to its agent": [
    [tx => queueLength(tx, 't2', 'g_1'), 3],
    [tx => queueLength(tx, 't2', 'g_3'), 1],
    [tx => queueLength(tx, 't5', 'g_3'), 0],
    [
      tx => insertDelivery(tx, { ...delivery, agentId: 'g_1', taskId: 't2', countedTo: 'a' }),
      [true],
      [
        '+ deliveries e1 {"id":"e1","agent_id":"g_1","task_id":"t2","event":"sent","state":"waiting","attempts":0,"next_at":70,"leased_until":0,"created_at":70,"position":6,"counted_to":"a","body":"b"}',
      ],
    ],
    [
      tx => insertDelivery(tx, delivery),
      [true],
      [
        '+ deliveries e1 {"id":"e1","agent_id":"g_3","task_id":"t5","event":"sent","state":"pending","attempts":0,"next_at":70,"leased_until":0,"created_at":70,"position":0,"body":"b"}',
      ],
    ],
    [
      tx => insertDelivery(tx, { ...delivery, agentId: 'g_9', taskId: 't2' }),
      [true],
      [
        '+ deliveries e1 {"id":"e1","agent_id":"g_9","task_id":"t2","event":"sent","state":"pending","attempts":0,"next_at":70,"leased_until":0,"created_at":70,"position":0,"body":"b"}',
      ],
    ],
    [
      tx => insertFirstDelivery(tx, { ...delivery, countedTo: 'c' }, { leasedUntil: 90, attempts: 1, sender: 's1' }),
      [true],
      [
        '+ deliveries e1 {"id":"e1","agent_id":"g_3","task_id":"t5","event":"sent","state":"pending","attempts":1,"next_at":70,"leased_until":90,"sender":"s1","created_at":70,"position":0,"counted_to":"c","body":"b"}',
      ],
    ],
  ],
  'queues: agents with something to send, by their ids, page by page': [
    [
      tx => queuedAgents(tx, { after: '', count: 10, now: 15, realNow: 50 }),
      [
        { agentId: 'g_1', builderId: 'a', webhookUrl: 'w1', secret: 'x1', due: 1 },
        { agentId: 'g_3', builderId: 'b', webhookUrl: 'w3', secret: 'x3', due: 0 },
        { agentId: 'g_9', builderId: 'b', webhookUrl: 'w9', secret: 'x9', due: 1 },
      ],
    ],
    [
      tx => queuedAgents(tx, { after: '', count: 2, now: 20, realNow: 50 }).then(dueOf),
      [
        ['g_1', 1],
        ['g_3', 1],
      ],
    ],
    [
      tx => queuedAgents(tx, { after: 'g_1', count: 10, now: 9, realNow: 50 }).then(dueOf),
      [
        ['g_3', 0],
        ['g_9', 0],
      ],
    ],
    [tx => queuedAgents(tx, { after: 'g_9', count: 10, now: 99, realNow: 99 }), []],
    [tx => queuedAgents(tx, { after: '', count: 1, now: 9, realNow: 60 }).then(dueOf), [['g_1', 1]]],
    [tx => queuedAgents(tx, { after: '', count: 1, now: 9, realNow: 59 }).then(dueOf), [['g_1', 0]]],
    [
      tx => queuedAgent(tx, { agentId: 'g_1', now: 10, realNow: 0 }),
      { agentId: 'g_1', builderId: 'a', webhookUrl: 'w1', secret: 'x1', due: 1 },
    ],
    [tx => queuedAgent(tx, { agentId: 'g_3', now: 19, realNow: 99 }).then(found => found?.due), 0],
    [tx => queuedAgent(tx, { agentId: 'g_3', now: 20, realNow: 0 }).then(found => found?.due), 1],
    [tx => queuedAgent(tx, { agentId: 'g_2', now: 99, realNow: 99 }).then(found => found?.due), 0],
    [tx => queuedAgent(tx, { agentId: 'g_0', now: 99, realNow: 99 }), undefined],
    [
      tx => queueHeads(tx, { after: '', count: 10, now: 15 }),
      rowsWith(
        'agentId builderId webhookUrl secret id taskId event body attempts',
        ['g_1', 'a', 'w1', 'x1', 'd5', 't4', 'sent', 'five', 1],
        ['g_3', 'b', 'w3', 'x3', null, null, null, null, null],
        ['g_9', 'b', 'w9', 'x9', 'd9', 't6', 'sent', 'nine', 0],
      ),
    ],
    [tx => queueHeads(tx, { after: 'g_1', count: 1, now: 20 }).then(headsOf), [['g_3', 'd6']]],
    [
      tx => queueHeads(tx, { after: '', count: 2, now: 4 }).then(headsOf),
      [
        ['g_1', null],
        ['g_3', null],
      ],
    ],
    [tx => queueHead(tx, 'g_1', 10).then(found => found?.id), 'd5'],
    [tx => queueHead(tx, 'g_1', 4), { agentId: 'g_1', builderId: 'a', webhookUrl: 'w1', secret: 'x1' }],
    [tx => queueHead(tx, 'g_3', 20).then(found => found?.id), 'd6'],
    [tx => queueHead(tx, 'g_3', 19).then(found => found?.id), null],
    [tx => queueHead(tx, 'g_0', 99), undefined],
    [tx => dueDeliveries(tx, { agentId: 'g_1', now: 10, count: 10 }).then(idsOf), ['d5', 'd1', 'd4']],
    [tx => dueDeliveries(tx, { agentId: 'g_1', now: 10, count: 2 }).then(idsOf), ['d5', 'd1']],
    [
      tx => dueDeliveries(tx, { agentId: 'g_1', now: 9, count: 10 }),
      [{ id: 'd5', agentId: 'g_1', taskId: 't4', event: 'sent', body: 'five', attempts: 1 }],
    ],
    [tx => dueDeliveries(tx, { agentId: 'g_3', now: 20, count: 10 }).then(idsOf), ['d6']],
    [
      tx => outboxDepth(tx),
      [
        { state: 'pending', count: 5, oldestAt: 5 },
        { state: 'waiting', count: 3, oldestAt: 6 },
      ],
    ],
  ],
  'deliveries: claimed one at a time, under a lease': [
    [
      tx => claimDelivery(tx, { agentId: 'g_1', now: 10, realNow: 49, leasedUntil: 90, sender: 's1' }),
      { id: 'd1', agentId: 'g_1', taskId: 't2', event: 'sent', body: 'one', attempts: 2 },
      ['deliveries d1: attempts 1 → 2, leased_until 0 → 90, sender null → s1'],
    ],
    [
      tx => claimDelivery(tx, { agentId: 'g_1', now: 10, realNow: 60, leasedUntil: 90, sender: 's1' }).then(idOf),
      'd5',
      ['deliveries d5: attempts 1 → 2, leased_until 60 → 90, sender null → s1'],
    ],
    [tx => claimDelivery(tx, { agentId: 'g_1', now: 5, realNow: 59, leasedUntil: 90, sender: 's1' }), undefined],
    [
      tx => claimDelivery(tx, { agentId: 'g_1', now: 5, realNow: 60, leasedUntil: 90, sender: 's1' }).then(idOf),
      'd5',
      ['deliveries d5: attempts 1 → 2, leased_until 60 → 90, sender null → s1'],
    ],
    [tx => claimDelivery(tx, { agentId: 'g_1', now: 4, realNow: 99, leasedUntil: 90, sender: 's1' }), undefined],
    [
      tx => claimDelivery(tx, { agentId: 'g_3', now: 20, realNow: 0, leasedUntil: 90, sender: 's1' }).then(idOf),
      'd6',
      ['deliveries d6: attempts 0 → 1, leased_until 0 → 90, sender null → s1'],
    ],
    [tx => claimDelivery(tx, { agentId: 'g_2', now: 99, realNow: 99, leasedUntil: 90, sender: 's1' }), undefined],
    [
      tx =>
        tx
          .run(`UPDATE deliveries SET ended_at = NULL, state = 'pending', next_at = 10 WHERE id = 'd7'`)
          .then(() => claimDelivery(tx, { agentId: 'g_1', now: 10, realNow: 0, leasedUntil: 90, sender: 's1' }))
          .then(idOf),
      'd1',
      [
        'deliveries d1: attempts 1 → 2, leased_until 0 → 90, sender null → s1',
        'deliveries d7: state delivered → pending, next_at 1 → 10, ended_at 20 → null',
      ],
    ],
    [
      tx =>
        unclaimDeliveries(tx, [
          { id: 'd4', attempts: 2 },
          { id: 'd5', attempts: 9 },
          { id: 'd8', attempts: 3 },
          { id: 'd1', attempts: 1 },
        ]),
      [1, 0, 0, 1],
      ['deliveries d1: attempts 1 → 0', 'deliveries d4: attempts 2 → 1, leased_until 50 → 0'],
    ],
    [
      tx =>
        insertAttempt(tx, {
          deliveryId: 'd1',
          attempt: 1,
          url: 'u',
          status: 500,
          reason: 'r',
          message: 'm',
          answer: 'a',
          location: null,
          durationMs: 5,
          createdAt: 70,
        }),
      [true],
      [
        '+ attempts d1/1 {"delivery_id":"d1","attempt":1,"url":"u","status":500,"reason":"r","message":"m","answer":"a","duration_ms":5,"created_at":70}',
      ],
    ],
  ],
  'deliveries: tried again or ended by who holds them, and what waits behind is next': [
    [
      tx => retryAt(tx, { id: 'd4', attempts: 2, attempt: 1, taskId: 't3', agentId: 'g_1' }, 80),
      { follows: true },
      ['deliveries d4: attempts 2 → 1, next_at 10 → 80, leased_until 50 → 0'],
    ],
    [tx => retryAt(tx, { id: 'd4', attempts: 3, attempt: 1, taskId: 't3', agentId: 'g_1' }, 80), null],
    [tx => retryAt(tx, { id: 'd8', attempts: 3, attempt: 1, taskId: 't5', agentId: 'g_3' }, 80), null],
    [
      tx => endDelivery(tx, { id: 'd4', attempts: 2, attempt: 1, taskId: 't3', agentId: 'g_1' }, 'delivered', 80),
      { follows: false },
      ['deliveries d4: state pending → delivered, attempts 2 → 1, leased_until 50 → 0, ended_at null → 80'],
    ],
    [tx => endDelivery(tx, { id: 'd4', attempts: 1, attempt: 1, taskId: 't3', agentId: 'g_1' }, 'delivered', 80), null],
    [tx => endDelivery(tx, { id: 'd8', attempts: 3, attempt: 1, taskId: 't5', agentId: 'g_3' }, 'failed', 80), null],
    [
      tx => endDelivery(tx, { id: 'd1', attempts: 1, attempt: 2, taskId: 't2', agentId: 'g_1' }, 'failed', 80),
      { follows: true },
      [
        'deliveries d1: state pending → failed, attempts 1 → 2, ended_at null → 80',
        'deliveries d2: state waiting → pending, next_at 10 → 80',
      ],
    ],
    [tx => endDelivery(tx, { id: 'd1', attempts: 2, attempt: 2, taskId: 't2', agentId: 'g_1' }, 'failed', 80), null],
    [
      tx => endDelivery(tx, { id: 'd6', attempts: 0, attempt: 1, taskId: 't2', agentId: 'g_3' }, 'delivered', 80),
      { follows: false },
      ['deliveries d6: state pending → delivered, attempts 0 → 1, ended_at null → 80'],
    ],
  ],
})
